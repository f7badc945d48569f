"""Take: elements picked by computed positions, from a computed or a constant tensor."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.kernel import adapted
from codegen.kernels.move import strides
from codegen.ops import Take


@dataclass(frozen=True, slots=True)
class TakeContext:
    """C expressions of both inputs; how many are picked, the elements of one, and last position and step per axis."""

    x: str
    x_t: str
    positions: str
    count: int
    run: int
    axes: tuple[tuple[int, int], ...]


def _accepts(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Take) and 1 in node.dynamic


def _context(node: NodeView) -> TakeContext:
    op, (x, p) = node.op, node.ins
    assert isinstance(op, Take)
    constant = 0 not in node.dynamic
    steps = strides(x.shape)
    return TakeContext(
        x="table" if constant else "rows[0]",
        x_t=x.dtype.ctype,
        positions="rows[0]" if constant else "LAM_VIEW(int32_t, rows[1])",
        count=p.elements // op.depth,
        run=math.prod(x.shape[op.depth :]),
        axes=tuple((x.shape[i] - 1, steps[i]) for i in range(op.depth)),
    )


def _params(node: NodeView) -> tuple[Field, ...]:
    table = node.consts[0]
    return () if table is None else (Field("table", np.ascontiguousarray(table).reshape(-1)),)


TAKE = adapted("take", "take.c.j2", "whole", _accepts, _context, _params)
