"""Dense layers and convolutions with one group: dot products over 16 inputs, four output channels at a time.

Three forms, chosen by the number of instructions that they take (runtime_c/isa/mve/lam_mve_dense.h, lam_mve_columns.h):

    columns   one block of four channels after another, all pixels of a run for each, two at a time; up to 64 inputs
    pairs     two pixels at a time, one block after another for them
    vector    one pixel

Pointwise layers read their input where it lies.  For the others, for unsigned inputs, for odd numbers of inputs and
where rows of one pixel are made together (the output of one may lie over the input of the one before), the windows of a
few pixels are gathered in scratch first, which costs 3 instructions per 16 bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, Requant
from codegen.ir.shape import Window, row_pixels
from codegen.kernels.common import range_field
from codegen.kernels.conv2d import is_pointwise
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.mve.common import (
    CHUNK,
    LANES,
    LIFT,
    MVE,
    MveContext,
    bounds_of,
    byte_sums,
    factor_fields,
    fit,
    form_of,
    head_words,
    is_fast,
    lane_factors,
    lifts,
    packed_stream,
    padded,
)
from codegen.kernels.mve.dense_mix import dense_mix
from codegen.kernels.packed import nibbles
from codegen.kernels.weighted import Weighted, few_said, signed_bias, signed_zero
from codegen.ops import Conv2D, Dense
from codegen.records import record

_MOST_COLUMN_CHUNKS = 4
_TOTAL_BYTES = 4
_HALF = 8
"""Inputs that columns take without a copy, in 16 bits each, besides multiples of a vector."""
_LONGEST_STEP = 127
"""Bytes that a load may move its address on by."""
_LONGEST_SUM = 4095
"""Bytes that one addition may."""
_TILE_BYTES = 512
_TILE_PIXELS = 16
_BYTES_LIFT = 3
"""By how much sums are shifted to the left where weights of 4 bits become bytes, which have room for as much."""
_ONE = Window(1)
_EVEN_MORE = np.array([8, 0, 8, 0])
"""By how much more lower bits have a block's numbers than upper ones, where they have no sign."""


