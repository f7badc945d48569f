"""Convolutions and dense layers as products of columns: what one output pixel reads, widened once for all its channels.

A column is a list of pieces, each a run of bytes in memory (the taps of one kernel row, or one tap where taps lie
apart), widened to int16 in groups of four, the last one filled with zero weights.  Two pixels by two channels are
accumulated at a time, or one pixel by four channels where there is only one.  Weights of few bits share a word
(runtime_c/isa/dsp/lam_armv7em_few.h), without a sign: what that adds to them is taken off as a shift is.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Mix, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.ir.shape import row_pixels
from codegen.kernels.conv2d import inner_columns, is_pointwise
from codegen.kernels.dsp.panel_mix import columns_mix, spread_mix
from codegen.kernels.dsp.words import pack_few, pack_words, shift_fields, words_of
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant, filled
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sizes import ColumnSizes
from codegen.kernels.weighted import FOLDED, Weighted, few_said, weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record

Node = NodeOf[Conv2D | Dense]

_DSP, _WIDE = frozenset({"dsp"}), frozenset({"wide"})
_BYTE = 8
_GROUP_BYTES = 8
"""Of a group of four values of a column."""
_LARGE_COLUMNS = 1536
"""Bytes of two columns from which on they are made one kernel row at a time, which costs about one product in ten."""


@record
class ColumnContext(ColumnSizes):
    """Literals of one layer: `groups` of four values a column, `piece` bytes in each of its pieces.

    `shifted`: weights are bytes less a shift; each pixel's sums begin with the shift times the sum of its column.
    `each_shifted`: each channel has a shift of its own.
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
    bits: int
    each_shifted: bool

    @property
    def block(self) -> str:
        """What the names of the products of columns end in."""
        return f"s{self.bits}" if self.bits else "w" if self.wide else ""

    @property
    def words(self) -> int:
        """Words of weights of a channel before those of the next one."""
        return 2 if self.wide else 1

    @property
    def rest(self) -> int:
        """Channels behind the last whole four."""
        return self.c_out % 4

    @property
    def to_next_pair(self) -> int:
        """Words from one group of a pair's second channel, the last, to the next pair."""
        return 2 * words_of(self.groups, self.bits, wide=self.wide) - self.words


