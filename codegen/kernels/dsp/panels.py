"""Convolutions and dense layers as panels: all channels of three output pixels, from their columns to stored bytes.

What a pixel reads (its column) is widened once, and three columns share memory.  A block of assembly sums three pixels
by two channels and requantizes them; all layers of a network share it (runtime_c/isa/dsp/lam_armv7em_panel.h, which
also says how the weights lie).  Kernel rows of a column are packed together where that takes fewer words.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.form import Field, Mix, Scratch, Told
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, Requant
from codegen.ir.shape import row_pixels
from codegen.kernels.common import range_field
from codegen.kernels.conv2d import inner_columns, is_pointwise
from codegen.kernels.dsp.bounds import InBytes, in_bytes
from codegen.kernels.dsp.factors import Factors, factors_of, with_line
from codegen.kernels.dsp.panel_mix import Panel, cut, edge_mix, joined_mix, shared_mix, spread_mix
from codegen.kernels.dsp.words import few_words, panel_words, shift_fields, words_of
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant, filled, takes_one_product
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.lined import FURTHEST
from codegen.kernels.sizes import PixelSizes
from codegen.kernels.weighted import FOLDED, Weighted, weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record

Node = NodeOf[Conv2D | Dense]

_DSP, _WIDE = frozenset({"dsp"}), frozenset({"wide"})
_MOST_PIXELS = 3
_WORD = 4
_FEW = {4: "few", 2: "two"}
"""Names of panels on weights of few bits."""
LETTERS = {0: "", 4: "q", 2: "t"}
"""What names of their functions have."""
_HEAD_WORDS, _ALONE_WORDS = 5, 3
"""Biases and factors: words of two channels, and of one without a partner."""
_MOST_STRAIGHT = 32
"""Bytes that are widened without a loop."""
_STRAIGHT_PIECES = range(8, 17)
"""The same of each piece of a column; of shorter ones compilers unroll the loop over kernel rows, for more code."""
_TURN = 16
"""Bytes of a turn of what widens the bytes that pixels share."""
_LARGE_COLUMNS = 1536
"""Bytes of three columns from which on they are made one kernel row at a time, which costs one product in thirty.

Where the plan has the bytes to spare they are made whole all the same (`roomier`).
"""


@record
class PanelContext(PixelSizes):
    """Literals of one layer: `groups` of four values a product, `piece` bytes in each piece of a column.

    `shifted`: weights are bytes less a shift, and sums have the shift times the sum of their pixel's column.  `bits`:
    they are fields of few bits, which are likewise half of what these hold more, or 0; `own`: channels have zero points
    of their own.
    `odd_at`: where the weights of a channel without a partner begin, in words; 0 where there is none.
    """

    widen: str
    y_t: str
    c_out: int
    groups: int
    piece: int
    width: int
    wide: bool
    shifted: bool
    bits: int
    own: bool
    odd_at: int
    rq: FastRequant

    @property
    def told(self) -> Told:
        """Where pixels and weights lie, and how many values are multiplied: the panels take that from a record.

        Bytes of a number that is known are widened in as many instructions less.
        """
        return Told(("c_out", "groups", "piece", "odd_at"), row=20.0 * self.width)

    @property
    def limited(self) -> bool:
        """Whether outputs of its assembly have bounds of their own."""
        return self.rq.saturate == "limited"

    @property
    def kind(self) -> str:
        """Which panels it has beyond the usual ones."""
        kinds = (_FEW.get(self.bits, ""), "shifted" if self.shifted else "", "limited" if self.limited else "")
        return "_".join(filter(None, kinds))

    @property
    def shares(self) -> str:
        """What the sum of a pixel's column is multiplied by before it is added to its sums; empty where it is not."""
        if self.bits:
            return "1" if self.own else str(-(1 << (self.bits - 1)))
        return "w_shift[0]" if self.shifted else ""

    @property
    def odd_words(self) -> str:
        """What a channel without a partner is told of how its weights lie."""
        return f"{int(self.own)}, " if self.bits else "" if self.shifted else f"{int(self.wide)}, "

    @property
    def headers(self) -> tuple[str, ...]:
        """What it calls besides the kernel's."""
        if self.kind:
            shares = ("lam_armv7em_panel_few.h",) if self.bits else ()
            return (f"lam_armv7em_panel_{self.kind}.h", *shares)
        return ("lam_armv7em_panel_wide.h",) if self.wide else ()

    def panels_mix(self, pixels: int) -> Mix:
        """What the panels of so many pixels in a call take, with columns that read no padding."""
        panels = ((self.panel(p).channels(self.c_out) + self.columns(p), n) for p, n in cut(pixels))
        return sum((each.times(n) for each, n in panels), Mix())

    def panel(self, pixels: int) -> Panel:
        """What one of so many pixels is, as far as its instructions go."""
        form = self.rq.form or "tflite"
        return Panel(pixels, self.groups, self.wide, self.shifted, form, self.rq.saturate, self.bits, self.own)

    def columns(self, pixels: int) -> Mix:
        """What makes those of a panel."""
        return spread_mix(self.piece).times(pixels)

    @property
    def suffix(self) -> str:
        """What names of panels have behind their pixels."""
        tail = "_shifted" if self.shifted else "_own" if self.own else ""
        return f"{self.letter}_{self.rq.form}_{self.rq.saturate}{tail}"

    @property
    def letter(self) -> str:
        """What names of panels have for other weights than bytes."""
        return "w" if self.wide else LETTERS[self.bits]

    @property
    def shared_in(self) -> str:
        """Where its record has what is added to sums."""
        return "panel.shifted" if self.bits and self.limited else "panel"


