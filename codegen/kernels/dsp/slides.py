"""Depthwise convolution, windows of 3x3: a few neighbouring outputs of one channel, two kernel rows in each product.

Inputs of the first two rows are put together in pairs as they are read, so that nothing is prepared and no scratch is
taken; those of the third row follow alone.  Blocks of assembly take all channels of up to six outputs to stored bytes
(runtime_c/isa/dsp/lam_armv7em_slide.h, which also says how the weights lie).  Other windows, and weights of few bits,
have blocks of their own (window_slides.py); what both have in common is here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol, TypeAlias

import numpy as np

from codegen.ir.form import Field, Mix
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.ir.shape import Shape, Window
from codegen.kernels.blocked.conv import Piece, pieces_of
from codegen.kernels.blocked.depthwise import Input, Variant, variant_of
from codegen.kernels.blocked.registers import Choice, Slide, covers
from codegen.kernels.common import range_field
from codegen.kernels.conv2d import is_depthwise
from codegen.kernels.dsp.bounds import InBytes, added_instructions, byte_instructions, in_bytes
from codegen.kernels.dsp.factors import factors_of, with_line
from codegen.kernels.dsp.words import pack_row_pairs, row_pair_bytes
from codegen.kernels.fast import FastRequant, fast_requant
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.weighted import Weighted, weighted
from codegen.ops import Conv2D
from codegen.records import record

MOST_PIXELS = 6
"""Sums that there are registers for."""
_REACH = 4095
"""The largest offset of a load."""
FACTOR_BYTES = 9
"""Bytes of a channel's shift, bias and multiplier, behind its weights; of an addend two, and then three of the bias."""
BIAS_BITS = 24
"""Of the bias of a channel whose outputs take one product and one sum, beside weights of bytes."""
_WIDE_WORDS = 7
"""A channel's, with bias and factors, where weights have 16 bits."""
_FORMS = ("single", "raised", "tflite", "low")
Blocks: TypeAlias = tuple[tuple[Variant, ...], tuple[tuple[Piece, int], ...]]
"""The different blocks of a row, and its pieces, each with the index of its block."""


class Counted(Protocol):
    """The blocks of a kernel, which a record says: how many outputs there is room for, and what a channel takes."""

    @property
    def most(self) -> int:
        """Outputs of the largest block."""

    def each(self, variant: Variant) -> Mix:
        """What a block takes for each channel, from the disassembly."""


@record
class Step:
    """A column and its products: where it lies behind the channel's next input, -1 for padding, -2 if it is the first.

    `products` are the pixel, the tap, and the pixel whose register the sum is in before.
    """

    at: int
    products: tuple[tuple[int, int, int], ...]


@record
class SlideContext:
    """Literals of one depthwise convolution; `pieces` has the index of each piece's variant.

    `wide`: weights have 16 bits.
    """

    widen: str
    channels: int
    stride: int
    variants: tuple[Variant, ...]
    pieces: tuple[tuple[Piece, int], ...]
    rq: FastRequant
    wide: bool

    @property
    def limited(self) -> bool:
        """Whether outputs have bounds of their own."""
        return bool(added_instructions(self.rq.saturate)[0])

    @property
    def block(self) -> str:
        """What the name of its assembly ends in."""
        return ("WIDE_" if self.wide else "") + "LIMITED" if self.limited else "WIDE" if self.wide else "BLOCK"

    @property
    def padded(self) -> bool:
        """Whether any block reads padding."""
        return any(variant.padded for variant in self.variants)

    def steps(self, variant: Variant) -> tuple[Step, ...]:
        """The columns of a block from left to right."""
        return tuple(_step(i, variant.pixels) for i in variant.inputs)

    def twos(self, variant: Variant) -> tuple[tuple[tuple[str, Step], ...], ...]:
        """The same, two at a time, each with the name of its register."""
        steps = self.steps(variant)
        return tuple(tuple(zip("AB", steps[i : i + 2], strict=False)) for i in range(0, len(steps), 2))

    def last(self, variant: Variant) -> int:
        """The last output of a block."""
        return variant.pixels - 1

    def inside(self, variant: Variant) -> int:
        """Columns of a block that are no padding."""
        return sum(i.offset >= 0 for i in variant.inputs)

    def output_at(self, pixel: int) -> int:
        """From the first pixel's output of the next channel to another one of this."""
        return pixel * self.channels - 1


def _step(column: Input, pixels: int) -> Step:
    last = pixels - 1
    products = tuple((p, tap, p if tap else last) for p, tap in column.products)
    return Step(-2 if column.offset == 0 else max(column.offset - 1, -1) if column.offset > 0 else -1, products)


