"""ResizeBilinear, one output row per call from two input rows, and ResizeWeighted, from those of a window.

Decides: that the latter adds up rows first, for all columns of the input, and then columns.  ResizeNearest is data
movement (move.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from codegen.fixedpoint import INT32_MAX
from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.average import is_wide, mean_fields, mean_fits, mean_headers, mean_mode
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import ResizeBilinear, ResizeWeighted
from codegen.ops.resize import WEIGHT_ONE, Tap, largest
from codegen.records import record


@record
class BilinearContext:
    """Literals of one bilinear resize; `one` is the sum of the two weights of a pair, `acc_t` the type of sums."""

    mode: str
    acc_t: str
    w_out: int
    channels: int
    one: int

    @property
    def whole(self) -> int:
        """The sum of a pixel's four weights."""
        return self.one * self.one


def _fit(node: NodeOf[ResizeBilinear]) -> Fit | None:
    op, x, y = node.op, node.ins[0], node.outs[0]
    how = op.averaging(x.dtype)
    mode, counts = mean_mode(how, pool=True), [WEIGHT_ONE**2]
    if not mean_fits(how, mode, counts, x.dtype):
        return None
    context = BilinearContext(mode, "int64_t" if is_wide(how) else "int32_t", y.shape[2], y.shape[3], WEIGHT_ONE)
    taps = (
        Field("position", np.array([j0 for j0, _, _ in op.w], np.int32)),
        Field("row_weight", _second_weights(op.h)),
        Field("column_weight", _second_weights(op.w)),
    )
    return Fit(context, (*mean_fields(how, mode, counts), *taps), headers=mean_headers(mode))


def _second_weights(taps: Sequence[Tap]) -> Array:
    """Weight of the second tap; 0, which the kernel takes for absent, where both are the same."""
    return np.array([weight if i1 > i0 else 0 for i0, i1, weight in taps], np.int16)


@record
class WeightedContext:
    """Literals of one weighted resize.

    `row_t`, `kept_t` and `acc_t` are the types of sums over rows, of what is kept of them, and of sums over both; the
    former are rounded by adding `half` and shifted.
    """

    mode: str
    row_t: str
    kept_t: str
    acc_t: str
    taps_h: int
    taps_w: int
    w_in: int
    w_out: int
    channels: int
    one: int
    shift: int
    half: int

    @property
    def row(self) -> int:
        """Numbers of an input row."""
        return self.w_in * self.channels


def _fit_weighted(node: NodeOf[ResizeWeighted]) -> Fit | None:
    op, x, y = node.op, node.ins[0], node.outs[0]
    how, one = op.averaging(x.dtype), 1 << op.bits
    mode, counts = mean_mode(how, pool=True), [op.one]
    if not mean_fits(how, mode, counts, x.dtype):
        return None
    zero = op.x_quant.zero_point
    reach, half = x.dtype.reach(0) * largest(op.h) + abs(zero) * one, 1 << op.shift >> 1
    of_rows, kept = _sum_type(reach + half), _sum_type((reach + half) >> op.shift)
    taps = (len(op.h[0][1]), len(op.w[0][1]))
    _, _, w_in, channels = x.shape
    types, sizes = (of_rows, kept, _sum_type(how.reach)), (*taps, w_in, y.shape[2], channels)
    context = WeightedContext(mode, *types, *sizes, one, op.shift, half)
    fields = (
        Field("position", np.array([first for first, _ in op.w], np.int32), about="first column of each window"),
        Field("row_weight", np.array([weights for _, weights in op.h], np.int32).reshape(-1)),
        Field("column_weight", np.array([weights for _, weights in op.w], np.int32).reshape(-1)),
    )
    scratch = Scratch("sums", context.row * (8 if kept == "int64_t" else 4))
    return Fit(context, (*mean_fields(how, mode, counts), *fields), (scratch,), headers=mean_headers(mode))


def _sum_type(reach: int) -> str:
    return "int64_t" if reach > INT32_MAX else "int32_t"


BILINEAR = Kernel("resize_bilinear", "resize_bilinear.c.j2", "row", (ResizeBilinear,), _fit, one_input=True)

WEIGHTED = Kernel("resize_weighted", "resize_weighted.c.j2", "row", (ResizeWeighted,), _fit_weighted, one_input=True)

KERNELS: tuple[Kernel[Any], ...] = (BILINEAR, WEIGHTED)
