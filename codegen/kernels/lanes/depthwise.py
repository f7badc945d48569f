"""Depthwise convolution: 64 neighbouring bytes of an output row at a time (lam_lanes_depthwise.h)."""

from __future__ import annotations

from functools import partial
from math import lcm

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.conv2d import is_depthwise, padded_row
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.lanes.common import (
    LINE,
    LanesRowsContext,
    Processor,
    byte_sums,
    fill_field,
    lanes_requant,
    said_of,
    sum_fields,
    takes_few,
)
from codegen.kernels.lanes.conv import lines_scratch, most_rows
from codegen.kernels.packed import filled_to, nibbles
from codegen.kernels.weighted import Weighted
from codegen.ops import Conv2D
from codegen.records import record

_BLOCK = 64
_SPREAD = 4 * _BLOCK
"""What the weights of 64 bytes and one tap take in scratch on x86: elsewhere less, but projects run on each other's."""
_MOST_BLOCKS = 32
_IN_FLIGHT = 10


@record(kw_only=True)
class LanesDepthwiseContext(LanesRowsContext):
    """Literals of one depthwise layer: the fields of lam_lanes_depthwise, and the rows in scratch.

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


def _fit(on: Processor, node: NodeOf[Conv2D]) -> Fit | None:
    op, sums = node.op, byte_sums(node)
    if sums is None or op.requant is None or not is_depthwise(node) or _blocks(node.ins[0].shape[3]) > _MOST_BLOCKS:
        return None
    k = _context(on, node, sums)
    rows = most_rows(op, k.line_bytes)
    lines = lines_scratch(node, k.line_bytes, rows)
    why = f"{on.name}: 64 bytes x {k.places} places, up to {rows} rows per call{said_of(k.rq)}"
    scratch = (Scratch("weights", k.rows_at), lines, Scratch("slack", _BLOCK))
    return Fit(k, _params(on, sums, k), scratch, why, rows)


def _blocks(channels: int) -> int:
    """Blocks of 64 bytes after which channels repeat."""
    return lcm(channels, _BLOCK) // _BLOCK


def _places(row_bytes: int, blocks: int, most: int) -> int:
    """Blocks that are summed together: the number with the least cycles for a row."""
    count = max(1, row_bytes // (blocks * _BLOCK))

    def cycles(places: int) -> int:
        return -(-count // places) * max(places * 4, _IN_FLIGHT)

    return min(range(1, min(count, most) + 1), key=lambda p: (cycles(p), -p))


def _context(on: Processor, node: NodeOf[Conv2D], sums: Weighted) -> LanesDepthwiseContext:
    op, x, y = node.op, node.ins[0], node.outs[0]
    deep = x.shape[3]
    left, inner, right = padded_row(node)
    plane = -(-(left + inner + right) // op.w.stride) * deep
    line = plane * op.w.stride
    row_bytes = y.shape[2] * deep
    tiny = sums.less is not None and y.elements <= _BLOCK  # zero points of their own would take most of it
    return LanesDepthwiseContext(
        places=_places(row_bytes, _blocks(deep), on.places),
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
        rows_at=op.h.size * op.w.size * _SPREAD,
        rq=lanes_requant(on, sums, few=not tiny and takes_few(sums, op.h.size * op.w.size)),
    )


def _params(on: Processor, sums: Weighted, k: LanesDepthwiseContext) -> tuple[Field, ...]:
    channel = np.arange(k.blocks * _BLOCK) % k.channels
    lanes = channel.reshape(-1, _BLOCK // 4, 4).transpose(0, 2, 1).reshape(-1)

    def by_tap() -> Array:
        stored = sums.shifted_weights() if k.rq.few else sums.weights
        taps = stored[:, :, :, 0].transpose(1, 2, 0).reshape(-1, k.channels)[:, channel]
        if k.rq.few:
            taps = nibbles(filled_to(taps, 2, axis=0), axis=0).view(np.int8)
        return np.ascontiguousarray(taps).reshape(-1)

    fields = (
        *(_in_lanes(f, lanes, k.channels) for f in sum_fields(on, sums)),
        *(sums.shift_fields() if k.rq.own else ()),
    )
    taps, order = sums.weights[0].size, "[rows][columns][channels], channels in the order of lanes"
    size = -(-taps // (2 if k.rq.few else 1)) * channel.size
    return (fill_field(on, sums), *fields, Field.later("weights", np.int8, size, by_tap, order, alignment=LINE))


def _in_lanes(field: Field, lanes: Array, channels: int) -> Field:
    """A field with one number per channel in the order of lanes; another one as it is."""
    if field.name == "range" or field.size != channels:
        return field
    return Field.later(
        field.name, field.dtype, lanes.size, lambda: field.values[lanes], f"{field.about}, in the order of lanes"
    )


def depthwise_kernel(on: Processor) -> Kernel[Conv2D]:
    """The kernel for a processor."""
    name, fit, headers = f"{on.name}_depthwise", partial(_fit, on), ("lam_lanes_depthwise.h", "lam_lanes_vector.h")
    return Kernel(name, "lanes/depthwise.c.j2", "rows", (Conv2D,), fit, on.needs, headers=headers)