@record
class DenseContext(ColumnContext):
    """One pixel; `direct`: no column is made, inputs are widened anew for each four channels."""

    direct: bool

    @property
    def summed(self) -> int:
        """Groups that are multiplied: with zeros behind them where those of the last word would take longer alone."""
        rest = self.groups % (_BYTE // self.bits) if self.bits else 0
        missing = _BYTE // self.bits - rest if rest else 0
        return self.groups + missing if rest >= missing else self.groups

    @property
    def column_words(self) -> int:
        """Words of a column."""
        return 2 * self.groups

    @property
    def missing(self) -> int:
        """Bytes of these zeros."""
        return _GROUP_BYTES * (self.summed - self.groups)


@record
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
    def has_edges(self) -> bool:
        """Whether a piece may reach over an end of its row."""
        return self.left > 0 or self.right < self.w_out

    @property
    def in_twos(self) -> int:
        """Pixels that are made two at a time."""
        return self.w_out - self.last

    @property
    def dots(self) -> int:
        """Groups that one product takes."""
        return self.groups // self.kernel_h if self.by_row else self.groups

    @property
    def column_words(self) -> int:
        """Words of scratch for the columns of one turn; sums, or else the piece over an edge, lie behind them."""
        return 2 * max(2, self.last) * self.dots

    @property
    def sums_words(self) -> int:
        """Words of scratch for the sums that wait: of two pixels, channels in pairs."""
        return _sums_words(self.c_out) if self.by_row else 0


def columns_sums(node: Node) -> Weighted | None:
    """The sums of a node of bytes, whose weights may have few bits and zero points of their own."""
    sums = weighted(node, apart=True)
    if sums is None or not sums.of_bytes(shifted=True):
        return None
    return sums if sums.less is None or few_bits(sums) else None


def _fit_dense(node: Node, wide: bool, *, direct: bool = False) -> Fit | None:
    """One pixel."""
    sums = columns_sums(node)
    if sums is None or not is_pointwise(node.op) or node.outs[0].elements != node.outs[0].shape[-1]:
        return None
    context = DenseContext(*column_numbers(node, sums), *weight_numbers(sums, wide), direct)
    if direct and (context.piece % 4 or context.shifted):
        return None
    why = "1 pixel x 4 channels, SMLAD on inputs widened " + ("where they lie" if direct else "once") + _wider(context)
    column = Scratch("column", 0 if direct else _GROUP_BYTES * context.summed)
    params = _params(node, sums, 4, wide)
    return Fit(context, params, (column,), why, headers=_headers(context), mix=_dense_mix(context))


def _dense_mix(k: DenseContext) -> Mix:
    """Counted in the disassembly: what widens a group of inputs, and what four channels take."""
    once = Mix() if k.direct else Mix(other=2, load=1, store=2).times(k.groups)
    once += Mix(other=3, load=2, multiply_add=2, taken=1).times(k.groups) if k.shifted else Mix()
    inputs = Mix(other=2, load=1) if k.direct else Mix(multiple=1, moved=2)
    weights = Mix(0 if k.wide else 8, multiple=2 if k.wide else 1, moved=8 if k.wide else 4, multiply_add=8)
    if k.bits:  # a word of each channel has several groups, whose inputs are loaded two groups at a time
        inputs, weights = Mix(multiple=0.5, moved=2), Mix(8, load=k.bits / 2, multiply_add=8)
    group = inputs + weights
    return once + (group.times(k.summed) + Mix(other=32, load=8, store=4, taken=2)).times(-(-k.c_out // 4))


def _fit_pointwise(node: Node, wide: bool) -> Fit | None:
    sums = columns_sums(node)
    if sums is None or not is_pointwise(node.op):
        return None
    context = ColumnContext(*column_numbers(node, sums), *weight_numbers(sums, wide))
    columns = Scratch("columns", _columns_bytes(node, max(2, context.last)))
    mix = None if context.bits else _columns_mix(context, row_pixels(node.outs[0].shape))
    params, why = _params(node, sums, 2, wide), _why(node, context)
    return Fit(context, params, (columns,), why, headers=_headers(context), mix=mix)


def _columns_mix(k: ColumnContext, width: int) -> Mix:
    """What a row takes."""
    return columns_mix(k.groups, width, k.c_out, wide=k.wide) + spread_mix(k.piece).times(width)


def _fit_window(node: NodeOf[Conv2D], wide: bool) -> Fit | None:
    sums = columns_sums(node)
    if sums is None or node.op.groups != 1:
        return None
    context = _window_context(node, sums, wide)
    headers = (*_headers(context), *(("lam_gather.h",) if context.has_edges else ()))
    params = _params(node, sums, 2, wide, padded=context.has_edges)
    return Fit(context, params, _window_scratch(context), _why(node, context), headers=headers)


def _pieces(node: Node) -> tuple[int, int]:
    """Pieces of a column, and bytes of each."""
    op, channels = node.op, node.ins[0].shape[-1]
    if not isinstance(op, Conv2D):
        return 1, channels
    if op.w.dilation == 1:
        return op.h.size, op.w.size * channels
    return op.h.size * op.w.size, channels


def _groups(node: Node) -> int:
    pieces, size = _pieces(node)
    return pieces * -(-size // 4)


def column_numbers(node: Node, sums: Weighted) -> tuple[str, str, int, int, int, int, FastRequant]:
    """The first numbers of a layer's context."""
    y, rq = node.outs[0], fast_requant(node.op.requant, sums.reach)
    return (sums.x.value, y.dtype.ctype, y.shape[-1], _groups(node), _pieces(node)[1], _last(node), rq)


def few_bits(sums: Weighted) -> int:
    """The bits that weights are packed in; 0 also where sums of fields without a sign would not fit."""
    return sums.bits if sums.bits and sums.fits_unsigned(sums.bits) else 0


def weight_numbers(sums: Weighted, wide: bool) -> tuple[bool, bool, int, bool]:
    """Whether weights have 16 bits, which hold all numbers; whether they are less a shift; few bits; own shifts."""
    bits = few_bits(sums)
    return wide and not bits, bits > 0 or (not wide and sums.shift is not None), bits, sums.less is not None


def _headers(context: ColumnContext) -> tuple[str, ...]:
    own = ("lam_armv7em_few.h",) if context.bits else ("lam_armv7em_wide.h",) if context.wide else ()
    return (*context.rq.headers, *own)


def _last(node: Node) -> int:
    width = row_pixels(node.outs[0].shape)
    return 0 if width % 2 == 0 else 1 if width == 1 or _by_row(node) else 3


def _window_context(node: NodeOf[Conv2D], sums: Weighted, wide: bool) -> WindowContext:
    op, x, y = node.op, node.ins[0], node.outs[0]
    left, right = inner_columns(op.w, x.shape[2], y.shape[2])
    together = op.w.dilation == 1
    return WindowContext(
        *column_numbers(node, sums),
        *weight_numbers(sums, wide),
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


def _by_row(node: Node) -> bool:
    """Whether whole columns would take more memory than is good, and less is enough."""
    op = node.op
    if not isinstance(op, Conv2D):
        return False
    whole = _columns_bytes(node, 2)
    return whole > _LARGE_COLUMNS and whole // op.h.size + 4 * _sums_words(node.outs[0].shape[-1]) < whole


def _sums_words(channels: int) -> int:
    return 2 * (channels + channels % 2)


def _params(node: Node, sums: Weighted, together: int, wide: bool, *, padded: bool = False) -> tuple[Field, ...]:
    op, outputs = node.op, len(sums.weights)
    channels = -(-outputs // together) * together
    passes = op.h.size if isinstance(op, Conv2D) and together == 2 and _by_row(node) else 1
    wide, _, bits, _ = weight_numbers(sums, wide)

    def words() -> Array:
        rows = (sums.weights if wide else sums.shifted_weights()).reshape(outputs, -1)
        if bits:
            return pack_few(rows, _pieces(node)[0], together, passes, bits)
        return pack_words(rows, _pieces(node)[0], together, passes, wide=wide)

    size = channels * passes * words_of(_groups(node) // passes, bits, wide=wide)
    more = "; zeros after them" if channels > outputs else ""
    return (
        Field.later("weights", np.uint32, size, words, f"in the order of lam_armv7em{'_few' if bits else ''}.h"),
        Field.later("bias", np.int32, channels, lambda: filled(sums.folded, channels), FOLDED + more),
        *sums.zero_fields(padded=padded),
        *shift_fields(sums, bits, channels, wide=wide),
        *fast_fields(op.requant, sums.reach, channels),
    )


def _columns_bytes(node: Node, pixels: int) -> int:
    return _GROUP_BYTES * pixels * _groups(node)


def _window_scratch(k: WindowContext) -> tuple[Scratch, ...]:
    """Two columns, the sums that wait for the next kernel row, and one piece that reaches over an edge."""
    columns, sums = Scratch("columns", 4 * k.column_words), Scratch("sums", 4 * k.sums_words)
    return columns, sums, Scratch("edge", k.piece if k.has_edges else 0)


def _why(node: Node, context: ColumnContext) -> str:
    pieces, size = _pieces(node)
    waste = 4 * _groups(node) - pieces * size
    filled_up = f", {waste} of {4 * _groups(node)} values of a column are filling" if waste else ""
    by_row = ", a kernel row at a time" if _by_row(node) else ""
    return f"2 pixels x 2 channels, SMLAD on inputs widened once per pixel{by_row}{filled_up}{_wider(context)}"


def _wider(context: ColumnContext) -> str:
    if context.bits:
        return f", {few_said(context.bits, own=context.each_shifted)}"
    return ", weights widened at compile time" if context.wide else ""


DENSE_DIRECT: Kernel[Conv2D | Dense] = Kernel(
    "dsp_dense_direct",
    "dsp/dense.c.j2",
    "pixels",
    (Conv2D, Dense),
    lambda node: _fit_dense(node, wide=False, direct=True),
    _DSP,
    _WIDE,
    headers=("lam_armv7em.h", "lam_order.h"),
)


def columns(*, wide: bool) -> tuple[Kernel[Conv2D | Dense], Kernel[Conv2D | Dense], Kernel[Conv2D]]:
    """The kernels on weights of 8 bits, or (`wide`) of 16."""
    tail, served = "_wide" if wide else "", (Conv2D, Dense)
    headers = ("lam_armv7em.h",)
    needs, without = (_DSP | _WIDE, frozenset[str]()) if wide else (_DSP, _WIDE)
    dense: Kernel[Conv2D | Dense] = Kernel(
        f"dsp_dense{tail}",
        "dsp/dense.c.j2",
        "pixels",
        served,
        lambda node: _fit_dense(node, wide),
        needs,
        without,
        headers=(*headers, "lam_order.h"),
    )
    pointwise: Kernel[Conv2D | Dense] = Kernel(
        f"dsp_pointwise{tail}",
        "dsp/pointwise.c.j2",
        "pixels",
        served,
        lambda node: _fit_pointwise(node, wide),
        needs,
        without,
        headers=headers,
    )
    window: Kernel[Conv2D] = Kernel(
        f"dsp_conv2d{tail}",
        "dsp/conv2d.c.j2",
        "row",
        (Conv2D,),
        lambda node: _fit_window(node, wide),
        needs,
        without,
        headers=headers,
    )
    return dense, pointwise, window
