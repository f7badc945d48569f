"""Convolutions and dense layers as products of columns: what one output pixel reads, widened once for all its channels.

A column is a list of pieces, each a run of bytes in memory (the taps of one kernel row, or one tap where taps lie
apart), widened to int16 in groups of four, the last one filled with zero weights.  Two pixels by two channels are
accumulated at a time, or one pixel by four channels where there is only one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array
from codegen.ir.shape import row_pixels
from codegen.kernels.common import folded_bias
from codegen.kernels.conv2d import (
    byte_convolution,
    conv_constants,
    inner_columns,
    reach_of,
    shift_fields,
    shift_of,
    shifted_weights,
)
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant, filled
from codegen.kernels.kernel import Kernel, adapted
from codegen.ops import Conv2D, Dense

_LARGE_COLUMNS = 1536
"""Bytes of two columns from which on they are made one kernel row at a time, which costs about one product in ten."""


@dataclass(frozen=True, slots=True)
class ColumnContext:
    """Literals of one layer: `groups` of four values a column, `piece` bytes in each of its pieces.

    `shifted`: weights are bytes less a shift; each pixel's sums begin with the shift times the sum of its column.
    `last`: pixels of the last turn where two at a time do not make a row: 3, or 1; else 0.
    """

    widen: str
    y_t: str
    c_out: int
    groups: int
    piece: int
    last: int
    rq: FastRequant
    wide: bool
    shifted: bool

    @property
    def block(self) -> str:
        """What the names of the products of columns end in."""
        return "w" if self.wide else ""

    @property
    def words(self) -> int:
        """Words of weights per group and channel."""
        return 2 if self.wide else 1

    @property
    def paired(self) -> int:
        """Channels that have a partner."""
        return self.c_out & ~1


@dataclass(frozen=True, slots=True)
class WindowContext(ColumnContext):
    """A convolution with a window: `pieces` of `taps` taps in a kernel row; columns [left, right) read no padding.

    `by_row`: columns hold one kernel row at a time, and sums of all channels wait in scratch for the next one.
    """

    kernel_h: int
    pieces: int
    taps: int
    stride: int
    dilation: int
    pad: int
    c_in: int
    w_in: int
    w_out: int
    left: int
    right: int
    by_row: bool

    @property
    def dots(self) -> int:
        """Groups that one product takes."""
        return self.groups // self.kernel_h if self.by_row else self.groups


def _one_pixel(node: NodeView) -> bool:
    return node.outs[0].elements == node.outs[0].shape[-1]


def _is_pointwise(node: NodeView) -> bool:
    op = node.op
    if isinstance(op, Dense):
        return True
    if not isinstance(op, Conv2D) or op.groups != 1:
        return False
    return all(w.size == w.stride == 1 and w.pad_before == w.pad_after == 0 for w in (op.h, op.w))


def _is_dense(node: NodeView) -> bool:
    return _is_pointwise(node) and _one_pixel(node)


def _is_conv(node: NodeView) -> bool:
    return isinstance(node.op, Conv2D) and node.op.groups == 1


def _pieces(node: NodeView) -> tuple[int, int]:
    """Pieces of a column, and bytes of each."""
    op, channels = node.op, node.ins[0].shape[-1]
    if not isinstance(op, Conv2D):
        return 1, channels
    if op.w.dilation == 1:
        return op.h.size, op.w.size * channels
    return op.h.size * op.w.size, channels


def _groups(node: NodeView) -> int:
    pieces, size = _pieces(node)
    return pieces * -(-size // 4)


def _column_context(node: NodeView, wide: bool) -> ColumnContext:
    return ColumnContext(*_column_numbers(node), wide, _is_shifted(node, wide))


def _column_numbers(node: NodeView) -> tuple[str, str, int, int, int, int, FastRequant]:
    op, x, y = node.op, node.ins[0].dtype, node.outs[0]
    assert isinstance(op, Conv2D | Dense)
    rq = fast_requant(op.requant, reach_of(node))
    return (x.value, y.dtype.ctype, y.shape[-1], _groups(node), _pieces(node)[1], _last(node), rq)


def _is_shifted(node: NodeView, wide: bool) -> bool:
    """Whether weights are bytes less a shift; weights of 16 bits hold all numbers."""
    return not wide and shift_of(node) is not None


def _last(node: NodeView) -> int:
    width = row_pixels(node.outs[0].shape)
    return 0 if width % 2 == 0 else 1 if width == 1 or _by_row(node) else 3


def _window_context(node: NodeView, wide: bool = False) -> WindowContext:
    op = node.op
    assert isinstance(op, Conv2D)
    x, y = node.ins[0], node.outs[0]
    left, right = inner_columns(op.w, x.shape[2], y.shape[2])
    together = op.w.dilation == 1
    return WindowContext(
        *_column_numbers(node),
        wide,
        _is_shifted(node, wide),
        kernel_h=op.h.size,
        pieces=1 if together else op.w.size,
        taps=op.w.size if together else 1,
        stride=op.w.stride,
        dilation=op.w.dilation,
        pad=op.w.pad_before,
        c_in=x.shape[3],
        w_in=x.shape[2],
        w_out=y.shape[2],
        left=left,
        right=right,
        by_row=_by_row(node),
    )


def _by_row(node: NodeView) -> bool:
    """Whether whole columns would take more memory than is good, and less is enough."""
    op = node.op
    if not isinstance(op, Conv2D):
        return False
    whole = _scratch(node, 2)
    return whole > _LARGE_COLUMNS and whole // op.h.size + _sums_bytes(node) < whole


def _sums_bytes(node: NodeView) -> int:
    channels = node.outs[0].shape[-1]
    return 2 * 4 * (channels + channels % 2)


def pack_words(weights: Array, pieces: int, together: int, passes: int = 1, *, wide: bool = False) -> Array:
    """Weights [channels, taps] as words, uint32: for `together` channels in turn, their next four.

    Each of the `pieces` equal parts of a row is filled with zeros to whole words, the channels to a multiple of
    `together`.  The taps are gone through in `passes` equal parts, each for all channels.  `wide`: instead of a word of
    four, the pair of its first and third and the pair of its second and fourth, 16 bits each.
    """
    channels = -(-weights.shape[0] // together) * together
    rows = filled(weights, channels).reshape(channels, pieces, -1)
    size = -(-rows.shape[2] // 4) * 4
    full = np.pad(rows, [(0, 0), (0, 0), (0, size - rows.shape[2])]).reshape(channels // together, together, -1, 4)
    fours = np.ascontiguousarray(full.transpose(0, 2, 1, 3)).astype(np.int64)
    words = _pairs(fours) if wide else (fours & 0xFF) @ (1 << 8 * np.arange(4))
    by_pass = words.astype(np.uint32).reshape(channels // together, passes, -1).swapaxes(0, 1)
    return by_pass.reshape(-1)


def _pairs(fours: Array) -> Array:
    """Pairs (0, 2) and (1, 3) of the last axis, as words."""
    return (fours[..., :2] & 0xFFFF) | ((fours[..., 2:] & 0xFFFF) << 16)


def _params(node: NodeView, together: int, wide: bool) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Conv2D | Dense)
    weights, bias = conv_constants(node)
    channels = -(-weights.shape[0] // together) * together
    passes = op.h.size if isinstance(op, Conv2D) and together == 2 and _by_row(node) else 1
    packed = weights if wide else shifted_weights(node)
    rows = packed.reshape(len(packed), -1)
    folded = folded_bias(weights, bias, op.x_zero_point).astype(np.int32)
    return (
        Field("weights", pack_words(rows, _pieces(node)[0], together, passes, wide=wide)),
        Field("bias", filled(folded, channels)),
        Field("x_zero_point", np.array([op.x_zero_point], np.int32)),
        *(() if wide else shift_fields(node)),
        *fast_fields(op.requant, reach_of(node), channels),
    )


def _scratch(node: NodeView, pixels: int) -> int:
    return 8 * pixels * _groups(node)


def _window_scratch(node: NodeView) -> int:
    """Two columns, and the bytes of one piece that reaches over an edge."""
    op = node.op
    assert isinstance(op, Conv2D)
    context = _window_context(node)
    edges = context.left > 0 or context.right < context.w_out
    columns = 8 * max(2, context.last) * context.dots + (_sums_bytes(node) if context.by_row else 0)
    return columns + (context.piece if edges else 0)


def _explain(node: NodeView) -> str:
    pieces, size = _pieces(node)
    waste = 4 * _groups(node) - pieces * size
    filled_up = f", {waste} of {4 * _groups(node)} values of a column are filling" if waste else ""
    by_row = ", a kernel row at a time" if _by_row(node) else ""
    return f"2 pixels x 2 channels, SMLAD on inputs widened once per pixel{by_row}{filled_up}"


def _explain_dense(node: NodeView) -> str:
    return "1 pixel x 4 channels, SMLAD on inputs widened once"


def columns(level: str, *, wide: bool) -> tuple[Kernel[Any], ...]:
    """The kernels of one level; `wide`: on weights of 16 bits."""

    def accept(rule: Callable[[NodeView], bool]) -> Callable[[NodeView, str], bool]:
        return lambda node, isa: isa == level and rule(node) and byte_convolution(node, shifted=True)

    def context(make: Callable[[NodeView, bool], ColumnContext]) -> Callable[[NodeView], ColumnContext]:
        return lambda node: make(node, wide)

    def params(together: int) -> Callable[[NodeView], tuple[Field, ...]]:
        return lambda node: _params(node, together, wide)

    def say(text: Callable[[NodeView], str]) -> Callable[[NodeView], str]:
        return lambda node: text(node) + (", weights widened at compile time" if wide else "")

    tail = "_wide" if wide else ""
    return (
        adapted(
            f"dsp_dense{tail}",
            "dsp/dense.c.j2",
            "pixels",
            accept(_is_dense),
            context(_column_context),
            params(4),
            lambda node: _scratch(node, 1),
            explain=say(_explain_dense),
        ),
        adapted(
            f"dsp_pointwise{tail}",
            "dsp/pointwise.c.j2",
            "pixels",
            accept(_is_pointwise),
            context(_column_context),
            params(2),
            lambda node: _scratch(node, max(2, _last(node))),
            explain=say(_explain),
        ),
        adapted(
            f"dsp_conv2d{tail}",
            "dsp/conv2d.c.j2",
            "row",
            accept(_is_conv),
            context(_window_context),
            params(2),
            _window_scratch,
            explain=say(_explain),
        ),
    )
