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
from codegen.kernels.average import BY_COUNT, is_wide, mean_fields, mean_fits, mean_headers, mean_mode
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import ResizeBilinear, ResizeWeighted
from codegen.ops.average import average_requant
from codegen.ops.resize import WEIGHT_ONE, Tap, largest
from codegen.records import record


@record
class BilinearContext:
    """Literals of one bilinear resize.

    How sums become outputs: `rq` by one high product, `places` by a rounding shift, else `mean`; outputs that may be
    whatever inputs are need no `limits` behind the shift.  `beside` elements lie between the two pixels of a row, `one`
    is the sum of the two weights of a pair.
    """

    mode: str
    rq: FastRequant | None
    places: int
    limits: bool
    acc_t: str
    w_out: int
    channels: int
    beside: int
    one: int

    @property
    def whole(self) -> int:
        """The sum of a pixel's four weights."""
        return self.one * self.one

    @property
    def half(self) -> int:
        """What the shift rounds by."""
        return 1 << self.places >> 1

    @property
    def wide(self) -> bool:
        """Whether products pass 32 bits."""
        return self.acc_t == "int64_t"


def _fit(node: NodeOf[ResizeBilinear]) -> Fit | None:
    op, x, y = node.op, node.ins[0], node.outs[0]
    how, whole = op.averaging(x.dtype), WEIGHT_ONE**2
    mode, wide = mean_mode(how, pool=True), is_wide(how)
    if not mean_fits(how, mode, [whole], x.dtype):
        return None
    step = None if wide or mode in BY_COUNT else average_requant(how, whole)
    rq = fast_requant(step, how.reach)
    divides = mode == "divide"
    limits = (op.low, op.high) != (x.dtype.low, x.dtype.high)
    context = BilinearContext(
        mode=mode,
        rq=rq if rq.form else None,
        places=whole.bit_length() - 1 if divides else 0,
        limits=limits,
        acc_t="int64_t" if wide else "int32_t",
        w_out=y.shape[2],
        channels=y.shape[3],
        beside=pixels_beside(node),
        one=WEIGHT_ONE,
    )
    taps = pair_fields(node)
    zero, *numbers = mean_fields(how, mode, [whole])
    if rq.form:
        return Fit(context, (zero, *fast_fields(step, how.reach, 1), *taps), headers=rq.headers)
    if divides:
        headers = ("lam_requant.h",) * limits + ("lam_requant_fast.h",)
        return Fit(context, (*numbers[: int(limits)], *taps), headers=headers)
    return Fit(context, (zero, *numbers, *taps), headers=mean_headers(mode))


def pixels_beside(node: NodeOf[ResizeBilinear]) -> int:
    """Elements from a column to its neighbour; 0 of an only one, which is its own."""
    _, _, width, channels = node.ins[0].shape
    return channels if width > 1 else 0


def pair_fields(node: NodeOf[ResizeBilinear]) -> tuple[Field, ...]:
    """Params `position`, of the first of a pair of columns, and the weights of the second of rows and columns."""
    columns = _in_pairs(node.op.w, node.ins[0].shape[2])
    return (
        Field("position", np.array([first for first, _ in columns], np.int32), about="first column of each pair"),
        Field("row_weight", np.array([weight for _, weight in map(_second, node.op.h)], np.int16)),
        Field("column_weight", np.array([weight for _, weight in columns], np.int16)),
    )


def _second(tap: Tap) -> tuple[int, int]:
    """The first position, and the weight of the second one: 0, which the kernel takes for absent, if it is the same."""
    first, second, weight = tap
    return first, weight if second > first else 0


def _in_pairs(taps: Sequence[Tap], size: int) -> Sequence[tuple[int, int]]:
    """Likewise of columns, where each but an only one has a neighbour: of the last one it is that before."""
    pairs = map(_second, taps)
    return [(first - 1, WEIGHT_ONE) if first == size - 1 > 0 else (first, weight) for first, weight in pairs]


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
