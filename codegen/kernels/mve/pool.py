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
from codegen.kernels.mve.common import CHUNK, MVE, is_fast, lane_numbers
from codegen.kernels.pool import Means, PoolContext, channel_sums, means, pool_sizes
from codegen.kernels.weighted import BYTES
from codegen.ops import AveragePool2D, GlobalAveragePool, MaxPool2D
from codegen.ops.average import average_requant
from codegen.records import record

_MOST_TAPS = 64
_PIXEL, _ROW, _MEAN, _MEAN_IN_VECTORS = 10, 20, 17, 4
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
    return Fit(_context(node, op.h, op.w, None), why="Helium, 16 channels at a time")


def _fit_mean(node: NodeOf[AveragePool2D]) -> Fit | None:
    return _fit_sums(node, node.op.h, node.op.w) if node.op.w.dilation == 1 else None


def _fit_global(node: NodeOf[GlobalAveragePool]) -> Fit | None:
    _, h, w, channels = node.ins[0].shape
    fit = _fit_sums(node, Window(h), Window(w))
    return fit and replace(fit, mix=_mix(h, w, channels, vectors=fit.context.vectors))


def _mix(rows: int, columns: int, channels: int, *, vectors: bool) -> Mix:
    """About what a map takes, as counted: each sixteen channels of a pixel, of a row, and each channel's mean."""
    means = channels * (_MEAN_IN_VECTORS if vectors else _MEAN)
    return Mix(other=rows * channels / CHUNK * (columns * _PIXEL + _ROW) + means)


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
