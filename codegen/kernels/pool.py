"""Pools: maxima, means and totals over a sliding window, one output row per call; means over the whole map."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf, NodeView
from codegen.ir.quant import TensorType
from codegen.ir.shape import Shape, Window
from codegen.kernels.average import mean_fields, mean_fits, mean_headers, mean_mode
from codegen.kernels.conv2d import inner_columns
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sizes import InBlocks, MapSizes
from codegen.ops import AveragePool2D, GlobalAveragePool, MaxPool2D, TotalPool2D
from codegen.ops.average import Averaging
from codegen.ops.average_pool import tap_counts
from codegen.records import record

_UNROLLED_TAPS = 9
_BLOCK = 16


@record(kw_only=True)
class PoolContext:
    """Sizes of the rows and windows of one pool."""

    w_in: int
    w_out: int
    channels: int
    kernel_h: int
    kernel_w: int
    stride: int
    dilation: int
    pad: int


def pool_sizes(node: NodeView, h: Window, w: Window) -> dict[str, int]:
    """The fields of a PoolContext, by name, for a pool over these windows."""
    x, y = node.ins[0].shape, node.outs[0].shape
    return {
        "w_in": x[2],
        "w_out": y[2],
        "channels": x[3],
        "kernel_h": h.size,
        "kernel_w": w.size,
        "stride": w.stride,
        "dilation": w.dilation,
        "pad": w.pad_before,
    }


@record(kw_only=True)
class MaxPoolContext(PoolContext):
    """Literals of one maximum pool.  Output columns [left, right) have no tap in the padding."""

    left: int
    right: int
    lowest: int

    @property
    def unrolled(self) -> bool:
        """Whether the inner columns name each tap."""
        return self.kernel_h * self.kernel_w <= _UNROLLED_TAPS and self.left < self.right

    @property
    def stepped(self) -> tuple[tuple[int, int], ...]:
        """Ranges of columns that step through their taps."""
        ranges = ((0, self.left), (self.right, self.w_out)) if self.unrolled else ((0, self.w_out),)
        return tuple(r for r in ranges if r[0] < r[1])

    @property
    def taps(self) -> tuple[tuple[int, int], ...]:
        """Row and offset in elements of each tap."""
        step = self.dilation * self.channels
        return tuple((i, j * step) for i in range(self.kernel_h) for j in range(self.kernel_w))


@record(kw_only=True)
class AveragePoolContext(InBlocks, PoolContext):
    """Literals of one mean pool.  `counted`: the divisor is the number of taps inside the input."""

    mode: str
    has_edges: bool
    include_pad: bool
    counted: bool
    least_count: int

    @property
    def parted(self) -> tuple[int, int]:
        """All channels."""
        return self.channels, min(self.channels, _BLOCK)


@record(kw_only=True)
class TotalPoolContext(PoolContext):
    """Literals of one pool of totals: the accumulator's type, what one more number makes of it, and the output."""

    total: str
    bits: int
    acc: str
    has_edges: bool

    @property
    def signed(self) -> bool:
        """Whether signs matter; an exponent then goes along."""
        return self.total == "product"

    @property
    def step(self) -> str:
        """One more number of a size."""
        if self.signed:
            return f"acc = lam_product_{self.bits}(acc, size, &exponent)"
        return "acc += size" if self.total == "sizes" else "acc += size * size"

    @property
    def end(self) -> str:
        """The total, or its size."""
        if self.signed:
            return "lam_scaled_u64(acc, exponent)"
        return f"lam_{'length' if self.total == 'length' else 'scaled'}_u64(acc, shift)"


@record(kw_only=True)
class GlobalContext(MapSizes):
    """Literals of one global mean."""

    mode: str

    @property
    def pixels(self) -> int:
        """Pixels of one channel's mean."""
        return self.rows * self.columns

    def pixel_at(self, column: int) -> int:
        """From the first pixel of a row to another."""
        return column * self.channels


@record
class Means:
    """How a pool averages, in which form, and by what it divides.

    `counts` are the divisors, least first, without gaps: entry i belongs to `counts[0] + i` taps.
    """

    how: Averaging
    mode: str
    counts: tuple[int, ...]

    def fields(self) -> tuple[Field, ...]:
        """Params of the template's `average`."""
        return mean_fields(self.how, self.mode, self.counts)

    @property
    def headers(self) -> tuple[str, ...]:
        """What the template's `average` calls."""
        return mean_headers(self.mode)


