"""Depthwise convolution, 3x3 without dilation: rows of four channels are taken apart into pairs of columns.

A pair serves two taps of one output, and the next pair the third: per row and two outputs, four multiplications and one
load.  Weights are [C, 9].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.common import folded_bias
from codegen.kernels.conv2d import (
    byte_convolution,
    conv_constants,
    reach_of,
    shift_fields,
    shift_of,
    shifted_weights,
)
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant
from codegen.kernels.kernel import adapted
from codegen.ops import Conv2D

_MOST_PAIRS = 126
"""What the offset of a load reaches over: the third row lies twice as many words behind the first."""


@dataclass(frozen=True, slots=True)
class DepthwiseContext:
    """Literals: `stride` is 1 or 2; rows are taken apart in `quads` of columns, of which [left, right) lie inside."""

    widen: str
    y_t: str
    channels: int
    w_in: int
    w_out: int
    stride: int
    pad: int
    quads: int
    left: int
    right: int
    shifted: bool
    rq: FastRequant

    @property
    def edges(self) -> tuple[int, ...]:
        """Quads that reach outside the row."""
        return (*range(self.left), *range(self.right, self.quads))


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    if isa not in ("armv7em", "armv7em_wide") or not isinstance(op, Conv2D) or not byte_convolution(node, shifted=True):
        return False
    depthwise = op.groups == node.ins[0].shape[3] == node.outs[0].shape[3] and op.groups > 1
    square = all(w.size == 3 and w.dilation == 1 for w in (op.h, op.w))
    return depthwise and square and op.w.stride in (1, 2) and 2 * _quads(node) <= _MOST_PAIRS


def _context(node: NodeView) -> DepthwiseContext:
    op = node.op
    assert isinstance(op, Conv2D)
    x, y = node.ins[0], node.outs[0]
    stride, pad, w_in, w_out = op.w.stride, op.w.pad_before, x.shape[2], y.shape[2]
    quads = _quads(node)
    left = min(quads, -(-pad // 4))
    return DepthwiseContext(
        widen=x.dtype.value,
        y_t=y.dtype.ctype,
        channels=x.shape[3],
        w_in=w_in,
        w_out=w_out,
        stride=stride,
        pad=pad,
        quads=quads,
        left=left,
        right=max(left, min(quads, (w_in + pad) // 4)),
        shifted=shift_of(node) is not None,
        rq=fast_requant(op.requant, reach_of(node)),
    )


def _quads(node: NodeView) -> int:
    """Pairs of columns that a row needs, in twos."""
    op = node.op
    assert isinstance(op, Conv2D)
    w_out = node.outs[0].shape[2]
    pairs = (w_out if op.w.stride == 2 else -(-w_out // 2)) + 1
    return -(-pairs // 2)


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Conv2D)
    weights, bias = conv_constants(node)
    return (
        Field("bias", folded_bias(weights, bias, op.x_zero_point).astype(np.int32)),
        Field("x_zero_point", np.array([op.x_zero_point], np.int32)),
        *fast_fields(op.requant, reach_of(node), weights.shape[0]),
        *shift_fields(node),
        Field("weights", shifted_weights(node).reshape(-1)),
    )


def _scratch(node: NodeView) -> int:
    return 4 * 3 * 4 * 2 * _quads(node)


def _explain(node: NodeView) -> str:
    return "4 channels at a time, taken apart into pairs of columns; 2 taps an SMLAD"


DEPTHWISE = adapted("dsp_depthwise3", "dsp/depthwise3.c.j2", "row", _accepts, _context, _params, _scratch, _explain)
