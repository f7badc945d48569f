"""Depthwise convolution: a few neighbouring outputs of one channel at a time, one output row per call.

The weights of a kernel row are held in registers while the inputs pass by, each used for every output it belongs to.
Blocks over an edge are functions of their own, in which padded columns are the zero point.  Weights: [C][KH][KW];
those of few bits share bytes, of which each channel has its own, or each kernel row where rows are a loop; where that
saves none, as with rows of one tap, they are bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.blocked.conv import Piece, pieces_of
from codegen.kernels.blocked.cores import Core, chips_of, lined_core, wide_chips_of
from codegen.kernels.blocked.registers import UNROLLED_ROWS, Choice, Slide, choose_slide, slide_mix
from codegen.kernels.column import as_rows, fastest, is_one_block
from codegen.kernels.conv2d import is_depthwise
from codegen.kernels.fast import FastRequant
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.packed import Fields, filled_to
from codegen.kernels.scaling import Scaling, lined_scaling, plain_scaling
from codegen.kernels.weighted import Weighted, weighted
from codegen.ops import Conv2D
from codegen.records import record

_MOST_COLUMNS = 16


@record
class Input:
    """One input column of a block: its place in elements from the first one inside, -1 for padding.

    `products` are the (output pixel, tap) that it serves.
    """

    offset: int
    products: tuple[tuple[int, int], ...]


@record
class Variant:
    """A block of `pixels` outputs, with `before` and `after` columns of padding."""

    pixels: int
    before: int
    after: int
    inputs: tuple[Input, ...]

    @property
    def name(self) -> str:
        """A part of the function's name."""
        padded = self.before or self.after
        return f"{self.pixels}_{self.before}_{self.after}" if padded else str(self.pixels)

    @property
    def padded(self) -> bool:
        """Whether any input is padding."""
        return any(i.offset < 0 for i in self.inputs)


@record
class DepthwiseContext:
    """Literals of one depthwise convolution; `pieces` has the index of each piece's variant.

    `shifted`: weights are stored as so much less, `each_shifted`: as a number of their own channel less.  `row_step`:
    how many of the call's rows further on each next kernel row is.
    """

    x_t: str
    y_t: str
    channels: int
    kernel_h: int
    kernel_w: int
    stride: int
    variants: tuple[Variant, ...]
    pieces: tuple[tuple[Piece, int], ...]
    shifted: bool
    each_shifted: bool
    rq: FastRequant
    fields: Fields | None
    row_step: int = 1

    @property
    def record(self) -> int:
        """Weights that are packed together."""
        return _record(self.kernel_h, self.kernel_w)

    @property
    def record_elements(self) -> int:
        """Elements of a record."""
        return 0 if self.fields is None else _elements(self.fields, self.record)

    def elements_of(self, row: int) -> range:
        """The elements that have the weights of a kernel row."""
        return range(self.element_of(row, 0), self.element_of(row, self.kernel_w - 1) + 1)

    def element_of(self, row: int, column: int) -> int:
        """The element that has the weight of a tap."""
        assert self.fields is not None, "weights have few bits"
        return (row * self.kernel_w + column) // self.fields.in_turn(1)

    def field_of(self, row: int, column: int) -> int:
        """The place of a tap's weight in its element."""
        assert self.fields is not None, "weights have few bits"
        return (row * self.kernel_w + column) % self.fields.in_turn(1)

    def row_at(self, row: int) -> int:
        """The number of the call's row that a kernel row begins with."""
        return row * self.row_step

    def output_at(self, pixel: int) -> int:
        """From the output of a block's first pixel to that of another, in one channel."""
        return pixel * self.channels

    @property
    def padded(self) -> bool:
        """Whether any block reads padding."""
        return any(variant.padded for variant in self.variants)

    @property
    def unrolled(self) -> bool:
        """Whether each kernel row has a pointer."""
        return self.kernel_h <= UNROLLED_ROWS


def _record(rows: int, columns: int) -> int:
    """Weights of few bits that are packed together: a channel's, or a kernel row's where rows are a loop."""
    return columns * (rows if rows <= UNROLLED_ROWS else 1)