@record
class ThreeByThree:
    """Rows are in registers; `saturate` names the type that outputs are saturated to, `wide` weights have 16 bits.

    `form`: how sums become outputs.
    """

    form: str
    saturate: str
    wide: bool
    most: int = MOST_PIXELS

    def each(self, variant: Variant) -> Mix:
        """What a block takes for each channel."""
        inside, n = inside_of(variant), variant.pixels
        outside = len(variant.inputs) - inside
        columns = Mix(other=inside, load=1.5 * inside + 2 * outside, load_next=1.5 * inside)
        byte = byte_instructions(self.form) * n
        ends = Mix(other=2 + byte, load=3, store=2 + n, multiple=1, moved=2, multiply_add=7 * n, taken=1)
        weights = Mix(load_next=1, multiple=2, moved=4) if self.wide else Mix(other=4, load_next=4)
        return columns + ends + weights + limits_mix(self.saturate, n)


def limits_mix(saturate: str, outputs: int) -> Mix:
    """What bounds of their own take of so many outputs of a channel."""
    each, around = added_instructions(saturate)
    return Mix(other=each * outputs, load=around)


def inside_of(variant: Variant) -> int:
    """Columns of a block that are no padding."""
    return sum(i.offset >= 0 for i in variant.inputs)


def _fit(node: NodeOf[Conv2D], *, small: bool = False) -> Fit | None:
    found = sums_of_bytes(node, halves=True)
    if found is None or found.sums.bits or (node.op.h.size, node.op.w.size) != (3, 3):
        return None
    wide = found.sums.weights.dtype != np.int8
    rq = with_line(found.sums, found.rq, node.ins[0].shape[3] - 1, 32 if wide else BIAS_BITS)
    counted = ThreeByThree(rq.form, rq.saturate, wide)
    blocks = choose_blocks(counted, node.op.w, node.ins[0].shape, node.outs[0].shape, small=small)
    if blocks is None:
        return None
    k = SlideContext(found.sums.x.value, node.ins[0].shape[3], node.op.w.stride, *blocks, rq, wide)
    wider = ", weights of 16 bits" if wide else ""
    return fit_of(node, found, k, row_mix(counted, blocks, k.channels), wider)


def sums_of_bytes(node: NodeOf[Conv2D], *, halves: bool = False) -> InBytes | None:
    """The sums of a depthwise layer whose taps lie together, and their requantization; None where blocks have none.

    `halves`: weights may have 16 bits.
    """
    op, sums = node.op, weighted(node, apart=True)
    if sums is None or not sums.of_bytes(halves=halves) or not is_depthwise(node):
        return None
    if op.w.dilation != 1 or op.w.stride > op.w.size:
        return None
    rq = fast_requant(op.requant, sums.reach)
    return in_bytes(sums, rq, floors=True) if rq.form in _FORMS else None


def fit_of(node: NodeOf[Conv2D], found: InBytes, k: SlideContext, mix: Mix, few: str = "") -> Fit:
    """A layer's parameters, and what is said of its blocks."""
    op, sums = node.op, found.sums
    sizes = " and ".join(str(n) for n in sorted({v.pixels for v in k.variants}, reverse=True))
    each = mix.instructions / (op.h.size * op.w.size * node.outs[0].shape[2] * k.channels)
    why = f"blocks of {sizes} outputs of one channel, 2 rows an SMLAD, {each:.2f} instructions per product{few}"
    requant = sums.op.requant
    assert requant is not None, "slides requantize"
    bounds = range_field(requant.zero_point, requant.low, requant.high, saturates=True)
    params = (_stream(sums, k), bounds, *found.limits, *sums.zero_fields(padded=k.padded))
    return Fit(k, params, why=why, mix=mix)


