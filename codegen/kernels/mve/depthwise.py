"""Depthwise convolution: rows are interleaved so that a window of one channel is one vector: one product per output.

The form, its buffer and its packed stream: runtime_c/isa/mve/lam_mve_depthwise.h.  Windows of up to four words of four
kernel rows each (3x3, 4x4, 8x2, 16x1 and all smaller ones) keep their weights in registers.  For larger ones the
weights of four channels are spread in scratch first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, Requant
from codegen.kernels.column import has_column
from codegen.kernels.common import range_field
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.mve import common
from codegen.kernels.mve.depthwise_mix import depthwise_mix
from codegen.kernels.packed import nibbles
from codegen.kernels.weighted import STORED_LESS, Weighted, few_said, signed_bias, signed_zero
from codegen.ops import Conv2D
from codegen.records import record

_GROUP = 16
_COLUMN_BYTES = _GROUP * 4
_PLANE_ROWS = 4
_WORDS = 4
_VECTOR_BYTES = 64
_TILE_COLUMNS = 16
_MOST_BYTES = 4096
_MOST_TAPS = 255
_NEAR_STRIDE = 2
_LONGEST_SUM = 4095
_MOST_SHIFTED = 127
"""The most that is added to each weight: it is a factor of 8 bits itself."""


@record(kw_only=True)
class MveDepthwiseContext(common.MveContext):
    """Literals of one layer; `tile` output pixels are made from `columns` interleaved ones.

    `own`: weights of few bits have zero points of their own.  `shifted`: weights are bytes and a shift for all of
    them, by which windows are multiplied besides.  `column`: the taps of a map of one column, of which a call makes
    `tile` rows as one row; a word holds a channel of as many rows from one on.
    """

    channels: int
    w_out: int
    few: bool
    own: bool
    shifted: bool
    column: int = 0

    @property
    def planes(self) -> int:
        """Buffers of four rows."""
        return -(-self.kernel_h // _PLANE_ROWS)

    @property
    def extent(self) -> int:
        """Input columns of one window."""
        return self.starts[-1] + 1

    @property
    def starts(self) -> tuple[int, ...]:
        """The column of each word of four rows; those of a map of one column end with its taps."""
        if self.column:
            return column_starts(self.column)
        return tuple(j * self.dilation for j in range(self.kernel_w))

    @property
    def columns(self) -> int:
        """Input columns of one tile."""
        return (self.tile - 1) * self.stride + self.extent

    @property
    def plane_bytes(self) -> int:
        """Bytes of one buffer."""
        return self.columns * _COLUMN_BYTES

    @property
    def expanded_at(self) -> int:
        """Where scratch has spread weights: behind the buffers."""
        return self.planes * self.plane_bytes

    @property
    def taps(self) -> int:
        """Weights per channel."""
        return self.column or self.kernel_h * self.kernel_w

    @property
    def block_words(self) -> int:
        """Words of the packed stream per four channels."""
        return self.weights_at + self.record

    @property
    def weights_at(self) -> int:
        """Words of a block before its weights."""
        return self.head + (1 if self.own else 0)

    @property
    def record(self) -> int:
        """Bytes of a channel's weights."""
        return -(-self.taps // 2) if self.few else self.taps

    @property
    def lift(self) -> int:
        """By how much sums are shifted to the left before they are requantized in `single`."""
        return common.LIFT if self.few and self.vectors == 1 else 0

    def places_of(self, taps: tuple[int, ...]) -> tuple[int, ...]:
        """Where each byte of a window finds its weight, in bytes; of few bits, by what it is shifted then."""
        found = tuple(max(tap, 0) for tap in taps)
        return (*(tap // 2 for tap in found), *(0 if tap % 2 else 4 for tap in found)) if self.few else found

    @property
    def group(self) -> int:
        """Channels that are interleaved at a time."""
        return min(_GROUP, self.channels)

    @property
    def whole(self) -> int:
        """Channels of whole blocks."""
        return self.channels - self.rest

    @property
    def beyond_groups(self) -> int:
        """Channels of whole blocks behind the last whole group."""
        return self.whole % _GROUP

    @property
    def groups_are_even(self) -> bool:
        """Whether the channels are a number of whole groups."""
        return self.channels % _GROUP == 0

    @property
    def partial_at(self) -> int:
        """Where a buffer has the first column of the partial block."""
        return self.beyond_groups * _PLANE_ROWS

    @property
    def overhang(self) -> int:
        """Columns of a tile less those of the row."""
        return self.columns - self.w_in

    @property
    def has_borders(self) -> bool:
        """Whether a tile has columns before the row or behind it."""
        last = (-(-self.w_out // self.tile) - 1) * self.tile * self.stride - self.pad
        return self.pad > 0 or last + self.overhang > 0

    @property
    def x_step(self) -> int:
        """Bytes of a buffer from one output pixel to the next."""
        return _COLUMN_BYTES * self.stride

    @property
    def step(self) -> str:
        """The stride as lam_mve_depthwise.h spells it."""
        return str(self.stride) if self.stride <= _NEAR_STRIDE else "N"

    @property
    def last(self) -> int:
        """Whether the pixels of a tile are odd; 2 where that is not known, or where there is one alone."""
        return self.tile % 2 if self.tiles_are_even and self.tile > 1 else 2

    @property
    def tile_bytes(self) -> int:
        """Outputs of a tile."""
        return self.tile * self.channels

    def plane_at(self, plane: int) -> int:
        """Where a buffer begins."""
        return plane * self.plane_bytes

    def rows_of(self, plane: int) -> tuple[int, ...]:
        """The kernel rows of a buffer; where there are fewer than four the last one again."""
        first = plane * _PLANE_ROWS
        return tuple(min(i, self.kernel_h - 1) for i in range(first, first + _PLANE_ROWS))

    def has_four(self, plane: int) -> bool:
        """Whether a buffer holds four kernel rows."""
        return self.kernel_h >= (plane + 1) * _PLANE_ROWS

    def words_of(self, channels: int) -> int:
        """Words of the stream for so many channels of whole blocks."""
        return channels // common.LANES * self.block_words

    @property
    def tiles_are_even(self) -> bool:
        """Whether a row is a number of whole tiles."""
        return self.w_out % self.tile == 0

    @property
    def rest(self) -> int:
        """Channels of the last, partial block of four."""
        return self.channels % common.LANES

    @property
    def vectors(self) -> int:
        """Vectors of four words per window."""
        return window_vectors(self.kernel_h, self.kernel_w)

    @property
    def products(self) -> int:
        """Vectors that a loop multiplies per window: where there is a shift, each once more."""
        return 2 * self.vectors if self.shifted else self.vectors

    @property
    def places(self) -> tuple[int, ...]:
        """Where each word of those lies."""
        return self.offsets * (self.products // self.vectors)

    @property
    def expanded_bytes(self) -> int:
        """What the spread weights of four channels take."""
        return _VECTOR_BYTES * self.vectors

    @property
    def expanded_parts(self) -> int:
        """Of 16 bytes each, of four channels in turn."""
        return 4 * self.vectors

    @property
    def kind(self) -> str:
        """What is behind the names of functions for its weights."""
        return "_zeros" if self.own else "_s4" if self.few else "_shifted" if self.shifted else ""

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where each word of a window lies; a word without weights is the first one again."""
        places = [
            plane * self.plane_bytes + start * _COLUMN_BYTES for plane in range(self.planes) for start in self.starts
        ]
        return tuple(places + [0] * (_WORDS * self.vectors - len(places)))

    @property
    def order(self) -> tuple[tuple[int, ...], ...]:
        """By vector, the number of the weight of each byte of a window, -1 where there is none."""
        return tuple(tuple(self._tap(16 * v + i) for i in range(16)) for v in range(self.vectors))

    @property
    def masks(self) -> tuple[int, ...]:
        """By vector, bit i: byte i has a weight."""
        return tuple(sum(1 << i for i, tap in enumerate(taps) if tap >= 0) for taps in self.order)

    def _tap(self, byte: int) -> int:
        word, row = divmod(byte, _PLANE_ROWS)
        if self.column:
            return self._column_tap(word, row)
        plane, j = divmod(word, self.kernel_w)
        i = plane * _PLANE_ROWS + row
        return i * self.kernel_w + j if i < self.kernel_h else -1

    def _column_tap(self, word: int, row: int) -> int:
        """The same of a map of one column; a tap that two words have counts in the first one."""
        tap = self.starts[word] + row if word < len(self.starts) else self.column
        return tap if _PLANE_ROWS * word <= tap < self.column else -1


def column_starts(taps: int) -> tuple[int, ...]:
    """The first tap of each word of a window of one column: the last word ends with the last tap."""
    return tuple(min(first, max(taps - _PLANE_ROWS, 0)) for first in range(0, taps, _PLANE_ROWS))


def window_vectors(rows: int, columns: int) -> int:
    """Vectors of four words of a window, whose columns are words of four rows each."""
    return -(-(-(-rows // _PLANE_ROWS) * columns) // _WORDS)


def _tile(w_out: int, stride: int, extent: int) -> int:
    """Output pixels per tile: tiles as equal as can be, of 16 columns if the window is no wider."""
    most = max(1, (_TILE_COLUMNS - extent) // stride + 1)
    return -(-w_out // -(-w_out // most))


def _fit(node: NodeOf[Conv2D]) -> Fit | None:
    if not node.op.groups == node.ins[0].shape[3] == node.outs[0].shape[3]:
        return None
    sums, few = _sums(node)
    if sums is None or (requant := sums.op.requant) is None:
        return None
    return _fitted(sums, requant, _context(node, sums, requant, few=few))


def _fit_column(node: NodeOf[Conv2D], rows: int) -> Fit | None:
    """With so many rows of a map of one column in a call."""
    sums, few = _sums(node) if has_column(node) else (None, False)
    if sums is None or (requant := sums.op.requant) is None:
        return None
    h = node.op.h
    starts = column_starts(h.size)
    k = replace(
        _context(node, sums, requant, few=few),
        column=h.size,
        kernel_h=min(h.size, _PLANE_ROWS),
        kernel_w=len(starts),
        stride=h.stride,
        w_in=(rows - 1) * h.stride + starts[-1] + 1,
        w_out=rows,
        tile=rows,
    )
    return _fitted(sums, requant, k)


def _fitted(sums: Weighted, requant: Requant, k: MveDepthwiseContext) -> Fit | None:
    scratch = (
        Scratch("planes", k.expanded_at),
        Scratch("weights", _VECTOR_BYTES * k.products if k.vectors > 1 else 0),
    )
    if k.taps > _MOST_TAPS or k.channels > _LONGEST_SUM or sum(part.bytes for part in scratch) > _MOST_BYTES:
        return None
    why = f"Helium, {k.products} vector products per output; {k.columns} columns interleaved for {k.tile} outputs"
    headers = (*(("lam_mve_window.h",) if k.has_borders else ()), *_more_headers(k))
    return Fit(k, _params(sums, requant, k), scratch, why + _said(k), headers=headers, mix=depthwise_mix(k))


def _said(k: MveDepthwiseContext) -> str:
    """What is said of other weights than bytes."""
    if k.few:
        return f", {few_said(4, own=k.own)}"
    return ", weights with a shift" if k.shifted else ""


def _more_headers(k: MveDepthwiseContext) -> tuple[str, ...]:
    """The header of other weights than bytes that C calls functions of."""
    if k.few:
        return ("lam_mve_depthwise_zeros.h" if k.own else "lam_mve_depthwise_few.h",)
    return ("lam_mve_depthwise_shifted.h",) if k.shifted and k.vectors == 1 else ()


def _sums(node: NodeOf[Conv2D]) -> tuple[Weighted | None, bool]:
    """The sums, and whether their weights are packed: then they are lifted where the window is one vector."""
    if not node.ins[1].bits:
        sums = common.byte_sums(node)
        return (None if sums and (sums.shift or 0) > _MOST_SHIFTED else sums), False
    lift = common.LIFT if -(-node.op.h.size // _PLANE_ROWS) * node.op.w.size <= _WORDS else 0
    sums = common.byte_sums(node, lift)
    if sums is None or not sums.bits or sums.op.requant is None:
        return common.byte_sums(node), False
    if sums.reach << lift < 1 << 31 and common.lifts(sums.op.requant, lift):
        return sums, True
    return common.byte_sums(node), False


def _context(node: NodeOf[Conv2D], sums: Weighted, requant: Requant, *, few: bool) -> MveDepthwiseContext:
    op, x, y = node.op, node.ins[0], node.outs[0]
    return MveDepthwiseContext(
        mode=common.form_of(requant),
        each=requant.per_channel,
        head=common.head_words(requant),
        flip=0x80 if x.dtype is DType.U8 else 0,
        channels=x.shape[3],
        w_in=x.shape[2],
        w_out=y.shape[2],
        kernel_h=op.h.size,
        kernel_w=op.w.size,
        stride=op.w.stride,
        dilation=op.w.dilation,
        pad=op.w.pad_before,
        tile=_tile(y.shape[2], op.w.stride, op.w.extent),
        few=few,
        own=few and sums.less is not None,
        shifted=sums.shift is not None,
        bounds=common.bounds_of(y.dtype, requant),
    )


def _params(sums: Weighted, requant: Requant, k: MveDepthwiseContext) -> tuple[Field, ...]:
    def packed() -> Array:
        factors = common.lane_factors(requant, k.channels, k.lift) if requant.per_channel else None
        rows = (sums.shifted_weights() if k.few or k.shifted else sums.weights).reshape(k.channels, -1)
        records = common.padded(_in_twos(rows) if k.few else rows, common.LANES).reshape(-1, common.LANES * k.record)
        if sums.less is not None:
            added = common.padded(sums.less.astype(np.int8), common.LANES).reshape(-1, common.LANES)
            records = np.concatenate([added, records.view(np.int8)], axis=1)
        return common.packed_stream(signed_bias(sums), factors, records)

    return (
        Field.later("stream", np.int32, -(-k.channels // common.LANES) * k.block_words, packed),
        *_shift_fields(sums, k),
        *common.factor_fields(requant, k.lift),
        range_field(requant.zero_point, requant.low, requant.high),
        *((Field("zero", np.array([signed_zero(sums)], np.int32)),) if k.has_borders else ()),
    )


def _shift_fields(sums: Weighted, k: MveDepthwiseContext) -> tuple[Field, ...]:
    """Params `w_shift` where there is one, at each byte of a window that has a weight."""
    if not k.shifted:
        return ()
    shift = np.where(np.array(k.order) >= 0, np.int64(sums.shift or 0), 0).astype(np.int8)
    return (Field("w_shift", shift.reshape(-1), about=f"{STORED_LESS}; 0 where a window has none"),)


def _in_twos(rows: Array) -> Array:
    """Numbers of 4 bits of each row in bytes, the first of two in the lower bits."""
    return nibbles(common.padded(rows, 2, axis=1), axis=1)


DEPTHWISE = Kernel(
    "mve_depthwise",
    "mve/depthwise.c.j2",
    "row",
    (Conv2D,),
    _fit,
    common.MVE,
    headers=("lam_mve_depthwise.h",),
    column=_fit_column,
)