def _elements(fields: Fields, count: int) -> int:
    """Elements that so many take."""
    return -(-count // fields.in_turn(1))


def _fit(core: Core, node: NodeOf[Conv2D], *, lined: bool = False) -> Fit | None:
    sums = _sums(node)
    if sums is None or not sums.of_bytes(shifted=True) or node.op.w.size > _MOST_COLUMNS:
        return None
    scaling = lined_scaling(sums) if lined else plain_scaling(sums)
    if scaling is None:
        return None
    choice = choose_slide(core, _slide(node))
    sizes = " and ".join(map(str, choice.sizes))
    why = (
        f"blocks of {sizes} outputs of one channel, {choice.cost:.2f} instructions per product{sums.said}{scaling.said}"
    )
    context = _context(node, sums, choice, scaling.rq)
    mix = slide_mix(core, _slide(node), choice).times(context.channels)
    return Fit(context, _params(sums, scaling, context), why=why, headers=context.rq.headers, mix=mix)


def _fit_column(core: Core, node: NodeOf[Conv2D], rows: int, *, lined: bool = False) -> Fit | None:
    """With so many rows of a map of one column in a block, which on cores of few registers is much code for little."""
    if core.high:
        return None
    found = [
        replace(fit, context=replace(fit.context, row_step=row.op.w.size))
        for row in as_rows(node, rows)
        if (fit := _fit(core, row, lined=lined)) and is_one_block(fit.context.pieces)
    ]
    return fastest(found)


def _sums(node: NodeOf[Conv2D]) -> Weighted | None:
    """Those of a depthwise layer, whose weights have few bits where that takes fewer bytes."""
    sums = weighted(node, apart=True) if is_depthwise(node) else None
    if sums is None or not sums.bits:
        return sums
    rows, columns = node.op.h.size, node.op.w.size
    record = _record(rows, columns)
    return sums.stored_in(rows * columns // record * _elements(Fields(sums.bits, 8), record)).without_sign()


def _slide(node: NodeOf[Conv2D]) -> Slide:
    op = node.op
    return Slide(node.outs[0].shape[2], op.h.size, op.w.size, op.w.stride, op.w.dilation)


def variant_of(slide: Slide, piece: Piece, channels: int) -> Variant:
    """The inputs of a piece's blocks; some of the first are left of the row."""
    before, until = piece.columns.before // channels, piece.columns.until // channels
    inputs = []
    for at in slide.inputs(piece.pixels):
        inside = before <= at < until
        both = ((p, at - p * slide.stride) for p in range(piece.pixels))
        found = tuple((p, d // slide.dilation) for p, d in both if d >= 0 and d % slide.dilation == 0)
        products = tuple((p, j) for p, j in found if j < slide.columns)
        inputs.append(Input((at - before) * channels if inside else -1, products))
    return Variant(piece.pixels, before, piece.columns.after // channels, tuple(inputs))


def _context(node: NodeOf[Conv2D], sums: Weighted, choice: Choice, rq: FastRequant) -> DepthwiseContext:
    op, x, y = node.op, node.ins[0], node.outs[0]
    variants: list[Variant] = []
    pieces: list[tuple[Piece, int]] = []
    for piece in pieces_of(choice, op.w, x.shape, x.shape[3]):
        variant = variant_of(_slide(node), piece, x.shape[3])
        if variant not in variants:
            variants.append(variant)
        pieces.append((piece, variants.index(variant)))
    return DepthwiseContext(
        x_t=x.dtype.ctype,
        y_t=y.dtype.ctype,
        channels=x.shape[3],
        kernel_h=op.h.size,
        kernel_w=op.w.size,
        stride=op.w.stride,
        variants=tuple(variants),
        pieces=tuple(pieces),
        shifted=sums.shift is not None,
        each_shifted=sums.less is not None,
        rq=rq,
        fields=Fields(sums.bits, 8, sums.unsigned) if sums.bits else None,
    )


def _params(sums: Weighted, scaling: Scaling, k: DepthwiseContext) -> tuple[Field, ...]:
    zero, shift = sums.zero_fields(padded=k.padded), sums.shift_fields()
    return (scaling.bias, *zero, *scaling.numbers, *shift, _weights(sums, k))


def _weights(sums: Weighted, k: DepthwiseContext) -> Field:
    if k.fields is None:
        return sums.byte_weights("[channels][rows][columns]")
    fields, size = k.fields, sums.weights.size // k.record * k.record_elements
    return Field.later("weights", fields.dtype, size, lambda: _in_fields(sums.shifted_weights(), fields, k.record))


def _in_fields(weights: Array, fields: Fields, record: int) -> Array:
    turn = fields.in_turn(1)
    records = filled_to(weights.reshape(-1, record), turn, axis=1)
    return fields.packed(records.reshape(-1, turn))


def blocked_depthwise(core: Core) -> Kernel[Conv2D]:
    """The kernel for one core."""
    return _kernel(partial(_fit, core), partial(_fit_column, core), *chips_of(core))


def lined_depthwise(core: Core) -> Kernel[Conv2D]:
    """The same with requantization of larger factors (kernels/lined.py)."""
    fit, column = (partial(make, lined_core(core), lined=True) for make in (_fit, _fit_column))
    return _kernel(fit, column, *wide_chips_of(core))


def _kernel(
    fit: Callable[[NodeOf[Conv2D]], Fit | None],
    column: Callable[[NodeOf[Conv2D], int], Fit | None],
    needs: frozenset[str],
    without: frozenset[str],
) -> Kernel[Conv2D]:
    template, headers = "blocked/depthwise.c.j2", ("lam_order.h",)
    return Kernel("blocked_depthwise", template, "row", (Conv2D,), fit, needs, without, headers=headers, column=column)
