"""Dense layers and convolutions with one group: dot products over 16 inputs, four output channels at a time.

Three forms, chosen by the number of instructions that they take (runtime_c/isa/mve/lam_mve_dense.h):

    columns   one block of four channels after another, all pixels of a run for each; up to 64 inputs
    pairs     two pixels at a time, so that a weight serves twice
    vector    one pixel

Pointwise layers read their input where it lies.  For the others, for unsigned inputs and for odd numbers of inputs, the
windows of a few pixels are gathered in scratch first, which costs 3 instructions per 16 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array, DType
from codegen.ir.shape import Window, row_pixels
from codegen.kernels.common import folded_bias, range_field
from codegen.kernels.conv2d import conv_constants
from codegen.kernels.kernel import adapted
from codegen.kernels.mve.common import (
    CHUNK,
    LANES,
    factor_fields,
    head_words,
    lane_factors,
    packed_stream,
    padded,
    serves,
    signed_zero,
)
from codegen.ops import Conv2D, Dense

_MOST_COLUMN_CHUNKS = 4
_TILE_BYTES = 512
_TILE_PIXELS = 16
_ONE = Window(1)


@dataclass(frozen=True, slots=True)
class MveDenseContext:
    """Literals of one layer: `inputs` per window, in `chunks` of 16; `run` output pixels per row.

    `each`: channels have factors of their own, in the stream, of which blocks begin with `head` words.
    """

    mode: str
    each: bool
    head: int
    form: str
    gathered: bool
    flip: int
    inputs: int
    c_in: int
    c_out: int
    by_pixels: bool
    run: int
    w_in: int
    kernel_h: int
    kernel_w: int
    stride: int
    dilation: int
    pad: int
    has_edges: bool
    tile: int

    @property
    def chunks(self) -> int:
        """Vectors per window."""
        return -(-self.inputs // CHUNK)

    @property
    def block_words(self) -> int:
        """Words of the packed stream per block of channels."""
        return self.head + CHUNK * LANES // 4 * self.chunks

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
        return self.chunks * CHUNK if self.gathered else self.stride * self.c_in

    @property
    def tiles_are_even(self) -> bool:
        """Whether a row is a number of whole tiles."""
        return self.run % self.tile == 0

    @property
    def rest(self) -> int:
        """Channels of the last, partial block."""
        return self.c_out % LANES


def _windows(op: Conv2D | Dense) -> tuple[Window, Window]:
    return (op.h, op.w) if isinstance(op, Conv2D) else (_ONE, _ONE)


def _is_plain(op: Conv2D | Dense) -> bool:
    """Whether an output pixel reads one input pixel, the output's own."""
    return all(w.stride == 1 for w in _windows(op)) and _is_point(op)


def _is_point(op: Conv2D | Dense) -> bool:
    return all(w.size == 1 and w.pad_before == w.pad_after == 0 for w in _windows(op))


