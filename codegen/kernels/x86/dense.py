"""Dense layers and pointwise convolutions: any run of pixels, in chunks that are copied to scratch in unsigned form."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.shape import row_count, row_pixels
from codegen.kernels.conv2d import conv_constants
from codegen.kernels.dense import is_pointwise
from codegen.kernels.kernel import adapted
from codegen.kernels.x86.common import (
    X86Requant,
    accepts_sums,
    block_channels,
    packed_weights,
    sum_fields,
    tile_pixels,
    x86_requant,
)
from codegen.ops import Conv2D, Dense

_CHUNK_BYTES = 16 << 10
_CHUNK_TILES = 16
_SHORT_ROW = 3
"""Rows shorter than this are planned for as runs over several rows."""
_SLACK = 4


@dataclass(frozen=True, slots=True)
class X86DenseContext:
    """Literals of one dense layer: `chunk` pixels are copied and computed at a time."""

    pixels: int
    block: int
    quads: int
    n_in: int
    channels: int
    chunk: int
    rq: X86Requant


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    return (isinstance(op, Dense) or (isinstance(op, Conv2D) and is_pointwise(op))) and accepts_sums(node, isa)


def _width(node: NodeView) -> int:
    shape = node.outs[0].shape
    row = row_pixels(shape)
    return row if row >= _SHORT_ROW else row * row_count(shape)


def _context(node: NodeView) -> X86DenseContext:
    op = node.op
    assert isinstance(op, Dense | Conv2D)
    n_in, channels = node.ins[0].shape[-1], node.outs[0].shape[-1]
    width = _width(node)
    block = block_channels(channels, width)
    pixels = tile_pixels(width, channels, block)
    tiles = min(_CHUNK_TILES, _CHUNK_BYTES // (pixels * n_in), node.outs[0].elements // (pixels * channels))
    return X86DenseContext(
        pixels=pixels,
        block=block,
        quads=-(-n_in // 4),
        n_in=n_in,
        channels=channels,
        chunk=pixels * max(1, tiles),
        rq=x86_requant(op.requant, node.ins[0].dtype, node.outs[0].dtype),
    )


def _params(node: NodeView) -> tuple[Field, ...]:
    weights, _ = conv_constants(node)
    block = block_channels(weights.shape[0], _width(node))
    return (*sum_fields(node), Field("weights", packed_weights(weights.reshape(len(weights), 1, -1), block)))


def _scratch(node: NodeView) -> int:
    k = _context(node)
    return k.chunk * k.n_in + _SLACK


def _explain(node: NodeView) -> str:
    k = _context(node)
    return f"x86: {k.pixels} pixels x {-(-min(k.channels, k.block) // 16)} vectors of 16 channels"


def _row_scratch(node: NodeView) -> int:
    k = _context(node)
    return min(k.chunk, row_pixels(node.outs[0].shape)) * k.n_in + _SLACK


DENSE = adapted(
    "x86_dense", "x86/dense.c.j2", "pixels", _accepts, _context, _params, _scratch, _explain, row_scratch=_row_scratch
)
