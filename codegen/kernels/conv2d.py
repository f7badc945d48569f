"""Convolution of any kind: groups, dilation, strides, pads.

One output row per call; weights [Cout, KH, KW, Cin/groups].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array, DType
from codegen.ir.shape import Window
from codegen.kernels.common import (
    RequantContext,
    end_values,
    folded_bias,
    is_wide,
    requant_context,
    requant_fields,
    requant_takes,
    weight_shift,
)
from codegen.kernels.kernel import adapted
from codegen.ops import Conv2D, Dense

_BYTES = (DType.S8, DType.U8)


@dataclass(frozen=True, slots=True)
class ConvContext:
    """Literals of one convolution.  Output columns [left, right) have no tap in the padding."""

    x_t: str
    w_t: str
    y_t: str
    acc_t: str
    w_in: int
    c_in: int
    w_out: int
    c_out: int
    kernel_h: int
    kernel_w: int
    stride: int
    dilation: int
    pad: int
    groups: int
    left: int
    right: int
    rq: RequantContext

    @property
    def c_group(self) -> int:
        """Input channels per group."""
        return self.c_in // self.groups

    @property
    def o_group(self) -> int:
        """Output channels per group."""
        return self.c_out // self.groups

    @property
    def contiguous(self) -> bool:
        """Whether the taps of one kernel row are one run of memory."""
        return self.groups == 1 and self.dilation == 1

    @property
    def block(self) -> int:
        """Channels that the depthwise form accumulates at a time."""
        return min(self.c_in, 16)

    @property
    def full_blocks(self) -> int:
        """Whole channel blocks per pixel."""
        return self.c_in // self.block

    @property
    def rest(self) -> int:
        """Channels of the last, partial block."""
        return self.c_in % self.block

    @property
    def has_edges(self) -> bool:
        """Whether any output column reads padding at its left or right."""
        return self.left > 0 or self.right < self.w_out


def inner_columns(w: Window, w_in: int, w_out: int) -> tuple[int, int]:
    """Output columns [left, right) whose taps all lie inside the input row."""
    left = min(w_out, -(-w.pad_before // w.stride))
    right = (w_in - w.extent + w.pad_before) // w.stride + 1
    return left, max(left, min(w_out, right))


def conv_context(node: NodeView) -> ConvContext:
    """Literals for the template."""
    op = node.op
    assert isinstance(op, Conv2D)
    x, w, _ = node.ins
    y = node.outs[0]
    left, right = inner_columns(op.w, x.shape[2], y.shape[2])
    wide = is_wide(*conv_constants(node), op.x_zero_point, x.dtype)
    return ConvContext(
        x_t=x.dtype.ctype,
        w_t=w.dtype.ctype,
        y_t=y.dtype.ctype,
        acc_t="int64_t" if wide else "int32_t",
        w_in=x.shape[2],
        c_in=x.shape[3],
        w_out=y.shape[2],
        c_out=y.shape[3],
        kernel_h=op.h.size,
        kernel_w=op.w.size,
        stride=op.w.stride,
        dilation=op.w.dilation,
        pad=op.w.pad_before,
        groups=op.groups,
        left=left,
        right=right,
        rq=requant_context(op.requant, wide=wide),
    )


def conv_constants(node: NodeView) -> tuple[Array, Array]:
    """Weights and bias arrays."""
    weights, bias = node.consts[1], node.consts[2]
    assert weights is not None
    assert bias is not None
    return weights, bias


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Conv2D)
    weights, bias = conv_constants(node)
    return (
        *bias_fields(weights, bias, op.x_zero_point, node.ins[0].dtype),
        *requant_fields(op.requant),
        Field("weights", weights.reshape(-1)),
    )


def bias_fields(weights: Array, bias: Array, x_zero_point: int, x_dtype: DType) -> tuple[Field, ...]:
    """`bias` with the input zero point folded in (as it is when the accumulator is wide), and `x_zero_point`."""
    wide = is_wide(weights, bias, x_zero_point, x_dtype)
    folded = bias if wide else folded_bias(weights, bias, x_zero_point)
    return (
        Field("bias", folded.astype(np.int32)),
        Field("x_zero_point", np.array([x_zero_point], np.int32)),
    )


def accepts(node: NodeView, isa: str) -> bool:
    """Any Conv2D with constant weights."""
    return isinstance(node.op, Conv2D) and fits(node)


def fits(node: NodeView) -> bool:
    """Whether weights are constant and every accumulator can be requantized (a Conv2D or a Dense)."""
    op = node.op
    assert isinstance(op, Conv2D | Dense)
    if node.dynamic != (0,):
        return False
    bounds = end_values(*conv_constants(node), op.x_zero_point, node.ins[0].dtype)
    return requant_takes(op.requant, *bounds, wide=True)


def byte_convolution(node: NodeView, *, shifted: bool = False) -> bool:
    """Whether inputs, weights and outputs have 8 bits, sums 32, and all constants are known.

    `shifted`: weights may also be bytes and a shift for all of them.
    """
    op = node.op
    if not isinstance(op, Conv2D | Dense) or op.requant is None or not fits(node):
        return False
    x, w, _ = node.ins
    if x.dtype not in _BYTES or node.outs[0].dtype not in _BYTES:
        return False
    if is_wide(*conv_constants(node), op.x_zero_point, x.dtype):
        return False
    return w.dtype is DType.S8 or (shifted and shift_of(node) is not None)


def shift_of(node: NodeView) -> int | None:
    """What is taken off 16-bit weights to make them bytes; None for bytes, and where they stay as they are.

    Where a layer has a shift, every part of its output channels has one, though another: tiles are of one form.
    """
    op = node.op
    assert isinstance(op, Conv2D | Dense)
    weights, bias = conv_constants(node)
    return None if weights.dtype == np.int8 else weight_shift(weights, bias, op.x_zero_point, node.ins[0].dtype)


def shifted_weights(node: NodeView) -> Array:
    """The weights as bytes where they are, or a shift makes them so."""
    weights, _ = conv_constants(node)
    shift = shift_of(node)
    return weights if shift is None else (weights.astype(np.int64) - shift).astype(np.int8)


def shift_fields(node: NodeView) -> tuple[Field, ...]:
    """Params `w_shift` where there is one."""
    shift = shift_of(node)
    return () if shift is None else (Field("w_shift", np.array([shift], np.int32)),)


def reach_of(node: NodeView) -> int:
    """Largest size of the accumulator's end value."""
    op = node.op
    assert isinstance(op, Conv2D | Dense)
    return max(map(abs, end_values(*conv_constants(node), op.x_zero_point, node.ins[0].dtype)))


CONV2D = adapted("conv2d", "conv2d.c.j2", "row", accepts, conv_context, _params)
