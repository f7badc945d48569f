"""Dense layers and pointwise convolutions: any run of pixels, in chunks that are copied to scratch in unsigned form."""

from __future__ import annotations

from functools import partial

from codegen.ir.form import Scratch
from codegen.ir.op import NodeOf
from codegen.ir.shape import row_count, row_pixels
from codegen.kernels.conv2d import is_pointwise
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.lanes.common import (
    LanesRequant,
    Processor,
    block_channels,
    byte_sums,
    lanes_requant,
    less_fields,
    said_of,
    slack,
    sum_fields,
    takes_few,
    tile_pixels,
    totals_scratch,
    weights_field,
)
from codegen.kernels.weighted import Weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record

_CHUNK_BYTES = 16 << 10
_CHUNK_TILES = 16
_SHORT_ROW = 3
"""Rows shorter than this are planned for as runs over several rows."""


@record
class LanesDenseContext:
    """Literals of one dense layer: `chunk` pixels are copied and computed at a time."""

    pixels: int
    block: int
    quads: int
    n_in: int
    channels: int
    chunk: int
    rq: LanesRequant


def _fit(on: Processor, node: NodeOf[Conv2D | Dense]) -> Fit | None:
    sums = byte_sums(node)
    if sums is None or not is_pointwise(node.op):
        return None
    k = _context(on, node, sums)
    row = min(k.chunk, row_pixels(node.outs[0].shape)) * k.n_in
    scratch = (totals_scratch(k.rq, k.chunk), Scratch("pixels", k.chunk * k.n_in, row), slack(k.rq))
    params = (*sum_fields(on, sums), *less_fields(sums, k.rq), weights_field(sums, 1, k.block, k.rq))
    why = f"{on.name}: {k.pixels} pixels x {-(-min(k.channels, k.block) // 16)} vectors of 16 channels{said_of(k.rq)}"
    return Fit(k, params, scratch, why)


def run_width(node: NodeOf[Conv2D | Dense]) -> int:
    """Pixels that lie one behind the other: of a row, or of all rows where these are short."""
    shape = node.outs[0].shape
    row = row_pixels(shape)
    return row if row >= _SHORT_ROW else row * row_count(shape)


def chunk_pixels(n_in: int, pixels: int, tiles: int) -> int:
    """Pixels that are made at a time: of so many tiles of `pixels`, as many as are copied at once."""
    return pixels * max(1, min(_CHUNK_TILES, _CHUNK_BYTES // (pixels * n_in), tiles))


def _context(on: Processor, node: NodeOf[Conv2D | Dense], sums: Weighted) -> LanesDenseContext:
    n_in, channels = node.ins[0].shape[-1], node.outs[0].shape[-1]
    width = run_width(node)
    block = block_channels(on, width)
    pixels = tile_pixels(on, width, channels, block)
    quads = -(-n_in // 4)
    return LanesDenseContext(
        pixels=pixels,
        block=block,
        quads=quads,
        n_in=n_in,
        channels=channels,
        chunk=chunk_pixels(n_in, pixels, node.outs[0].elements // (pixels * channels)),
        rq=lanes_requant(on, sums, few=takes_few(sums, quads, node.outs[0].elements // channels)),
    )


def dense_kernel(on: Processor) -> Kernel[Conv2D | Dense]:
    """The kernel for a processor."""
    fit, headers = partial(_fit, on), ("lam_lanes_conv.h", "lam_lanes_vector.h")
    return Kernel(f"{on.name}_dense", "lanes/dense.c.j2", "pixels", (Conv2D, Dense), fit, on.needs, headers=headers)
