"""Convolution with one group, of any size, stride and dilation: rows in unsigned form in scratch, sums in registers."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.conv2d import conv_constants
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
from codegen.ops import Conv2D

SCRATCH_BYTES = 24 << 10
"""What the rows of one call may take in scratch, unless a single output row needs more: most of a level-1 cache."""
MOST_POINTERS = 48
"""Input rows of one call at most, whose pointers lie on the stack."""
_SLACK = 4
"""Bytes behind the last row that the last four inputs of a run may reach into."""


@dataclass(frozen=True, slots=True)
class X86ConvContext:
    """Literals of one convolution: the fields of lam_x86_conv, and the rows in scratch.

    A row in scratch is `left` bytes of padding, `inner` bytes of the input, `right` bytes of padding, and what brings
    it to `line_bytes`.
    """

    pixels: int
    block: int
    kernel_h: int
    line_step: int
    taps: int
    tap_step: int
    quads: int
    pixel_step: int
    row_step: int
    channels: int
    width: int
    left: int
    inner: int
    right: int
    line_bytes: int
    stride_h: int
    extent_h: int
    rq: X86Requant


def _accepts(node: NodeView, isa: str) -> bool:
    return accepts_sums(node, isa) and isinstance(node.op, Conv2D) and node.op.groups == 1


def padded_row(node: NodeView) -> tuple[int, int, int]:
    """Pixels before, of and after the input in a row that serves every output column."""
    op = node.op
    assert isinstance(op, Conv2D)
    w_in, w_out = node.ins[0].shape[2], node.outs[0].shape[2]
    needed = (w_out - 1) * op.w.stride + op.w.extent
    inner = max(0, min(w_in, needed - op.w.pad_before))
    return op.w.pad_before, inner, needed - op.w.pad_before - inner


def _context(node: NodeView) -> X86ConvContext:
    op = node.op
    assert isinstance(op, Conv2D)
    x, y = node.ins[0], node.outs[0]
    deep = x.shape[3]
    left, inner, right = padded_row(node)
    line = _line_bytes(node)
    taps = op.w.size if op.w.dilation > 1 else 1
    run = deep * (1 if op.w.dilation > 1 else op.w.size)
    block = block_channels(y.shape[3], y.shape[2])
    return X86ConvContext(
        pixels=tile_pixels(y.shape[2], y.shape[3], block),
        block=block,
        kernel_h=op.h.size,
        line_step=line * op.h.dilation,
        taps=taps,
        tap_step=deep * op.w.dilation,
        quads=-(-run // 4),
        pixel_step=deep * op.w.stride,
        row_step=line * op.h.stride,
        channels=y.shape[3],
        width=y.shape[2],
        left=left * deep,
        inner=inner * deep,
        right=right * deep,
        line_bytes=line,
        stride_h=op.h.stride,
        extent_h=op.h.extent,
        rq=x86_requant(op.requant, x.dtype, y.dtype),
    )


def _line_bytes(node: NodeView) -> int:
    return -(-sum(padded_row(node)) * node.ins[0].shape[3] // 4) * 4


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Conv2D)
    weights, _ = conv_constants(node)
    lines = op.h.size * (op.w.size if op.w.dilation > 1 else 1)
    block = block_channels(weights.shape[0], node.outs[0].shape[2])
    return (*sum_fields(node), Field("weights", packed_weights(weights.reshape(len(weights), lines, -1), block)))


def most_rows(node: NodeView, line_bytes: int) -> int:
    """Output rows of one call, by the scratch and the pointers that their input rows need."""
    op = node.op
    assert isinstance(op, Conv2D)
    lines = min(MOST_POINTERS, SCRATCH_BYTES // line_bytes)
    return max(1, (lines - op.h.extent) // op.h.stride + 1)


def lines_scratch(node: NodeView, line_bytes: int, rows: int) -> int:
    """Bytes for the input rows of a call of up to `rows` output rows."""
    op = node.op
    assert isinstance(op, Conv2D)
    rows = min(node.outs[0].shape[1], rows)
    return ((rows - 1) * op.h.stride + op.h.extent) * line_bytes


def _explain(node: NodeView) -> str:
    k = _context(node)
    vectors = -(-min(k.channels, k.block) // 16)
    return f"x86: {k.pixels} pixels x {vectors} vectors of 16 channels, up to {_most_rows(node)} rows per call"


def _most_rows(node: NodeView) -> int:
    return most_rows(node, _line_bytes(node))


CONV = adapted(
    "x86_conv",
    "x86/conv.c.j2",
    "rows",
    _accepts,
    _context,
    _params,
    lambda node: lines_scratch(node, _line_bytes(node), _most_rows(node)) + _SLACK,
    _explain,
    _most_rows,
    lambda node: lines_scratch(node, _line_bytes(node), 1) + _SLACK,
)
