"""Depthwise convolution: a few neighbouring outputs of one channel at a time, one output row per call.

The weights of a kernel row are held in registers while the inputs pass by, each used for every output it belongs to.
Blocks over an edge are functions of their own, in which padded columns are the zero point.  Weights: [C][KH][KW].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.blocked.conv import Piece, pieces_of
from codegen.kernels.blocked.registers import UNROLLED_ROWS, Choice, Core, Slide, choose_slide
from codegen.kernels.conv2d import (
    bias_fields,
    byte_convolution,
    conv_constants,
    reach_of,
    shift_fields,
    shift_of,
    shifted_weights,
)
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant
from codegen.kernels.kernel import Kernel, adapted
from codegen.ops import Conv2D

_MOST_COLUMNS = 16


@dataclass(frozen=True, slots=True)
class Input:
    """One input column of a block: its place in elements from the first one inside, -1 for padding.

    `products` are the (output pixel, tap) that it serves.
    """

    offset: int
    products: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class DepthwiseContext:
    """Literals of one depthwise convolution; `pieces` has the index of each piece's variant."""

    x_t: str
    y_t: str
    channels: int
    kernel_h: int
    kernel_w: int
    stride: int
    variants: tuple[Variant, ...]
    pieces: tuple[tuple[Piece, int], ...]
    shifted: bool
    rq: FastRequant

    @property
    def unrolled(self) -> bool:
        """Whether each kernel row has a pointer."""
        return self.kernel_h <= UNROLLED_ROWS


def _accepts(node: NodeView) -> bool:
    op = node.op
    if not isinstance(op, Conv2D) or not byte_convolution(node, shifted=True):
        return False
    per_channel = op.groups == node.ins[0].shape[3] == node.outs[0].shape[3] and op.groups > 1
    return per_channel and op.w.size <= _MOST_COLUMNS


def _slide(node: NodeView) -> Slide:
    op = node.op
    assert isinstance(op, Conv2D)
    return Slide(node.outs[0].shape[2], op.h.size, op.w.size, op.w.stride, op.w.dilation)


def _variant(slide: Slide, piece: Piece, channels: int) -> Variant:
    """The inputs of a piece's blocks; columns.before of them, at most, are left of the row."""
    columns = piece.columns
    inputs = []
    for at in slide.inputs(piece.pixels):
        inside = columns.before <= at < columns.before + columns.count
        both = ((p, at - p * slide.stride) for p in range(piece.pixels))
        found = tuple((p, d // slide.dilation) for p, d in both if d >= 0 and d % slide.dilation == 0)
        products = tuple((p, j) for p, j in found if j < slide.columns)
        inputs.append(Input((at - columns.before) * channels if inside else -1, products))
    return Variant(piece.pixels, columns.before, columns.after, tuple(inputs))


def _choice(core: Core, node: NodeView) -> Choice:
    return choose_slide(core, _slide(node))


def _context(core: Core, node: NodeView) -> DepthwiseContext:
    op = node.op
    assert isinstance(op, Conv2D)
    assert op.requant is not None
    x, y = node.ins[0], node.outs[0]
    variants: list[Variant] = []
    pieces: list[tuple[Piece, int]] = []
    for piece in pieces_of(_choice(core, node), op.w, x.shape[2]):
        variant = _variant(_slide(node), piece, x.shape[3])
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
        shifted=shift_of(node) is not None,
        rq=fast_requant(op.requant, reach_of(node)),
    )


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Conv2D)
    assert op.requant is not None
    weights, bias = conv_constants(node)
    return (
        *bias_fields(weights, bias, op.x_zero_point, node.ins[0].dtype),
        *fast_fields(op.requant, reach_of(node), len(weights)),
        *shift_fields(node),
        Field("weights", shifted_weights(node).reshape(-1)),
    )


def _explain(core: Core, node: NodeView) -> str:
    choice = _choice(core, node)
    sizes = " and ".join(map(str, choice.sizes))
    return f"blocks of {sizes} outputs of one channel, {choice.cost:.2f} instructions per product"


def blocked_depthwise(core: Core) -> Kernel[Any]:
    """The kernel for one core."""
    return adapted(
        "blocked_depthwise",
        "blocked/depthwise.c.j2",
        "row",
        lambda node, isa: isa == core.name and _accepts(node),
        lambda node: _context(core, node),
        _params,
        explain=lambda node: _explain(core, node),
    )