@record(kw_only=True)
class MveDenseContext(MveContext):
    """Literals of one layer: `inputs` per window, in `chunks` of 16; `run` output pixels per row.

    `shifted`: weights are bytes and a shift for all of them (lam_mve_shifted.h).

    `together`: rows are one pixel, and those of a call are made as one row of `run` at most.  `own`: weights of few
    bits are taken as ones with zero points of their own (lam_mve_zeros.h).  `raised`: columns need 8 times
    those, since factors are large.
    """

    form: str
    together: bool
    gathered: bool
    inputs: int
    c_in: int
    c_out: int
    by_pixels: bool
    run: int
    has_edges: bool
    few: bool
    own: bool
    raised: bool
    shifted: bool

    @property
    def costs(self) -> dict[str, float]:
        """Instructions per block for a row of pixels, by form."""
        few = self.few and not self.own
        return _costs(
            self.inputs, self.run, self.blocks, few=few, own=self.own, shifted=self.shifted, raised=self.raised
        )

    @property
    def chunks(self) -> int:
        """Vectors per window."""
        return -(-self.inputs // CHUNK)

    @property
    def block_words(self) -> int:
        """Words of the packed stream per block of channels."""
        return self.head + chunk_words(few=self.few) * self.chunks + (1 if self.own else 0)

    @property
    def lift(self) -> int:
        """By how much sums are shifted to the left before they are requantized in `single`."""
        if self.own and self.by_tiles:
            return _BYTES_LIFT if self.raised else 0
        return LIFT if self.few else 0

    @property
    def sums_inputs(self) -> bool:
        """Whether outputs add a number times the sum of a pixel's inputs, which the job has."""
        return (self.own or self.shifted) and not self.by_tiles

    @property
    def totals(self) -> int:
        """Bytes behind each window for the shift times its sum, where a call makes several pixels."""
        return _TOTAL_BYTES if self.shifted and self.by_tiles else 0

    @property
    def kind(self) -> str:
        """Which products of sums that add a number it has."""
        return "shifted" if self.shifted else "zeros"

    @property
    def unpacks(self) -> bool:
        """Whether a block's weights become bytes in scratch, behind the windows, before pixels are made."""
        return self.own and self.by_tiles and self.chunks > 1

    @property
    def unpacked_bytes(self) -> int:
        """What these take there."""
        return LANES * CHUNK * self.chunks if self.unpacks else 0

    @property
    def windows_bytes(self) -> int:
        """What the windows of a tile take in scratch."""
        return self.tile * self.x_step if self.gathered else 0

    @property
    def full_blocks(self) -> int:
        """Whole blocks of four channels."""
        return self.c_out // LANES

    @property
    def full(self) -> int:
        """Channels of whole blocks."""
        return self.full_blocks * LANES

    @property
    def blocks(self) -> int:
        """Blocks of the packed stream."""
        return -(-self.c_out // LANES)

    @property
    def x_step(self) -> int:
        """Bytes from the inputs of one pixel to those of the next: in scratch, or where they lie."""
        return self.chunks * CHUNK + self.totals if self.gathered else self.stride * self.c_in

    @property
    def paired(self) -> int:
        """Pixels of a row that are made two at a time."""
        return self.run // 2 * 2 if self.form == "pairs" else 0

    @property
    def unpaired(self) -> int:
        """The other ones."""
        return self.run - self.paired

    @property
    def vector_turn(self) -> int:
        """Chunks that the loop over one pixel's inputs takes at a time."""
        return _vector_turn(self.inputs)

    @property
    def last_column(self) -> int:
        """The last pixel of a row."""
        return self.run - 1

    @property
    def last_inside(self) -> int:
        """The last column at which a window without dilation lies inside the row."""
        return self.w_in - self.kernel_w

    @property
    def never_inside(self) -> bool:
        """Whether no column has one: windows are wider than the row."""
        return self.has_edges and self.last_inside < 0

    @property
    def leaves_row(self) -> bool:
        """Whether the last window without dilation lies wholly behind the row, and more."""
        return self.last_column * self.stride - self.pad > self.w_in

    @property
    def row_bytes(self) -> int:
        """Inputs of one kernel row without dilation."""
        return self.kernel_w * self.c_in

    @property
    def in_rows(self) -> bool:
        """Whether pairs read the kernel rows of a window where they lie."""
        whole = self.row_bytes % CHUNK == 0 and self.dilation == 1 and self.flip == 0 and self.kernel_h > 1
        looped = self.own or self.shifted or (not self.few and _turn(self.kernel_h, self.row_bytes // CHUNK) > 0)
        return self.form == "pairs" and self.gathered and not self.by_pixels and whole and looped

    @property
    def rows(self) -> int:
        """Rows of a window that a pair reads one after another."""
        return self.kernel_h if self.in_rows else 1

    @property
    def row_chunks(self) -> int:
        """Vectors of each."""
        return self.chunks // self.rows

    @property
    def row_inputs(self) -> int:
        """Inputs of each."""
        return self.inputs // self.rows

    @property
    def turn(self) -> int:
        """Vectors that a pair takes in a turn of its loop, where there is such a loop; else 0."""
        if self.own or self.shifted:
            return _own_turn(self.row_chunks)
        return 0 if self.few else _turn(self.rows, self.row_chunks)

    @property
    def slides(self) -> bool:
        """Whether there is a pair inside the row behind another one: its windows are the other's, further on."""
        return any(self.first_sliding <= column < self.end_sliding for column in range(0, self.paired, 2))

    @property
    def first_sliding(self) -> int:
        """The first column whose window and those of the two before it lie inside the row."""
        return self.first_inside + 2

    @property
    def end_sliding(self) -> int:
        """The column behind the last such one, with which the one after it lies inside too."""
        return self.end_inside - 1

    @property
    def table_places(self) -> int:
        """Pointers to the rows of two windows."""
        return 2 * self.kernel_h

    @property
    def gathers(self) -> bool:
        """Whether a window is ever copied to scratch."""
        copied = not self.in_rows or self.unpaired > 0
        return self.gathered and not self.by_pixels and (self.has_edges or (copied and not self.in_threes))

    @property
    def by_tiles(self) -> bool:
        """Whether a call makes several pixels of one block of channels after another."""
        return self.form == "columns"

    @property
    def column_inputs(self) -> int:
        """Inputs of a pixel as columns take them: where they lie, or padded in scratch."""
        return self.inputs if self.inputs == _HALF and not self.gathered else self.chunks * CHUNK

    @property
    def last(self) -> int:
        """Whether the pixels of a tile are odd; 2 where that is not known."""
        return self.tile % 2 if self.tiles_are_even else 2

    @property
    def has_short_rows(self) -> bool:
        """Whether a kernel row is one vector: a loop takes longer to begin."""
        return self.flip == 0 and self.row_bytes <= CHUNK

    @property
    def in_threes(self) -> bool:
        """Whether the windows of a tile are copied by three rows at a time (lam_mve_three_rows)."""
        if not self.by_tiles or not self.gathered or self.by_pixels or self.kernel_h != 3 or self.dilation > 1:
            return False
        fits = self.row_bytes + CHUNK <= self.x_step and self.step_bytes <= _LONGEST_STEP
        return self.row_bytes <= CHUNK and fits and self.first_inside < self.end_inside

    @property
    def step_bytes(self) -> int:
        """Input bytes from one window to the next."""
        return self.stride * self.c_in

    @property
    def read_by_pairs(self) -> int:
        """Input bytes from the windows of two pixels to those of the next two."""
        return 2 * self.step_bytes

    @property
    def first_inside(self) -> int:
        """The first column whose window lies inside the row."""
        return -(-self.pad // self.stride)

    @property
    def end_inside(self) -> int:
        """The column behind the last such one."""
        return (self.last_inside + self.pad) // self.stride + 1

    def words_of(self, blocks: int) -> int:
        """Words of so many blocks of the stream."""
        return blocks * self.block_words

    def read_by(self, pixels: int) -> int:
        """How far so many pixels go along the input where they read it."""
        return pixels * (self.inputs if self.gathered else self.x_step)

    def made_by(self, pixels: int) -> int:
        """Outputs of so many pixels."""
        return pixels * self.c_out

    @property
    def tiles_are_even(self) -> bool:
        """Whether a row is a number of whole tiles."""
        return not self.together and self.run % self.tile == 0

    @property
    def rest(self) -> int:
        """Channels of the last, partial block."""
        return self.c_out % LANES


def _turn(rows: int, chunks: int) -> int:
    """The loops that lam_mve_row_pairs has."""
    return next((turn for turn in ((4, 3) if rows == 1 else (6, 3)) if chunks % turn == 0), 0)


def _own_turn(chunks: int) -> int:
    """The same of lam_mve_zeros_pairs and lam_mve_shifted_pairs."""
    return next(turn for turn in range(6, 0, -1) if chunks % turn == 0)


def chunk_words(*, few: bool) -> int:
    """Words of the weights of 16 inputs and four channels, of 8 bits or (`few`) of 4."""
    return CHUNK * LANES // (8 if few else 4)


def _windows(op: Conv2D | Dense) -> tuple[Window, Window]:
    return (op.h, op.w) if isinstance(op, Conv2D) else (_ONE, _ONE)


def _is_point(op: Conv2D | Dense) -> bool:
    return all(w.size == 1 and w.pad_before == w.pad_after == 0 for w in _windows(op))


def _costs(
    inputs: int, pixels: int, blocks: int, *, few: bool, own: bool, shifted: bool, raised: bool
) -> dict[str, float]:
    """Instructions per block of four channels for a run of pixels, by form; counted in the assembly.

    `few`: weights of 4 bits.  `own`: of 4 bits with zero points of their own; as bytes but for what columns unpack and
    what the others add to sums, which are made once for all blocks; `raised`: columns raise bytes besides.
    `shifted`: of bytes and a shift, of which sums add what their pixels have.
    """
    chunks = -(-inputs // CHUNK)
    more = 8 if own else 2 if shifted else 0
    vector = (12 if few else 9 + 1 / _vector_turn(inputs)) * chunks + 20 + more
    vector += (3 * chunks + 10) / blocks if own else 0.0
    found = {"vector": pixels * vector}
    if pixels > 1:
        pair = 14.0 * chunks + 28 if own or shifted or _turn(1, chunks) else 15.0 * chunks + 33
        pair = 17.0 * chunks + 37 if few else pair
        pair += 3 if shifted else 15 if own else 0
        pair += (5 * chunks + 14) / blocks if own else 0
        found["pairs"] = pixels // 2 * pair + pixels % 2 * vector
        if chunks <= _MOST_COLUMN_CHUNKS:
            unpacked = (11 if chunks == 1 else 14 * chunks + 10) + 4 * raised * chunks if own else 0
            unpacked *= -(-pixels // _TILE_PIXELS)
            found["columns"] = _columns(chunks, pixels, few=few) + unpacked + (2 * pixels if shifted else 0)
    return found


def _columns(chunks: int, pixels: int, *, few: bool) -> float:
    """The same of columns."""
    if few:
        return 12 + pixels // 2 * (16 * chunks + 23) + pixels % 2 * (11 * chunks + 12)
    if chunks == 1:
        return 14 + pixels // 2 * 30 + pixels % 2 * 16
    return 11 + pixels // 2 * (14 * chunks + 19) + pixels % 2 * (9 * chunks + 10)


def _vector_turn(inputs: int) -> int:
    """Chunks that the loop over one pixel's inputs takes at a time."""
    return next(turn for turn in (4, 2, 1) if turn == 1 or inputs % (turn * CHUNK) == 0)


def _least(found: Mapping[str, float]) -> str:
    return min(sorted(found), key=lambda form: found[form])


def _tile(form: str, inputs: int, pixels: int, *, whole: bool) -> int:
    """Pixels that one call of the innermost function makes; `whole`: nothing speaks against all of a row."""
    if form != "columns":
        return 1 if form == "vector" else 2
    if whole:
        return pixels
    most = min(pixels, _TILE_PIXELS, _TILE_BYTES // (-(-inputs // CHUNK) * CHUNK))
    return next((tile for tile in range(most, most // 2, -1) if pixels % tile == 0), most)


def _fit_pixels(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    return _fit(node, by_pixels=True) if is_pointwise(node.op) else None


def _fit_copied(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    """Inputs that could be read where they lie are copied, where more pixels follow."""
    found = _fit_pixels(node)
    if found is None or found.in_place or node.outs[0].elements == found.context.c_out:
        return None
    copied = _fit(node, by_pixels=True, copied=True)
    return replace(copied, copies=True) if copied else None


def _fit_rows(node: NodeOf[Conv2D]) -> Fit | None:
    return _fit(node, by_pixels=False) if node.op.groups == 1 and not is_pointwise(node.op) else None


def _fit(node: NodeOf[Conv2D | Dense], *, by_pixels: bool, copied: bool = False) -> Fit | None:
    found = [
        (sums, requant, _context(node, sums, requant, by_pixels=by_pixels, copied=copied, few=few))
        for sums, few in _sums(node)
        if (requant := sums.op.requant) is not None
    ]
    if not found:
        return None
    sums, requant, k = min(found, key=lambda one: one[2].costs[one[2].form])
    scratch = (Scratch("windows", k.windows_bytes), Scratch("block", k.unpacked_bytes))
    copies = k.gathers or k.in_threes or (k.gathered and by_pixels and not k.totals)
    headers = (*(("lam_mve_window.h",) if copies else ()), _products(k))
    in_place, why = by_pixels and k.gathered, _why(k, own=node.ins[1].apart)
    y = node.outs[0]
    # weights of groups become bytes here: kernels that keep them come first, whatever they take
    mix = None if node.ins[1].block else dense_mix(k, math.prod(y.shape[:-2]), y.elements // k.c_out)
    return Fit(k, _params(sums, requant, k), scratch, why, headers=headers, mix=mix, in_place=in_place)


def _sums(node: NodeOf[Conv2D | Dense]) -> Iterator[tuple[Weighted, bool]]:
    """The sums, and whether their weights are packed: lifted, as if with zero points of their own, or with such."""
    around, own = (_lifted(node, lift) if node.ins[1].bits else None for lift in (LIFT, _BYTES_LIFT))
    around = None if around is None or around.less is not None else around
    if around is not None:
        yield around, True
    if own is not None:
        yield replace(own, less=np.zeros(len(own.weights), np.int64) if own.less is None else own.less), True
    if around is None and own is None and (sums := byte_sums(node)) is not None:
        yield sums, False


def _lifted(node: NodeOf[Conv2D | Dense], lift: int) -> Weighted | None:
    """The sums of packed weights, where they have room for being lifted by `lift`, or by LIFT."""
    sums = byte_sums(node, lift)
    if sums is None or not sums.bits or sums.op.requant is None or not _takes_few(sums):
        return None
    return sums if sums.op.requant.mode != "single" or lifts(sums.op.requant, LIFT) else None


def _products(k: MveDenseContext) -> str:
    """The header of the products that a layer calls."""
    if k.few:
        return "lam_mve_zeros.h" if k.own else "lam_mve_few.h"
    if k.shifted:
        return "lam_mve_shifted.h"
    return "lam_mve_columns.h" if k.by_tiles else "lam_mve_dense.h"


def _context(
    node: NodeOf[Conv2D | Dense], sums: Weighted, requant: Requant, *, by_pixels: bool, copied: bool, few: bool
) -> MveDenseContext:
    x, weights, _ = node.ins
    h, w = _windows(node.op)
    inputs = weights.elements // weights.shape[0]
    width, pixels = row_pixels(node.outs[0].shape), node.outs[0].elements // weights.shape[0]
    together = by_pixels and width == 1 and pixels > 1
    run = pixels if together else width
    unsigned = x.dtype is DType.U8
    shifted = sums.shift is not None
    own = few and sums.less is not None
    lies = _is_point(node.op) and not (together or copied or unsigned)
    raised = own and requant.mode == "single" and not is_fast(requant)
    steps = weights.shape[0] <= _LONGEST_SUM and not (lies and w.stride * inputs > _LONGEST_STEP)
    fills = inputs % CHUNK == 0 or (lies and inputs == _HALF)
    columns = steps and not (own and not _unpacks(sums, fills=fills, raised=raised))
    blocks = -(-weights.shape[0] // LANES)
    costs = _costs(inputs, run, blocks, few=few and not own, own=own, shifted=shifted, raised=raised)
    form = _least({name: cost for name, cost in costs.items() if columns or name != "columns"})
    whole = form == "vector" or inputs % CHUNK == 0 or (form == "columns" and inputs == _HALF and (own or not few))
    gathered = not (lies and whole) or (shifted and form == "columns")
    return MveDenseContext(
        mode=form_of(requant),
        each=requant.per_channel,
        head=head_words(requant),
        form=form,
        together=together,
        gathered=gathered,
        flip=0x80 if unsigned else 0,
        inputs=inputs,
        c_in=x.shape[-1],
        c_out=weights.shape[0],
        by_pixels=by_pixels,
        run=run,
        w_in=row_pixels(x.shape),
        kernel_h=h.size,
        kernel_w=w.size,
        stride=w.stride,
        dilation=w.dilation,
        pad=w.pad_before,
        has_edges=_has_edges(w, row_pixels(x.shape), width),
        tile=_tile(form, inputs, run, whole=not gathered and weights.shape[0] % LANES == 0),
        few=few,
        own=own,
        raised=raised,
        shifted=shifted,
        bounds=bounds_of(node.outs[0].dtype, requant),
    )


def _unpacks(sums: Weighted, *, fills: bool, raised: bool) -> bool:
    """Whether columns make bytes of weights with zero points: windows that vectors do not fill are made up for."""
    near = not raised or fit(sums.weights.astype(np.int64) << _BYTES_LIFT, 8)
    return near and (fills or _makes_up(sums))


def _makes_up(sums: Weighted) -> bool:
    """Whether numbers of 4 bits make up for what is added to the weights of each channel."""
    return sums.less is not None and int(sums.less.min()) > -_HALF and int(sums.less.max()) <= _HALF


def _has_edges(w: Window, w_in: int, w_out: int) -> bool:
    """Whether a window reaches over the left or right end of its row."""
    return w.pad_before > 0 or (w_out - 1) * w.stride - w.pad_before + w.extent > w_in


def _params(sums: Weighted, requant: Requant, k: MveDenseContext) -> tuple[Field, ...]:
    padding = (Field("zero", np.array([signed_zero(sums)], np.int32)),) if k.has_edges else ()

    def packed() -> Array:
        factors = lane_factors(requant, k.c_out, k.lift) if requant.per_channel else None
        weights = (sums.shifted_weights() if k.few or k.shifted else sums.weights).reshape(k.c_out, -1)
        if k.own and k.by_tiles and sums.less is not None and _makes_up(sums):
            lacking = -sums.less.reshape(-1, 1).astype(np.int8).repeat(-k.inputs % CHUNK, axis=1)
            weights = np.concatenate([weights, lacking], axis=1)
        return stream(weights, _bias(sums, k), factors, few=k.few, less=sums.less if k.own else None)

    return (
        *padding,
        *(sums.shift_fields() if k.shifted else ()),
        Field.later("stream", np.int32, k.blocks * k.block_words, packed),
        *factor_fields(requant, k.lift),
        range_field(requant.zero_point, requant.low, requant.high),
    )


def _takes_few(sums: Weighted) -> bool:
    """Whether 16 times any sum fits 32 bits, with what is taken off weights of 4 bits and without: they make such."""
    weights = (w.reshape(len(w), -1).astype(np.int64) for w in (sums.weights, sums.shifted_weights()))
    reach = np.maximum(*(np.abs(w).sum(axis=1) for w in weights)) * -DType.S8.low
    return bool((np.abs(signed_bias(sums).astype(np.int64)) + reach).max() < 1 << 27)


def _bias(sums: Weighted, k: MveDenseContext) -> Array:
    """Biases as lam_mve_few.h and lam_mve_zeros.h have them where weights have few bits."""
    bias = signed_bias(sums)
    if not k.few or k.form == "columns":
        return bias << k.lift if k.mode == "single" else bias
    odd = np.arange(bias.size) % 2 > 0
    if not k.own:
        return np.where(odd, bias, 16 * bias)
    wide = bias.astype(np.int64)
    return np.where(odd, 16 * wide + np.roll(wide, 1), wide).astype(np.uint32).view(np.int32)


def stream(
    weights: Array, bias: Array, factors: tuple[Array, Array] | None, *, few: bool = False, less: Array | None = None
) -> Array:
    """The packed stream of weights[channels, inputs]: of a block's weights, 16 inputs of each channel in turn.

    `few`: those of two channels at a time, in the lower and the upper 4 bits of bytes.  `less`: what was taken off each
    channel's; numbers of lower bits are 8 more then.
    """
    rows = padded(weights, LANES)
    blocks = len(rows) // LANES
    if less is not None:
        rows = rows + np.tile(_EVEN_MORE, blocks)[:, None]
    by_chunk = padded(rows, CHUNK, axis=1).reshape(blocks, LANES, -1, CHUNK).transpose(0, 2, 1, 3)
    if few:
        by_chunk = nibbles(by_chunk, axis=2)
    packed = by_chunk.reshape(blocks, -1)
    if less is not None:
        added = (padded(less, LANES).reshape(blocks, LANES) - _EVEN_MORE).astype(np.int8)
        packed = np.concatenate([packed.view(np.int8), added], axis=1)
    return packed_stream(bias, factors, packed)


def _why(k: MveDenseContext, *, own: bool) -> str:
    found = ", ".join(f"{form} {cost / k.run:.0f}" for form, cost in sorted(k.costs.items()))
    source = "gathered windows" if k.gathered else "input in place"
    few = f", {few_said(4, own=own)}" if k.few else ""
    shifted = ", weights with a shift" if k.shifted else ""
    return f"Helium, {k.form}, {source}{few}{shifted}; instructions per pixel and four channels: {found}"


DENSE: Kernel[Conv2D | Dense] = Kernel(
    "mve_dense", "mve/dense.c.j2", "pixels", (Conv2D, Dense), _fit_pixels, MVE, copying=_fit_copied
)
CONV2D = Kernel("mve_conv2d", "mve/dense.c.j2", "row", (Conv2D,), _fit_rows, MVE)
