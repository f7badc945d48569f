"""Depthwise convolution: 64 neighbouring bytes of an output row at a time (runtime_c/isa/x86/lam_x86_depthwise.h)."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.conv2d import is_depthwise, padded_row
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.weighted import Weighted
from codegen.kernels.x86.common import X86, X86RowsContext, byte_sums, fill_field, sum_fields, x86_requant
from codegen.kernels.x86.conv import lines_scratch, most_rows
from codegen.ops import Conv2D

_BLOCK = 64
_MOST_BLOCKS = 32
_MOST_PLACES = 5
_IN_FLIGHT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class X86DepthwiseContext(X86RowsContext):
    """Literals of one depthwise layer: the fields of lam_x86_depthwise, and the rows in scratch.

    Scratch has the spread weights, then from `rows_at` on the rows: `left` pixels of padding, `inner` pixels of the
    input, and padding up to `line_bytes`.
    """

    places: int
    blocks: int
    row_bytes: int
    kernel_w: int
    stride: int
    dilation: int
    plane: int
    rows_at: int

    @property
    def left_bytes(self) -> int:
        """Padding before the input."""
        return self.left * self.channels

    @property
    def inner_bytes(self) -> int:
        """What is read of the input."""
        return self.inner * self.channels

    @property
    def right_bytes(self) -> int:
        """Padding behind the input."""
        return self.right * self.channels


def _fit(node: NodeOf[Conv2D]) -> Fit | None:
    op, sums = node.op, byte_sums(node)
    if sums is None or op.requant is None or not is_depthwise(node) or _blocks(node.ins[0].shape[3]) > _MOST_BLOCKS:
        return None
    k = _context(node)
    rows = most_rows(op, k.line_bytes)
    lines = lines_scratch(node, k.line_bytes, rows)
    why = f"x86: 64 bytes x {k.places} places, up to {rows} rows per call"
    scratch = (Scratch("weights", k.rows_at), lines, Scratch("slack", _BLOCK))
    headers = ("lam_x86_vector.h",) if k.stride == 1 else ()
    return Fit(k, _params(sums, k), scratch, why, rows, headers)


def _blocks(channels: int) -> int:
    """Blocks of 64 bytes after which channels repeat."""
    return lcm(channels, _BLOCK) // _BLOCK


def _places(row_bytes: int, blocks: int) -> int:
    """Blocks that are summed together: the number with the least cycles for a row."""
    count = max(1, row_bytes // (blocks * _BLOCK))

    def cycles(places: int) -> int:
        return -(-count // places) * max(places * 4, _IN_FLIGHT)

    return min(range(1, min(count, _MOST_PLACES) + 1), key=lambda p: (cycles(p), -p))


def _context(node: NodeOf[Conv2D]) -> X86DepthwiseContext:
    op, x, y = node.op, node.ins[0], node.outs[0]
    deep = x.shape[3]
    left, inner, right = padded_row(node)
    plane = -(-(left + inner + right) // op.w.stride) * deep
    line = plane * op.w.stride
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
        plane=plane,
        channels=deep,
        row_step=line * op.h.stride,
        left=left,
        inner=inner,
        right=line // deep - left - inner,
        line_bytes=line,
        stride_h=op.h.stride,
        extent_h=op.h.extent,
        rows_at=op.h.size * op.w.size * 4 * _BLOCK,
        rq=x86_requant(op.requant, x.dtype, y.dtype),
    )


def _params(sums: Weighted, k: X86DepthwiseContext) -> tuple[Field, ...]:
    channel = np.arange(k.blocks * _BLOCK) % k.channels
    lanes = channel.reshape(-1, _BLOCK // 4, 4).transpose(0, 2, 1).reshape(-1)

    def by_tap() -> Array:
        taps = sums.weights[:, :, :, 0].transpose(1, 2, 0).reshape(-1, k.channels)[:, channel]
        return np.ascontiguousarray(taps).reshape(-1)

    fields = tuple(_in_lanes(f, lanes, k.channels) for f in sum_fields(sums))
    size, order = sums.weights[0].size * channel.size, "[rows][columns][channels], channels in the order of lanes"
    return (fill_field(sums), *fields, Field.later("weights", np.int8, size, by_tap, order))


def _in_lanes(field: Field, lanes: Array, channels: int) -> Field:
    """A field with one number per channel in the order of lanes; another one as it is."""
    if field.name == "range" or field.size != channels:
        return field
    return Field.later(
        field.name, field.dtype, lanes.size, lambda: field.values[lanes], f"{field.about}, in the order of lanes"
    )


DEPTHWISE = Kernel(
    "x86_depthwise", "x86/depthwise.c.j2", "rows", (Conv2D,), _fit, X86, headers=("lam_x86_depthwise.h",)
)