def costs(inputs: int, pixels: int) -> dict[str, float]:
    """Instructions per block of four channels for a run of pixels, by form; counted in the assembly."""
    chunks = -(-inputs // CHUNK)
    vector = 10 * chunks + 20
    found = {"vector": float(pixels * vector)}
    if pixels > 1:
        found["pairs"] = pixels // 2 * (15 * chunks + 33) + pixels % 2 * vector
    if chunks <= _MOST_COLUMN_CHUNKS:
        found["columns"] = 14 + pixels * (9 * chunks + 11)
    return found


def _form(inputs: int, pixels: int) -> str:
    found = costs(inputs, pixels)
    return min(sorted(found), key=lambda form: found[form])


def _tile(form: str, inputs: int, pixels: int) -> int:
    """Pixels that one call of the innermost function makes."""
    if form != "columns":
        return 1 if form == "vector" else 2
    return max(1, min(pixels, _TILE_PIXELS, _TILE_BYTES // (-(-inputs // CHUNK) * CHUNK)))


def _context(node: NodeView, *, by_pixels: bool) -> MveDenseContext:
    op = node.op
    assert isinstance(op, Conv2D | Dense)
    assert op.requant
    x, weights, _ = node.ins
    h, w = _windows(op)
    inputs = weights.elements // weights.shape[0]
    run = row_pixels(node.outs[0].shape)
    form = _form(inputs, run)
    unsigned = x.dtype is DType.U8
    whole = form == "vector" or inputs % CHUNK == 0
    gathered = unsigned or not _is_point(op) or not whole
    w_in = row_pixels(x.shape)
    return MveDenseContext(
        mode=op.requant.mode,
        each=op.requant.per_channel,
        head=head_words(op.requant),
        form=form,
        gathered=gathered,
        flip=0x80 if unsigned else 0,
        inputs=inputs,
        c_in=x.shape[-1],
        c_out=weights.shape[0],
        by_pixels=by_pixels,
        run=run,
        w_in=w_in,
        kernel_h=h.size,
        kernel_w=w.size,
        stride=w.stride,
        dilation=w.dilation,
        pad=w.pad_before,
        has_edges=_has_edges(node),
        tile=_tile(form, inputs, run),
    )


def _has_edges(node: NodeView) -> bool:
    """Whether a window reaches over the left or right end of its row."""
    op = node.op
    assert isinstance(op, Conv2D | Dense)
    _, w = _windows(op)
    last = (row_pixels(node.outs[0].shape) - 1) * w.stride - w.pad_before + w.extent
    return w.pad_before > 0 or last > row_pixels(node.ins[0].shape)


def _scratch(node: NodeView) -> int:
    k = _context(node, by_pixels=False)
    return k.tile * k.chunks * CHUNK if k.gathered else 0


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Conv2D | Dense)
    assert op.requant
    weights, bias = conv_constants(node)
    folded = folded_bias(weights, bias, signed_zero(node)).astype(np.int32)
    padding = (Field("zero", np.array([signed_zero(node)], np.int32)),) if _has_edges(node) else ()
    factors = lane_factors(op.requant, len(weights)) if op.requant.per_channel else None
    return (
        *padding,
        Field("stream", stream(weights.reshape(len(weights), -1), folded, factors)),
        *factor_fields(op.requant),
        range_field(op.requant.zero_point, op.requant.low, op.requant.high),
    )


def stream(weights: Array, bias: Array, factors: tuple[Array, Array] | None) -> Array:
    """The packed stream of weights[channels, inputs]: of a block's weights, 16 inputs of each channel in turn."""
    taps = padded(padded(weights, LANES), CHUNK, axis=1)
    blocks = len(taps) // LANES
    by_chunk = taps.reshape(blocks, LANES, -1, CHUNK).transpose(0, 2, 1, 3)
    return packed_stream(bias, factors, by_chunk.reshape(blocks, -1))


def _explain(node: NodeView) -> str:
    k = _context(node, by_pixels=False)
    found = ", ".join(f"{form} {cost / k.run:.0f}" for form, cost in sorted(costs(k.inputs, k.run).items()))
    source = "gathered windows" if k.gathered else "input in place"
    return f"Helium, {k.form}, {source}; instructions per pixel and four channels: {found}"


def _accepts_pixels(node: NodeView, isa: str) -> bool:
    return serves(node, isa) and isinstance(node.op, Conv2D | Dense) and _is_plain(node.op)


def _accepts_rows(node: NodeView, isa: str) -> bool:
    return serves(node, isa) and isinstance(node.op, Conv2D) and node.op.groups == 1


KERNELS = (
    adapted(
        "mve_dense",
        "mve/dense.c.j2",
        "pixels",
        _accepts_pixels,
        lambda node: _context(node, by_pixels=True),
        _params,
        _scratch,
        _explain,
    ),
    adapted(
        "mve_conv2d",
        "mve/dense.c.j2",
        "row",
        _accepts_rows,
        lambda node: _context(node, by_pixels=False),
        _params,
        _scratch,
        _explain,
    ),
)
