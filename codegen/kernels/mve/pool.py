"""Pools on 8-bit values: maxima over windows and sums 16 channels at a time, and what is left four at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.form import Field, Mix
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.ir.shape import Window
from codegen.kernels.average import mean_headers
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.mve.common import CHUNK, LANES, MVE, is_fast, lane_numbers
from codegen.kernels.mve.dense_mix import of_mode, straight
from codegen.kernels.pool import Means, PoolContext, channel_sums, means, pool_sizes
from codegen.kernels.weighted import BYTES
from codegen.ops import AveragePool2D, GlobalAveragePool, MaxPool2D
from codegen.ops.average import average_requant
from codegen.records import record

_MOST_TAPS = 64
_ROW = Mix(other=23, multiple=2, moved=24, taken=3)
_COLUMN = Mix(other=54, multiple=4, moved=20, taken=4)
_OF_FEW_CHANNELS = Mix(other=20, multiple=3, moved=12, taken=3)
_CHANNEL = Mix(other=1.8, vector_next=1)
"""Around a row of a map, a column of means, of fewer than eight channels and else, and a channel of one: sums are
emptied and moved by the zero point."""
_MEAN = Mix(other=13.5, multiple=1, moved=2, taken=3)
_FOUR_MEANS = straight(8, 3)
"""A mean in C, and four in a vector."""
_MAXIMA = Mix(other=7, taken=1)
_MAXIMA_CALL = Mix(other=8, multiple=2, moved=20)
_HEADERS = ("lam_mve_elements.h",)


@record(kw_only=True)
class MvePoolContext(PoolContext):
    """Literals of one pool.  `mode`: of a mean; `vectors`: means are requantized four at a time."""

    mode: str
    vectors: bool
    unsigned: bool
    lowest: int
    rows: int
    include_pad: bool
    counted: bool
    least_count: int

    @property
    def taps(self) -> int:
        """Pixels under a window."""
        return self.kernel_h * self.kernel_w

    @property
    def sums_bytes(self) -> int:
        """What one sum of 32 bits per channel takes."""
        return 4 * self.channels

    @property
    def pixels(self) -> int:
        """Pixels of a global mean."""
        return self.rows * self.w_in

    @property
    def last_row(self) -> int:
        """The row behind which a global mean is written."""
        return self.rows - 1


def _fit_max(node: NodeOf[MaxPool2D]) -> Fit | None:
    op = node.op
    if node.ins[0].dtype not in BYTES or op.h.size * op.w.size > _MOST_TAPS:
        return None
    k = _context(node, op.h, op.w, None)
    return Fit(k, why="Helium, 16 channels at a time", mix=_maxima_mix(k))


def _fit_mean(node: NodeOf[AveragePool2D]) -> Fit | None:
    fit = _fit_sums(node, node.op.h, node.op.w) if node.op.w.dilation == 1 else None
    return fit and replace(fit, mix=_means_mix(fit.context))


def _fit_global(node: NodeOf[GlobalAveragePool]) -> Fit | None:
    _, h, w, _ = node.ins[0].shape
    fit = _fit_sums(node, Window(h), Window(w))
    return fit and replace(fit, mix=_global_mix(fit.context))


def _maxima_mix(k: MvePoolContext) -> Mix:
    """What a row of maxima takes, as counted: where its taps are, and sixteen channels of them."""
    groups = -(-k.channels // CHUNK)
    column = Mix(other=2.3 * k.taps) + _MAXIMA + straight(6 + 6 * k.taps).times(groups) + Mix(taken=1).times(groups - 1)
    return _MAXIMA_CALL + column.times(k.w_out)


def _means_mix(k: MvePoolContext) -> Mix:
    """What a row of means takes, as counted; windows as if all of their taps lay inside the map."""
    around = _COLUMN if k.channels >= 2 * LANES else _OF_FEW_CHANNELS
    column = around + _CHANNEL.times(k.channels) + _added(k, k.kernel_w).times(k.kernel_h) + _means(k)
    return column.times(k.w_out)


def _global_mix(k: MvePoolContext) -> Mix:
    """What a map takes, as counted."""
    return (_added(k, k.w_in) + _ROW).times(k.rows) + Mix(other=k.channels / 2 + 12) + _means(k)


def _added(k: MvePoolContext, pixels: int) -> Mix:
    """So many pixels of a row, sixteen channels at a time and then four (lam_mve_add_pixels)."""
    wide, left = k.channels // CHUNK, -(-(k.channels % CHUNK) // LANES)
    found = (straight(13, 6) + straight(10, 1).times(pixels)).times(wide)
    found += (straight(10, 1) + straight(5).times(pixels)).times(left)
    jumps = max(wide - 1, 0) + max(left - 1, 0)
    return found + Mix(other=-jumps, taken=jumps)


def _means(k: MvePoolContext) -> Mix:
    """All means of a pixel."""
    if not k.vectors:
        return _MEAN.times(k.channels)
    return (_FOUR_MEANS + of_mode(k.mode, (2, 2), (0, 0))).times(-(-k.channels // LANES)) + straight(12)


def _fit_sums(node: NodeOf[AveragePool2D | GlobalAveragePool], h: Window, w: Window) -> Fit | None:
    found = means(node) if node.ins[0].dtype in BYTES else None
    if found is None:
        return None
    context = _context(node, h, w, found)
    params = _lanes(found) if context.vectors else found.fields()
    why = f"Helium, sums of up to sixteen channels at a time, means {'likewise' if context.vectors else 'one by one'}"
    headers = () if context.vectors else mean_headers(found.mode)
    return Fit(context, params, (channel_sums(node.ins[0]),), why, headers=headers)


def _context(
    node: NodeOf[MaxPool2D | AveragePool2D | GlobalAveragePool], h: Window, w: Window, found: Means | None
) -> MvePoolContext:
    op, x = node.op, node.ins[0]
    counts = found.counts if found else (1,)
    return MvePoolContext(
        mode=found.mode if found else "max",
        vectors=found is not None and _in_vectors(found),
        unsigned=x.dtype is DType.U8,
        lowest=x.dtype.low,
        rows=x.shape[1],
        **pool_sizes(node, h, w),
        include_pad=isinstance(op, AveragePool2D) and op.include_pad,
        counted=len(counts) > 1,
        least_count=counts[0],
    )


def _in_vectors(found: Means) -> bool:
    """Whether the requantization of each divisor is one that the vector form has."""
    if found.mode in ("divide", "ort"):
        return False
    return all(is_fast(average_requant(found.how, count)) for count in found.counts)


def _lanes(found: Means) -> tuple[Field, ...]:
    """Params `numbers`, five per divisor, and `zero`."""
    numbers = [n for count in found.counts for n in lane_numbers(average_requant(found.how, count))]
    return (
        Field("numbers", np.array(numbers, np.int32)),
        Field("x_zero_point", np.array([found.how.x_quant.zero_point], np.int32), about="of the input"),
    )


MAX = Kernel("mve_max_pool", "mve/max_pool.c.j2", "row", (MaxPool2D,), _fit_max, MVE, one_input=True, headers=_HEADERS)
MEAN = Kernel(
    "mve_average_pool",
    "mve/average_pool.c.j2",
    "row",
    (AveragePool2D,),
    _fit_mean,
    MVE,
    one_input=True,
    headers=_HEADERS,
)
GLOBAL_MEAN = Kernel(
    "mve_global_average",
    "mve/global_average.c.j2",
    "accumulate",
    (GlobalAveragePool,),
    _fit_global,
    MVE,
    one_input=True,
    headers=_HEADERS,
)
