"""Depthwise convolution: 64 neighbouring bytes of an output row at a time (runtime_c/isa/x86/lam_x86_depthwise.h)."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array
from codegen.kernels.conv2d import conv_constants
from codegen.kernels.kernel import adapted
from codegen.kernels.x86.common import X86Requant, accepts_sums, sum_fields, x86_requant
from codegen.kernels.x86.conv import lines_scratch, most_rows, padded_row
from codegen.ops import Conv2D

_BLOCK = 64
_MOST_BLOCKS = 32
_MOST_PLACES = 5
_IN_FLIGHT = 10


@dataclass(frozen=True, slots=True)
class X86DepthwiseContext:
    """Literals of one depthwise layer: the fields of lam_x86_depthwise, and the rows in scratch.

    Scratch has the spread weights, then from `rows_at` on the rows: `left` pixels of padding, `inner` pixels of the
    input, and padding up to `line_bytes`.
    """

    places: int
    blocks: int
    row_bytes: int
    kernel_h: int
    line_step: int
    kernel_w: int
    stride: int
    dilation: int
    plane: int
    channels: int
    row_step: int
    left: int
    inner: int
    right: int
    line_bytes: int
    stride_h: int
    extent_h: int
    rows_at: int
    rq: X86Requant


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    if not accepts_sums(node, isa) or not isinstance(op, Conv2D) or op.requant is None:
        return False
    deep = node.ins[0].shape[3]
    return op.groups == deep == node.outs[0].shape[3] > 1 and _blocks(deep) <= _MOST_BLOCKS


def _blocks(channels: int) -> int:
    """Blocks of 64 bytes after which channels repeat."""
    return lcm(channels, _BLOCK) // _BLOCK


def _places(row_bytes: int, blocks: int) -> int:
    """Blocks that are summed together: the number with the least cycles for a row."""
    count = max(1, row_bytes // (blocks * _BLOCK))

    def cycles(places: int) -> int:
        return -(-count // places) * max(places * 4, _IN_FLIGHT)

    return min(range(1, min(count, _MOST_PLACES) + 1), key=lambda p: (cycles(p), -p))


def _plane(node: NodeView) -> int:
    op = node.op
    assert isinstance(op, Conv2D)
    return -(-sum(padded_row(node)) // op.w.stride) * node.ins[0].shape[3]


def _line_bytes(node: NodeView) -> int:
    op = node.op
    assert isinstance(op, Conv2D)
    return _plane(node) * op.w.stride


def _context(node: NodeView) -> X86DepthwiseContext:
    op = node.op
    assert isinstance(op, Conv2D)
    x, y = node.ins[0], node.outs[0]
    deep = x.shape[3]
    left, inner, _ = padded_row(node)
    line = _line_bytes(node)
    row_bytes = y.shape[2] * deep
    return X86DepthwiseContext(
        places=_places(row_bytes, _blocks(deep)),
        blocks=_blocks(deep),
        row_bytes=row_bytes,
        kernel_h=op.h.size,
        line_step=line * op.h.dilation,
        kernel_w=op.w.size,
        stride=op.w.stride,
        dilation=op.w.dilation,
        plane=_plane(node),
        channels=deep,
        row_step=line * op.h.stride,
        left=left,
        inner=inner,
        right=line // deep - left - inner,
        line_bytes=line,
        stride_h=op.h.stride,
        extent_h=op.h.extent,
        rows_at=_weights_bytes(node),
        rq=x86_requant(op.requant, x.dtype, y.dtype),
    )


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Conv2D)
    weights, _ = conv_constants(node)
    deep = weights.shape[0]
    channel = np.arange(_blocks(deep) * _BLOCK) % deep
    lanes = channel.reshape(-1, _BLOCK // 4, 4).transpose(0, 2, 1).reshape(-1)
    by_tap = weights[:, :, :, 0].transpose(1, 2, 0).reshape(-1, deep)[:, channel]
    fields = tuple(_in_lanes(f, lanes, deep) for f in sum_fields(node))
    return (*fields, Field("weights", np.ascontiguousarray(by_tap).reshape(-1)))


def _in_lanes(field: Field, lanes: Array, channels: int) -> Field:
    """A field with one number per channel in the order of lanes; another one as it is."""
    if field.name in ("fill", "range") or field.values.size != channels:
        return field
    return Field(field.name, field.values[lanes])


def _weights_bytes(node: NodeView) -> int:
    """Four vectors per tap."""
    op = node.op
    assert isinstance(op, Conv2D)
    return op.h.size * op.w.size * 4 * _BLOCK


def _scratch(node: NodeView) -> int:
    return _weights_bytes(node) + lines_scratch(node, _line_bytes(node), _most_rows(node)) + _BLOCK


def _row_scratch(node: NodeView) -> int:
    return _weights_bytes(node) + lines_scratch(node, _line_bytes(node), 1) + _BLOCK


def _most_rows(node: NodeView) -> int:
    return most_rows(node, _line_bytes(node))


def _explain(node: NodeView) -> str:
    return f"x86: 64 bytes x {_context(node).places} places, up to {_most_rows(node)} rows per call"


DEPTHWISE = adapted(
    "x86_depthwise",
    "x86/depthwise.c.j2",
    "rows",
    _accepts,
    _context,
    _params,
    _scratch,
    _explain,
    _most_rows,
    _row_scratch,
)
