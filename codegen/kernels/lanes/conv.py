"""Convolution with one group, of any size, stride and dilation: rows in unsigned form in scratch, sums in registers."""

from __future__ import annotations

from functools import partial

from codegen.ir.form import Scratch
from codegen.ir.op import NodeOf
from codegen.kernels.conv2d import padded_row
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.lanes.common import (
    FEW,
    LanesRowsContext,
    Processor,
    block_channels,
    byte_sums,
    fill_field,
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
from codegen.ops import Conv2D
from codegen.records import record

SCRATCH_BYTES = 24 << 10
"""What the rows of one call may take in scratch, unless a single output row needs more: most of a level-1 cache."""
MOST_POINTERS = 48
"""Input rows of one call at most, whose pointers lie on the stack."""


@record(kw_only=True)
class LanesConvContext(LanesRowsContext):
    """Literals of one convolution: the fields of lam_lanes_conv, and the rows in scratch.

    A row in scratch is `left` bytes of padding, `inner` bytes of the input, `right` bytes of padding, and what brings
    it to `line_bytes`.  Where weights have zero points of their own the sums of `most_pixels` windows, of runs of `run`
    inputs, lie before the rows.  `upright`: rows are one pixel, and those of a call are made as one row of as many.
    """

    pixels: int
    block: int
    taps: int
    tap_step: int
    quads: int
    pixel_step: int
    width: int
    run: int
    most_pixels: int
    upright: bool


def _fit(on: Processor, node: NodeOf[Conv2D]) -> Fit | None:
    op, sums = node.op, byte_sums(node)
    if sums is None or op.groups != 1:
        return None
    k = _context(on, node, sums)
    rows = most_rows(op, k.line_bytes)
    lines = op.h.size * (op.w.size if op.w.dilation > 1 else 1)
    numbers = (*sum_fields(on, sums), *less_fields(sums, k.rq))
    params = (fill_field(on, sums), *numbers, weights_field(sums, lines, k.block, k.rq))
    scratch = (totals_scratch(k.rq, k.most_pixels), lines_scratch(node, k.line_bytes, rows), slack(k.rq))
    vectors = -(-min(k.channels, k.block) // 16)
    why = f"{on.name}: {k.pixels} pixels x {vectors} vectors of 16 channels, up to {rows} rows per call{said_of(k.rq)}"
    return Fit(k, params, scratch, why, rows)


def _context(on: Processor, node: NodeOf[Conv2D], sums: Weighted) -> LanesConvContext:
    op, x, y = node.op, node.ins[0], node.outs[0]
    deep = x.shape[3]
    left, inner, right = padded_row(node)
    line = -(-(left + inner + right) * deep // 4) * 4
    taps = op.w.size if op.w.dilation > 1 else 1
    run = deep * (1 if op.w.dilation > 1 else op.w.size)
    quads, rows = -(-run // 4), min(y.shape[1], most_rows(op, line))
    few = takes_few(sums, quads, y.shape[1] * y.shape[2], on.few_of_squares if min(op.h.size, op.w.size) > 1 else FEW)
    upright = few and y.shape[2] == 1 and rows > 1
    width = rows if upright else y.shape[2]
    block = block_channels(on, width)
    return LanesConvContext(
        pixels=tile_pixels(on, width, y.shape[3], block),
        block=block,
        kernel_h=op.h.size,
        line_step=line * op.h.dilation,
        taps=taps,
        tap_step=deep * op.w.dilation,
        quads=quads,
        pixel_step=line * op.h.stride if upright else deep * op.w.stride,
        row_step=line * op.h.stride,
        channels=y.shape[3],
        width=y.shape[2],
        run=run,
        most_pixels=y.shape[2] * rows,
        upright=upright,
        left=left * deep,
        inner=inner * deep,
        right=right * deep,
        line_bytes=line,
        stride_h=op.h.stride,
        extent_h=op.h.extent,
        rq=lanes_requant(on, sums, few=few),
    )


def most_rows(op: Conv2D, line_bytes: int) -> int:
    """Output rows of one call, by the scratch and the pointers that their input rows need."""
    lines = min(MOST_POINTERS, SCRATCH_BYTES // line_bytes)
    return max(1, (lines - op.h.extent) // op.h.stride + 1)


def lines_scratch(node: NodeOf[Conv2D], line_bytes: int, rows: int) -> Scratch:
    """The input rows of a call of up to `rows` output rows."""
    h, most = node.op.h, min(node.outs[0].shape[1], rows)
    return Scratch("lines", ((most - 1) * h.stride + h.extent) * line_bytes, h.extent * line_bytes)


def conv_kernel(on: Processor) -> Kernel[Conv2D]:
    """The kernel for a processor."""
    headers = ("lam_lanes_conv.h", "lam_lanes_vector.h")
    return Kernel(f"{on.name}_conv", "lanes/conv.c.j2", "rows", (Conv2D,), partial(_fit, on), on.needs, headers=headers)