@lru_cache(maxsize=256)
def choose_blocks(counted: Counted, w: Window, x: Shape, y: Shape, *, small: bool = False) -> Blocks | None:
    """The blocks of a row that cost least: instructions, or (`small`) by what their code is as well."""
    most = min(counted.most, y[2], 2 + _REACH // x[3])
    found = [_cut(cover, w, x, y) for n in range(1, most + 1) for cover in covers(y[2], n)]
    served = [f for f in found if all(_is_served(v, x[3]) for v in f[0])]
    return min(served, key=lambda blocks: _cost(counted, blocks, small=small), default=None)


def _is_served(variant: Variant, channels: int) -> bool:
    """Whether a block reads a column inside, from which the next channel's is one further, and reaches all others."""
    last = max(max(i.offset for i in variant.inputs), (variant.pixels - 1) * channels)
    return any(i.offset == 0 for i in variant.inputs) and last - 1 <= _REACH


def _cost(counted: Counted, blocks: Blocks, *, small: bool) -> tuple[float, int]:
    """Instructions of a row for each channel; a variant costs 2 %, or (`small`) an end and a part for each output."""
    variants, pieces = blocks
    code = sum(1 + v.pixels for v in variants) if small else 0.02 * len(variants)
    instructions = sum(counted.each(variants[i]).instructions * piece.count for piece, i in pieces)
    return instructions * (1 + code), len(pieces)


def _cut(cover: tuple[tuple[int, int], ...], w: Window, x: Shape, y: Shape) -> Blocks:
    """A row in blocks, and which of the different ones each is."""
    slide = Slide(y[2], 1, w.size, w.stride, w.dilation)
    pieces = pieces_of(Choice(1, cover, 0.0), w, x, x[3])
    each = [variant_of(slide, piece, x[3]) for piece in pieces]
    variants = tuple(dict.fromkeys(each))
    return variants, tuple((piece, variants.index(v)) for piece, v in zip(pieces, each, strict=True))


def row_mix(counted: Counted, blocks: Blocks, channels: int) -> Mix:
    """What a row takes."""
    variants, pieces = blocks
    block = Mix(other=20, load=4, load_next=4, store=8, multiple=4, moved=24, taken=2)
    parts = ((counted.each(variants[i]).times(channels) + block).times(piece.count) for piece, i in pieces)
    return sum(parts, Mix())


def _stream(sums: Weighted, k: SlideContext) -> Field:
    """Params `weights`: of each channel weights, shift, bias and multiplier."""
    about = "with biases and factors, in the order of lam_armv7em_slide.h"
    if k.wide:
        return Field.later("weights", np.uint32, _WIDE_WORDS * k.channels, lambda: _streamed_wide(sums, k), about)
    _, rows, columns, _ = sums.weights.shape
    size = row_pair_bytes(rows, columns, sums.bits) + (sums.less is not None) + FACTOR_BYTES
    return Field.later("weights", np.uint8, size * k.channels, lambda: _streamed(sums, k), about)


def _streamed(sums: Weighted, k: SlideContext) -> Array:
    found = factors_of(sums, k.rq, k.channels - 1)
    bias = _bytes(found.bias.astype("<i4"))
    if k.rq.form == "lined":
        own = (_bytes(found.place.astype("<i2")), bias[:, : BIAS_BITS // 8])
    else:
        own = (_bytes(_with_end(found.place)), bias)
    factors = (*own, _bytes(found.multiplier.astype("<u4")))
    return np.concatenate((pack_row_pairs(sums.weights, sums.bits, sums.less), *factors), axis=1).reshape(-1)


def _streamed_wide(sums: Weighted, k: SlideContext) -> Array:
    """The same in words, the place of a channel behind its last weight."""
    found = factors_of(sums, k.rq, k.channels - 1)
    places = found.place if k.rq.form == "lined" else _with_end(found.place)
    halves = np.column_stack(
        (sums.weights[:, :2, :, 0].swapaxes(1, 2).reshape(k.channels, -1), sums.weights[:, 2, :, 0])
    )
    words = np.column_stack((halves, places)).astype("<i2").view("<u4")
    return (
        np.column_stack((words, found.bias.astype(np.int32).view(np.uint32), found.multiplier))
        .astype(np.uint32)
        .reshape(-1)
    )


def _bytes(numbers: Array) -> Array:
    """[numbers, bytes of each]."""
    return numbers.view(np.uint8).reshape(len(numbers), -1)


def _with_end(shift: Array) -> Array:
    """Twice the shifts, and 1 more of the last one."""
    ends = 2 * shift.astype(np.uint8)
    ends[-1] += 1
    return ends


def _fit_small(node: NodeOf[Conv2D]) -> Fit | None:
    """With fewer and smaller blocks, for more instructions; None where that makes no difference."""
    usual, small = _fit(node), _fit(node, small=True)
    if usual is None or small is None or not small.mix or not usual.mix:
        return None
    return small if small.mix.instructions > usual.mix.instructions else None


def _kernel(name: str, fit: Callable[[NodeOf[Conv2D]], Fit | None]) -> Kernel[Conv2D]:
    needs, headers = frozenset({"dsp"}), ("lam_armv7em_slide.h",)
    return Kernel(name, "dsp/slides.c.j2", "row", (Conv2D,), fit, needs, headers=headers)


SLIDES = _kernel("dsp_slides", _fit)
SMALL_SLIDES = _kernel("dsp_small_slides", _fit_small)
