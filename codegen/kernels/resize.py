"""ResizeBilinear, one output row per call from two input rows.  ResizeNearest is data movement (move.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array
from codegen.kernels.average import is_wide, mean_fields, mean_fits, mean_mode
from codegen.kernels.common import only_dynamic
from codegen.kernels.kernel import adapted
from codegen.ops import ResizeBilinear
from codegen.ops.average import Averaging
from codegen.ops.resize import WEIGHT_ONE, Tap


@dataclass(frozen=True, slots=True)
class BilinearContext:
    """Literals of one bilinear resize; `one` is the sum of the two weights of a pair, `acc_t` the type of sums."""

    mode: str
    acc_t: str
    w_out: int
    channels: int
    one: int


def _how(node: NodeView) -> Averaging:
    assert isinstance(node.op, ResizeBilinear)
    return node.op.averaging(node.ins[0].dtype)


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    if not isinstance(op, ResizeBilinear) or not only_dynamic(node):
        return False
    return mean_fits(_how(node), mean_mode(_how(node), pool=True), [WEIGHT_ONE**2], node.ins[0].dtype)


def _context(node: NodeView) -> BilinearContext:
    y, how = node.outs[0], _how(node)
    acc_t = "int64_t" if is_wide(how) else "int32_t"
    return BilinearContext(mean_mode(how, pool=True), acc_t, y.shape[2], y.shape[3], WEIGHT_ONE)


def _second_weights(taps: Sequence[Tap]) -> Array:
    """Weight of the second tap; 0, which the kernel takes for absent, where both are the same."""
    return np.array([weight if i1 > i0 else 0 for i0, i1, weight in taps], np.int16)


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, ResizeBilinear)
    return (
        *mean_fields(_how(node), mean_mode(_how(node), pool=True), [WEIGHT_ONE**2]),
        Field("position", np.array([j0 for j0, _, _ in op.w], np.int32)),
        Field("row_weight", _second_weights(op.h)),
        Field("column_weight", _second_weights(op.w)),
    )


BILINEAR = adapted("resize_bilinear", "resize_bilinear.c.j2", "row", _accepts, _context, _params)