def means(node: NodeOf[AveragePool2D | GlobalAveragePool]) -> Means | None:
    """The means of one pool; None where a sum cannot be requantized for one of its divisors."""
    op, x = node.op, node.ins[0]
    as_mean = isinstance(op, GlobalAveragePool) and op.as_mean
    how = Averaging(op.x_quant, op.y_quant, op.y_dtype, op.low, op.high, op.mode, as_mean)
    # a mean between equal scales is divided, as a pool of TFLite is
    mode = mean_mode(how, pool=not as_mean)
    counts = _counts(op, x.shape)
    return Means(how, mode, counts) if mean_fits(how, mode, counts, x.dtype) else None


def _counts(op: AveragePool2D | GlobalAveragePool, shape: Shape) -> tuple[int, ...]:
    if isinstance(op, GlobalAveragePool):
        return (shape[1] * shape[2],)
    counts = tap_counts(op.h, op.w, shape, op.include_pad)
    return tuple(range(int(counts.min()), int(counts.max()) + 1))


def _fit_max(node: NodeOf[MaxPool2D]) -> Fit | None:
    op, x, y = node.op, node.ins[0], node.outs[0]
    if x.dtype.is_float:
        return None
    left, right = inner_columns(op.w, x.shape[2], y.shape[2])
    context = MaxPoolContext(
        **pool_sizes(node, op.h, op.w),
        left=left,
        right=right,
        lowest=x.dtype.low,
    )
    return Fit(context)


def _fit_mean(node: NodeOf[AveragePool2D]) -> Fit | None:
    op, found = node.op, means(node)
    x, y = node.ins[0], node.outs[0]
    if found is None:
        return None
    context = AveragePoolContext(
        mode=found.mode,
        **pool_sizes(node, op.h, op.w),
        has_edges=inner_columns(op.w, x.shape[2], y.shape[2]) != (0, y.shape[2]),
        include_pad=op.include_pad,
        counted=len(found.counts) > 1,
        least_count=found.counts[0],
    )
    return Fit(context, found.fields(), headers=found.headers)


def _fit_total(node: NodeOf[TotalPool2D]) -> Fit:
    op, x, y = node.op, node.ins[0], node.outs[0]
    power = {"sizes": 1, "product": 0}.get(op.total, 2)
    reach = op.h.size * op.w.size * x.dtype.reach(op.x_zero_point) ** power
    context = TotalPoolContext(
        **pool_sizes(node, op.h, op.w),
        total=op.total,
        bits=op.bits,
        acc="uint32_t" if reach < 1 << 32 else "uint64_t",
        has_edges=inner_columns(op.w, x.shape[2], y.shape[2]) != (0, y.shape[2]),
    )
    about = "zero point of the input, bits of the output behind the point"
    return Fit(context, (Field("steps", np.array([op.x_zero_point, op.shift], np.int32), about=about),))


def _fit_global(node: NodeOf[GlobalAveragePool]) -> Fit | None:
    found = means(node)
    if found is None:
        return None
    context = global_context(found.mode, node.ins[0])
    return Fit(context, found.fields(), (channel_sums(node.ins[0]),), headers=found.headers)


def global_context(mode: str, x: TensorType) -> GlobalContext:
    """Literals of a mean, or a sum, over all of a map."""
    _, rows, columns, channels = x.shape
    return GlobalContext(mode=mode, rows=rows, columns=columns, channels=channels)


def channel_sums(x: TensorType) -> Scratch:
    """One sum of 32 bits per channel."""
    return Scratch("sums", x.shape[3] * np.dtype(np.int32).itemsize)


MAX = Kernel("max_pool", "max_pool.c.j2", "row", (MaxPool2D,), _fit_max, one_input=True, program_memory=True)
MEAN = Kernel(
    "average_pool", "average_pool.c.j2", "row", (AveragePool2D,), _fit_mean, one_input=True, program_memory=True
)
TOTAL = Kernel(
    "total_pool",
    "total_pool.c.j2",
    "row",
    (TotalPool2D,),
    _fit_total,
    one_input=True,
    program_memory=True,
    headers=("lam_total.h",),
)
GLOBAL_MEAN = Kernel(
    "global_average",
    "global_average.c.j2",
    "accumulate",
    (GlobalAveragePool,),
    _fit_global,
    one_input=True,
    program_memory=True,
)

KERNELS: tuple[Kernel[Any], ...] = (MAX, MEAN, TOTAL, GLOBAL_MEAN)
