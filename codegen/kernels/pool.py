"""Pools: maxima and means over a sliding window, one output row per call; means over the whole map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.average import mean_fields, mean_fits, mean_mode
from codegen.kernels.common import only_dynamic
from codegen.kernels.conv2d import inner_columns
from codegen.kernels.kernel import adapted
from codegen.ops import AveragePool2D, GlobalAveragePool, MaxPool2D
from codegen.ops.average import Averaging
from codegen.ops.average_pool import tap_counts

_UNROLLED_TAPS = 9
_BLOCK = 16


@dataclass(frozen=True, slots=True)
class MaxPoolContext:
    """Literals of one maximum pool.  Output columns [left, right) have no tap in the padding."""

    w_in: int
    w_out: int
    channels: int
    kernel_h: int
    kernel_w: int
    stride: int
    dilation: int
    pad: int
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


@dataclass(frozen=True, slots=True)
class AveragePoolContext:
    """Literals of one mean pool.  `counted`: the divisor is the number of taps inside the input."""

    mode: str
    w_in: int
    w_out: int
    channels: int
    kernel_h: int
    kernel_w: int
    stride: int
    dilation: int
    pad: int
    has_edges: bool
    include_pad: bool
    counted: bool
    least_count: int

    @property
    def block(self) -> int:
        """Channels summed at a time."""
        return min(self.channels, _BLOCK)

    @property
    def full_blocks(self) -> int:
        """Whole channel blocks per pixel."""
        return self.channels // self.block

    @property
    def rest(self) -> int:
        """Channels of the last, partial block."""
        return self.channels % self.block


@dataclass(frozen=True, slots=True)
class GlobalContext:
    """Literals of one global mean."""

    mode: str
    rows: int
    columns: int
    channels: int


def _max_context(node: NodeView) -> MaxPoolContext:
    op = node.op
    assert isinstance(op, MaxPool2D)
    x, y = node.ins[0], node.outs[0]
    left, right = inner_columns(op.w, x.shape[2], y.shape[2])
    return MaxPoolContext(
        w_in=x.shape[2],
        w_out=y.shape[2],
        channels=x.shape[3],
        kernel_h=op.h.size,
        kernel_w=op.w.size,
        stride=op.w.stride,
        dilation=op.w.dilation,
        pad=op.w.pad_before,
        left=left,
        right=right,
        lowest=x.dtype.low,
    )


def averaging(op: AveragePool2D | GlobalAveragePool) -> Averaging:
    """From what, to what, and how the pool averages."""
    as_mean = isinstance(op, GlobalAveragePool) and op.as_mean
    return Averaging(op.x_quant, op.y_quant, op.y_dtype, op.low, op.high, op.mode, as_mean)


def divides(op: AveragePool2D | GlobalAveragePool) -> bool:
    """Whether a mean between equal scales is divided, as a pool of TFLite is."""
    return isinstance(op, AveragePool2D) or not op.as_mean


def divisors(node: NodeView) -> list[int]:
    """The divisors, least first, without gaps: entry i belongs to `counts[0] + i` taps."""
    op = node.op
    if isinstance(op, GlobalAveragePool):
        return [node.ins[0].shape[1] * node.ins[0].shape[2]]
    assert isinstance(op, AveragePool2D)
    counts = tap_counts(op.h, op.w, node.ins[0].shape, op.include_pad)
    return list(range(int(counts.min()), int(counts.max()) + 1))


def _mean_context(node: NodeView) -> AveragePoolContext:
    op = node.op
    assert isinstance(op, AveragePool2D)
    x, y = node.ins[0], node.outs[0]
    counts = divisors(node)
    return AveragePoolContext(
        mode=mean_mode(averaging(op), pool=divides(op)),
        w_in=x.shape[2],
        w_out=y.shape[2],
        channels=x.shape[3],
        kernel_h=op.h.size,
        kernel_w=op.w.size,
        stride=op.w.stride,
        dilation=op.w.dilation,
        pad=op.w.pad_before,
        has_edges=inner_columns(op.w, x.shape[2], y.shape[2]) != (0, y.shape[2]),
        include_pad=op.include_pad,
        counted=len(counts) > 1,
        least_count=counts[0],
    )


def _global_context(node: NodeView) -> GlobalContext:
    op = node.op
    assert isinstance(op, GlobalAveragePool)
    _, h, w, c = node.ins[0].shape
    return GlobalContext(mean_mode(averaging(op), pool=divides(op)), h, w, c)


def _mean_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, AveragePool2D | GlobalAveragePool)
    return mean_fields(averaging(op), mean_mode(averaging(op), pool=divides(op)), divisors(node))


def mean_accepts(node: NodeView) -> bool:
    """Whether the mean of one computed input can be requantized for each of its divisors."""
    op = node.op
    assert isinstance(op, AveragePool2D | GlobalAveragePool)
    return only_dynamic(node) and mean_fits(
        averaging(op), mean_mode(averaging(op), pool=divides(op)), divisors(node), node.ins[0].dtype
    )


def _accepts_max(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, MaxPool2D) and only_dynamic(node)


def _accepts_mean(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, AveragePool2D) and mean_accepts(node)


def _accepts_global(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, GlobalAveragePool) and mean_accepts(node)


def _sums_bytes(node: NodeView) -> int:
    return node.ins[0].shape[3] * np.dtype(np.int32).itemsize


MAX = adapted("max_pool", "max_pool.c.j2", "row", _accepts_max, _max_context)
MEAN = adapted("average_pool", "average_pool.c.j2", "row", _accepts_mean, _mean_context, _mean_params)
GLOBAL_MEAN = adapted(
    "global_average", "global_average.c.j2", "accumulate", _accepts_global, _global_context, _mean_params, _sums_bytes
)