@record
class WordPart:
    """What a word of a column has of a row: the word from byte `at` on, moved by whole bytes as C says it."""

    row: int
    at: int
    moved: str = ""


@record
class WindowPanelContext(PanelContext):
    """A convolution with a window: `pieces` of `taps` taps in a kernel row; columns [left, right) read no padding.

    `joined`: bytes of a column whose pieces are put together before they are widened, or 0.  `by_row`: columns hold one
    kernel row at a time, and sums of all channels wait in scratch for the next one.
    """

    kernel_h: int
    pieces: int
    taps: int
    stride: int
    dilation: int
    pad: int
    c_in: int
    w_in: int
    left: int
    right: int
    joined: int
    by_row: bool

    @property
    def told(self) -> Told:
        """Nothing: what a window reads is widened in straight code."""
        return Told((), 0.0)

    @property
    def has_edges(self) -> bool:
        """Whether a piece may reach over an end of its row."""
        return self.left > 0 or self.right < self.width

    @property
    def threes(self) -> int:
        """Pixels that are made three at a time; the others are made two at a time, but in rows of one."""
        return 0 if self.width == 1 else self.width - (0, 4, 2)[self.width % 3]

    @property
    def has_twos(self) -> bool:
        """Whether some pixels are made two at a time."""
        return self.threes < self.width > 1

    @property
    def most(self) -> int:
        """Pixels of the largest panel."""
        return _MOST_PIXELS if self.threes else min(2, self.width)

    @property
    def depth(self) -> int:
        """Kernel rows in a column."""
        return 1 if self.by_row else self.kernel_h

    @property
    def column_words(self) -> int:
        """Words of scratch for the columns of a panel; sums, or else bytes of a piece, lie behind them."""
        return 2 * self.most * self.groups

    @property
    def sums_words(self) -> int:
        """Words of scratch for the sums that wait."""
        return self.most * self.c_even if self.by_row else 0

    @property
    def bytes_at(self) -> int:
        """Words of scratch before the bytes that are put together."""
        return self.column_words + self.sums_words

    @property
    def pass_words(self) -> int:
        """Words of weights for one kernel row."""
        return self.c_even // 2 * words_of(2 * self.groups, self.bits, wide=self.wide)

    def spread_at(self, piece: int, pixels: int) -> int:
        """Words from the first piece of a column to another."""
        return piece * -(-self.piece // 4) * 2 * pixels

    @property
    def spread_bytes(self) -> int:
        """Bytes that are widened at a time."""
        return self.joined or self.piece

    @property
    def straight(self) -> bool:
        """Whether what is widened at a time is too short for a loop and a call."""
        return self.joined <= _MOST_STRAIGHT if self.joined else self.piece in _STRAIGHT_PIECES

    @property
    def in_words(self) -> bool:
        """Whether a column that is put together is made in registers, word by word, where it reads no padding."""
        bare = not self.has_edges or self.left < self.right
        return bare and self.straight and self.joined > 0 and self.pieces == 1 and self.piece >= _WORD

    @property
    def words(self) -> tuple[tuple[WordPart, ...], ...]:
        """What each word of such a column has; of a word that ends behind the last byte, anything."""
        return tuple(self._parts(at) for at in range(0, self.joined, _WORD))

    def _parts(self, at: int) -> tuple[WordPart, ...]:
        row, inside = divmod(at, self.piece)
        here = self.piece - inside
        if here >= _WORD:
            return (WordPart(row, inside),)
        end = WordPart(row, self.piece - _WORD, f">> {8 * (_WORD - here)}")
        return (end,) if row + 1 == self.kernel_h else (end, WordPart(row + 1, 0, f"<< {8 * here}"))

    def word_at(self, index: int, pixels: int) -> int:
        """The place of a word's first pair in a column."""
        return 2 * pixels * index

    @property
    def edge_bytes(self) -> int:
        """Bytes of scratch for a column that is put together there, or for a piece that may read padding."""
        if self.has_edges:
            return self.joined or self.piece
        return 0 if self.in_words else self.joined

    @property
    def step(self) -> int:
        """Bytes from where one pixel's piece of a row begins to the next one's."""
        return self.stride * self.c_in

    @property
    def shared(self) -> bool:
        """Whether bytes that three pixels have in common are widened once: whole sixteens, most of them common."""
        whole = self.step % _TURN == 0 and self.piece % _TURN == 0 and 2 * self.step <= self.piece
        return whole and self.pieces == 1 and not self.joined and self.left <= self.last_three

    @property
    def last_three(self) -> int:
        """The last pixel from which on three read no padding."""
        return self.right - 3

    @property
    def mix(self) -> Mix:
        """What a row takes."""
        edges = edge_mix(self.piece).times(self.kernel_h * self.pieces * (self.width - (self.right - self.left)))
        if not self.by_row:
            return self.panels_mix(self.width) + edges
        rows = self.kernel_h
        panels = (
            (self.panel(pixels).waiting(self.c_out, rows) + self.columns(pixels).times(rows)).times(n)
            for pixels, n in cut(self.width)
        )
        return sum(panels, edges)

    def columns(self, pixels: int) -> Mix:
        """What makes those of a panel, where they read no padding."""
        if self.in_words:
            return joined_mix(len(self.words), sum(map(len, self.words))).times(pixels)
        if pixels == _MOST_PIXELS and self.shared:
            return shared_mix(self.piece, self.step).times(self.depth)
        copied = Mix(other=6, load=0.25 * self.piece, store=0.25 * self.piece) if self.joined else Mix()
        pieces = self.depth * self.pieces
        if self.joined:
            return (copied.times(pieces) + spread_mix(self.joined, straight=self.straight)).times(pixels)
        return spread_mix(self.piece, straight=self.straight).times(pieces * pixels)

    @property
    def row_bytes(self) -> int:
        """Bytes of a kernel row's pieces."""
        return self.pieces * self.piece

    def sums_of(self, pixels: int, channels: int) -> int:
        """Sums of so many pixels by so many channels."""
        return pixels * channels

    def sum_at(self, pixels: int, pixel: int, channel: int) -> int:
        """The place of a sum: channel by channel, the pixels of each."""
        return channel * pixels + pixel


def _sums(node: Node) -> tuple[Weighted, FastRequant] | None:
    """The node's sums, and how they are requantized; None where panels do not serve them."""
    sums = weighted(node, apart=True)
    if sums is None or not sums.of_bytes(shifted=True) or node.op.requant is None:
        return None
    if sums.bits and not sums.fits_unsigned(sums.bits, FURTHEST):
        return None
    takes = takes_one_product(node.op.requant, sums.reach)
    return (sums, fast_requant(node.op.requant, sums.reach)) if takes else None


def assembly_sums(node: Node, *, wide: bool = False, few: bool = False) -> InBytes | None:
    """The same, requantized in assembly; `few`: weights may have few bits."""
    found = _sums(node)
    return _in_assembly(*found, wide=wide) if found and (few or not found[0].bits) else None


def _in_assembly(sums: Weighted, rq: FastRequant, *, wide: bool) -> InBytes | None:
    """The form of the panels' own assembly, a line where there is one; None of shifts beside bounds of their own."""
    found = in_bytes(sums, rq)
    if found.limits and _is_shifted(sums, wide=wide):
        return None
    own = replace(found.rq, form="tflite") if found.rq.form == "low" else found.rq
    return replace(found, rq=with_line(found.sums, own, last_pair(len(sums.weights))))


def _is_shifted(sums: Weighted, *, wide: bool) -> bool:
    """Whether weights are stored as so much less."""
    return not wide and sums.shift is not None


def _is_widened(node: Node, wide: bool) -> bool:
    """Whether weights have 16 bits where that is asked for: those of few bits stay packed."""
    return wide and not node.ins[1].bits


def last_pair(channels: int) -> int:
    """The first channel of the last two."""
    return channels // 2 * 2 - 2


def _fit_pointwise(node: Node, wide: bool) -> Fit | None:
    wide = _is_widened(node, wide)
    found = assembly_sums(node, wide=wide, few=True)
    if found is None or not is_pointwise(node.op):
        return None
    sums, rq = found.sums, found.rq
    y, piece = node.outs[0], node.ins[0].shape[-1]
    groups, width = -(-piece // 4), row_pixels(y.shape)
    odd_at = _odd_at(y.shape[-1], _stored_words(sums, 2 * groups, wide=wide))
    kind = _weights_kind(sums, wide=wide)
    k = PanelContext(sums.x.value, y.dtype.ctype, y.shape[-1], groups, piece, width, *kind, odd_at, rq)
    columns = Scratch("columns", 8 * _MOST_PIXELS * groups, least=8 * _at_a_time(width) * groups)
    weights = stream(sums, rq, groups=groups, pieces=1, wide=wide)
    params = (weights, _range(sums.op.requant), *found.limits, *(sums.shift_fields() if k.shifted else ()))
    pixels = y.elements // k.c_out  # all in one call; one alone is for dense kernels of bytes, whose code is shorter
    mix = k.panels_mix(pixels).times(width / pixels) if pixels > 1 or k.bits else None
    why = _why(node, k, 4 * groups) + sums.said
    return Fit(k, params, (columns,), why, headers=k.headers, mix=mix, in_place=True)


def _at_a_time(width: int) -> int:
    """Pixels that are made at a time in rows of so many: 4 are 2 and 2."""
    return min(width, 2 if width == 4 else _MOST_PIXELS)


def _fit_window(node: NodeOf[Conv2D], wide: bool, *, whole: bool = False) -> Fit | None:
    """Of large columns one kernel row at a time; or, of those alone, with `whole` columns."""
    wide = _is_widened(node, wide)
    found = _sums(node)
    if found is None or node.op.groups != 1 or is_pointwise(node.op) or (whole and not _is_large(node)):
        return None
    by_row = not whole and _is_large(node)
    bytes_ = _by_row(*found, wide=wide) if by_row else _in_assembly(*found, wide=wide)
    if bytes_ is None:
        return None
    sums, rq = bytes_.sums, bytes_.rq
    k = _window_context(node, sums, rq, wide, by_row=by_row)
    piece = Scratch("edge", k.edge_bytes)
    headers = (*(("lam_gather.h",) if k.has_edges else ()), *(("lam_armv7em.h",) if k.in_words else ()))
    zero = sums.zero_fields(padded=k.has_edges)
    scratch = (Scratch("columns", 4 * k.column_words), Scratch("sums", 4 * k.sums_words), piece)
    why = _why(node, k, 4 * k.groups * (k.kernel_h if k.by_row else 1)) + sums.said
    if k.by_row:
        own = (*headers, *k.headers, *k.rq.headers)
        return Fit(k, (*_by_row_params(sums, k), *zero), scratch, why, headers=own, mix=k.mix)
    pieces = 1 if k.joined else k.kernel_h * k.pieces
    weights = stream(sums, rq, groups=k.groups, pieces=pieces, wide=wide)
    params = (weights, _range(sums.op.requant), *bytes_.limits, *(sums.shift_fields() if k.shifted else ()), *zero)
    # few bytes are copied and widened as the compiler likes: what that takes is not known well enough, but for one
    # output alone, whose products are made in C from weights of few bits
    known = not (k.joined or k.piece < _TURN or k.c_out < _TURN) or (k.bits > 0 and k.c_out == 1)
    mix = k.mix if known else None
    return Fit(k, params, scratch, why, headers=(*headers, *k.headers), mix=mix)


def _by_row(sums: Weighted, rq: FastRequant, *, wide: bool) -> InBytes | None:
    """The form of sums that wait, which are requantized in C; None of shifts."""
    return None if _is_shifted(sums, wide=wide) else InBytes(sums, rq)


def _is_large(node: NodeOf[Conv2D]) -> bool:
    pieces = 1 if node.op.w.dilation == 1 else node.op.w.size
    groups = pieces * -(-(node.op.w.size // pieces) * node.ins[0].shape[3] // 4)
    # of few bits each part is summed as well
    pixels = _at_a_time(node.outs[0].shape[2]) if node.ins[1].bits else _MOST_PIXELS
    return node.op.h.size > 1 and 8 * pixels * node.op.h.size * groups > _LARGE_COLUMNS


def _window_context(
    node: NodeOf[Conv2D], sums: Weighted, rq: FastRequant, wide: bool, *, by_row: bool
) -> WindowPanelContext:
    op, x, y = node.op, node.ins[0], node.outs[0]
    left, right = inner_columns(op.w, x.shape[2], y.shape[2])
    together, channels = op.w.dilation == 1, x.shape[3]
    taps, pieces = (op.w.size, 1) if together else (1, op.w.size)
    apart = op.h.size * pieces * -(-taps * channels // 4)
    whole = op.h.size * op.w.size * channels
    joined = whole if not by_row and -(-whole // 4) < apart else 0
    groups = apart // op.h.size if by_row else -(-whole // 4) if joined else apart
    odd_at = 0 if by_row else _odd_at(y.shape[3], _stored_words(sums, 2 * groups, wide=wide))
    return WindowPanelContext(
        *(sums.x.value, y.dtype.ctype, y.shape[3], groups, taps * channels, y.shape[2]),
        *(*_weights_kind(sums, wide=wide), odd_at, rq),
        kernel_h=op.h.size,
        pieces=pieces,
        taps=taps,
        stride=op.w.stride,
        dilation=op.w.dilation,
        pad=op.w.pad_before,
        c_in=channels,
        w_in=x.shape[2],
        left=left,
        right=right,
        joined=joined,
        by_row=by_row,
    )


def _weights_kind(sums: Weighted, *, wide: bool) -> tuple[bool, bool, int, bool]:
    """Whether weights are widened, or stored as so much less; their few bits; and whether zero points are their own."""
    return wide, _is_shifted(sums, wide=wide), sums.bits, sums.less is not None


def _stored_words(sums: Weighted, groups: int, *, wide: bool) -> int:
    """Words of so many groups of a stream, with what says of their own zero points."""
    return words_of(groups, sums.bits, wide=wide) + (sums.less is not None)


def _odd_at(channels: int, pair: int) -> int:
    """Where a channel without a partner begins, where the weights of two are so many words."""
    return channels // 2 * (_HEAD_WORDS + pair) if channels % 2 else 0


def _range(requant: Requant | None) -> Field:
    assert requant is not None, "panels requantize"
    return range_field(requant.zero_point, requant.low, requant.high, saturates=True)


def stream(sums: Weighted, rq: FastRequant, *, groups: int, pieces: int, wide: bool) -> Field:
    """Params `weights`: biases, weights, multipliers and shifts, in the order in which a panel reads them."""
    pairs, odd = divmod(len(sums.weights), 2)
    pair, alone = (_stored_words(sums, n * groups, wide=wide) for n in (2, 1))
    size = pairs * (_HEAD_WORDS + pair) + odd * (_ALONE_WORDS + alone)
    about = f"with biases and factors, in the order of {_order(sums)}"
    return Field.later("weights", np.uint32, size, lambda: _streamed(sums, rq, pieces, wide=wide), about)


def _order(sums: Weighted) -> str:
    """The header that says how weights lie."""
    return f"lam_armv7em_panel{'_few' if sums.bits else ''}.h"


def _streamed(sums: Weighted, rq: FastRequant, pieces: int, *, wide: bool) -> Array:
    count = len(sums.weights)
    found, paired = factors_of(sums, rq, last_pair(count)), count // 2 * 2
    parts = []
    for together, channels in ((2, slice(paired)), (1, slice(paired, None))):
        own = Factors(found.bias[channels], found.multiplier[channels], found.place[channels])
        if len(own.bias):
            words = _words(sums, channels, pieces, together, wide=wide)
            parts.append(_together(words, own, together, lined=rq.form == "lined"))
    return np.concatenate(parts)


def _words(sums: Weighted, channels: slice, pieces: int, together: int, *, wide: bool) -> Array:
    """The weights of channels as words, uint32 [turns, words], behind what says of their own zero points."""
    stored = sums.weights if wide else sums.shifted_weights()
    words = _plain_words(sums, stored.reshape(len(stored), -1)[channels], pieces, together, wide=wide)
    if sums.less is None:
        return words
    more = sums.less[channels].astype(np.int64).reshape(-1, together) - (1 << (sums.bits - 1))
    own = ((more & 0xFFFF) << 16 * np.arange(together)).sum(axis=1, keepdims=True)
    return np.concatenate((own.astype(np.uint32), words), axis=1)


def _plain_words(sums: Weighted, rows: Array, pieces: int, together: int, *, wide: bool) -> Array:
    """Weights [channels, taps] of a layer as words, uint32 [turns, words]."""
    if sums.bits:
        return few_words(rows, pieces, together, sums.bits)
    return panel_words(rows, pieces, together, wide=wide)


def _together(words: Array, own: Factors, together: int, *, lined: bool) -> Array:
    heads = own.bias.view(np.uint32).reshape(len(words), together)
    return np.concatenate((heads, words, factor_words(own, together, lined=lined)), axis=1).reshape(-1)


def factor_words(own: Factors, together: int, *, lined: bool) -> Array:
    """Multipliers and shifts of channels `together` at a time, uint32 [turns, words].

    Of pairs the last one says so: its addend is odd, or a bit stands above shifts.
    """
    multipliers = own.multiplier.reshape(-1, together)
    wide, mask = (16, 0xFFFF if together == 2 else 0xFFFFFFFF) if lined else (8, 0xFF)
    places = own.place.astype(np.int64).reshape(-1, together) & mask
    joined = (places << (wide * np.arange(together))).sum(axis=1, keepdims=True).astype(np.uint32)
    if together == 2 and not lined:
        joined[-1] |= np.uint32(1 << 31)
    return np.concatenate((multipliers, joined), axis=1)


def _by_row_params(sums: Weighted, k: WindowPanelContext) -> tuple[Field, ...]:
    def words() -> Array:
        stored = sums.weights if sums.less is None else sums.shifted_weights()
        rows = filled(stored, k.c_even).reshape(k.c_even, k.kernel_h, -1)
        passes = [_plain_words(sums, rows[:, i], k.pieces, 2, wide=k.wide) for i in range(k.kernel_h)]
        return np.concatenate(passes).reshape(-1)

    return (
        Field.later("weights", np.uint32, k.kernel_h * k.pass_words, words, f"in the order of {_order(sums)}"),
        Field.later("bias", np.int32, k.c_even, lambda: filled(sums.folded, k.c_even), FOLDED),
        *(shift_fields(sums, sums.bits, k.c_even, wide=False) if k.own else ()),
        *fast_fields(sums.op.requant, sums.reach, k.c_even),
    )


def _why(node: Node, k: PanelContext, values: int) -> str:
    waste = values - sums_taps(node)
    filled_up = f", {waste} of {values} values of a column are filling" if waste else ""
    by_row = ", a kernel row at a time" if isinstance(k, WindowPanelContext) and k.by_row else ""
    wider = ", weights widened at compile time" if k.wide else ""
    pixels = min(_MOST_PIXELS, k.width)
    return f"{pixels} pixels x 2 channels, SMLAD on inputs widened once per pixel{by_row}{filled_up}{wider}"


def sums_taps(node: Node) -> int:
    """Products of one output."""
    weights = node.ins[1]
    return weights.elements // weights.shape[0]


def panels(*, wide: bool) -> tuple[Kernel[Conv2D | Dense], Kernel[Conv2D]]:
    """The kernels on weights of 8 bits, or (`wide`) of 16."""
    tail = "_wide" if wide else ""
    headers = ("lam_armv7em_panel.h",)
    chips = (_DSP | _WIDE, frozenset[str]()) if wide else (_DSP, _WIDE)
    pointwise: Kernel[Conv2D | Dense] = Kernel(
        f"dsp_panels{tail}",
        "dsp/panels.c.j2",
        "pixels",
        (Conv2D, Dense),
        lambda node: _fit_pointwise(node, wide),
        *chips,
        headers=headers,
    )
    window: Kernel[Conv2D] = Kernel(
        f"dsp_window_panels{tail}",
        "dsp/window_panels.c.j2",
        "row",
        (Conv2D,),
        lambda node: _fit_window(node, wide),
        *chips,
        headers=headers,
        roomier=lambda node: _fit_window(node, wide, whole=True),
    )
    return pointwise, window
