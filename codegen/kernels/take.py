"""Take: elements picked by computed positions, computed or constant."""

from __future__ import annotations

import math
from typing import Any

from codegen.ir.op import NodeOf
from codegen.kernels.common import constant_fields
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.move import strides
from codegen.ops import Take
from codegen.records import record


@record
class TakeContext:
    """C expressions of both inputs; how many are picked, the elements of one, and last position and step per axis."""

    x: str
    x_t: str
    positions: str
    count: int
    run: int
    axes: tuple[tuple[int, int], ...]


def _fit(node: NodeOf[Take]) -> Fit | None:
    if not node.dynamic:
        return None
    op, (x, p) = node.op, node.ins
    steps = strides(x.shape)
    context = TakeContext(
        x="rows[0]" if 0 in node.dynamic else "table",
        x_t=x.dtype.ctype,
        positions=_positions(node),
        count=p.elements // op.depth,
        run=math.prod(x.shape[op.depth :]),
        axes=tuple((x.shape[i] - 1, steps[i]) for i in range(op.depth)),
    )
    return Fit(context, constant_fields(node, ("table", "positions")))


def _positions(node: NodeOf[Take]) -> str:
    """The C expression of the positions: rows have the type of the first computed input."""
    if 1 not in node.dynamic:
        return "positions"
    return "LAM_VIEW(int32_t, rows[1])" if 0 in node.dynamic else "rows[0]"


TAKE = Kernel("take", "take.c.j2", "whole", (Take,), _fit, headers=("lam_requant.h",))

KERNELS: tuple[Kernel[Any], ...] = (TAKE,)
