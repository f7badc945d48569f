"""Transposed convolution of any kind, gathered: one output row per call, from the input rows that reach it.

Weights [Cout, KH, KW, Cin/groups].  Which taps an output row or column meets depends on its number modulo the stride:
`row_tap` and `column_tap` hold the first of them by that phase, or the kernel's size where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array
from codegen.ir.shape import Window
from codegen.kernels.common import (
    RequantContext,
    end_values,
    is_wide,
    requant_context,
    requant_fields,
    requant_takes,
)
from codegen.kernels.kernel import adapted
from codegen.ops import ConvTranspose2D


@dataclass(frozen=True, slots=True)
class Axis:
    """Literals of one axis.  Taps that meet one output lie `step` apart, and the inputs they meet `reach` apart."""

    size: int
    stride: int
    dilation: int
    pad: int
    step: int
    reach: int

    @property
    def taps(self) -> int:
        """Taps that meet one output, at most."""
        return -(-self.size // self.step)


@dataclass(frozen=True, slots=True)
class TransposeContext:
    """Literals of one transposed convolution."""

    x_t: str
    w_t: str
    y_t: str
    acc_t: str
    w_in: int
    c_in: int
    w_out: int
    c_out: int
    groups: int
    h: Axis
    w: Axis
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
    def filter(self) -> int:
        """Weights of one output channel."""
        return self.h.size * self.w.size * self.c_group


def _axis(v: Window) -> Axis:
    common = gcd(v.stride, v.dilation)
    return Axis(v.size, v.stride, v.dilation, v.pad_before, v.stride // common, v.dilation // common)


def _first_taps(v: Window) -> Array:
    """By (output position + pad) modulo the stride: the first tap that meets it, or the kernel's size."""
    meets = ((k for k in range(v.size) if (phase - k * v.dilation) % v.stride == 0) for phase in range(v.stride))
    return np.array([next(taps, v.size) for taps in meets], np.int32)


def _constants(node: NodeView) -> tuple[Array, Array]:
    weights, bias = node.consts[1], node.consts[2]
    assert weights is not None
    assert bias is not None
    return weights, bias


def _is_wide(node: NodeView) -> bool:
    """Whether a sum could leave int32, with the zero point folded into the bias or, as here, taken from each input."""
    op, x = node.op, node.ins[0].dtype
    assert isinstance(op, ConvTranspose2D)
    weights, bias = _constants(node)
    zero = op.x_zero_point
    sums = np.abs(weights.reshape(len(weights), -1).astype(np.int64)).sum(axis=1)
    bound = np.abs(bias.astype(np.int64)) + sums * max(x.high - zero, zero - x.low)
    return is_wide(weights, bias, zero, x) or bool((bound >= 2**31).any())


def _context(node: NodeView) -> TransposeContext:
    op = node.op
    assert isinstance(op, ConvTranspose2D)
    x, w, _ = node.ins
    y = node.outs[0]
    wide = _is_wide(node)
    return TransposeContext(
        x_t=x.dtype.ctype,
        w_t=w.dtype.ctype,
        y_t=y.dtype.ctype,
        acc_t="int64_t" if wide else "int32_t",
        w_in=x.shape[2],
        c_in=x.shape[3],
        w_out=y.shape[2],
        c_out=y.shape[3],
        groups=op.groups,
        h=_axis(op.h),
        w=_axis(op.w),
        rq=requant_context(op.requant, wide=wide),
    )


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, ConvTranspose2D)
    weights, bias = _constants(node)
    return (
        Field("bias", bias.astype(np.int32)),
        Field("x_zero_point", np.array([op.x_zero_point], np.int32)),
        Field("row_tap", _first_taps(op.h)),
        Field("column_tap", _first_taps(op.w)),
        *requant_fields(op.requant),
        Field("weights", weights.reshape(-1)),
    )


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    if not isinstance(op, ConvTranspose2D) or node.dynamic != (0,):
        return False
    return requant_takes(op.requant, *end_values(*_constants(node), op.x_zero_point, node.ins[0].dtype), wide=True)


CONV_TRANSPOSE = adapted("conv_transpose", "conv_transpose.c.j2", "row", _accepts, _context, _params)
