"""Transposed convolution of any kind, gathered: one output row per call, from the input rows that reach it.

Weights [Cout, KH, KW, Cin/groups].  Which taps an output row or column meets depends on its number modulo the stride:
`row_tap` and `column_tap` hold the first of them by that phase, or the kernel's size where there is none.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType
from codegen.ir.shape import Window
from codegen.kernels.common import end_values, is_wide, requant_context, requant_fields, requant_takes
from codegen.kernels.conv2d import GroupedContext
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.planes import Laid, few_weights
from codegen.ops import ConvTranspose2D
from codegen.records import record


@record
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

    @property
    def last(self) -> int:
        """From the first of those taps to the last."""
        return (self.taps - 1) * self.step


@record(kw_only=True)
class TransposeContext(GroupedContext):
    """Literals of one transposed convolution."""

    h: Axis
    w: Axis

    @property
    def taps(self) -> int:
        """Input pixels that reach one output pixel, at most."""
        return self.h.taps * self.w.taps

    @property
    def w_spread(self) -> int:
        """Columns of a row whose pixels are set a stride apart."""
        return self.w_in * self.w.stride

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


def _is_wide(op: ConvTranspose2D, x: DType, weights: Array, bias: Array) -> bool:
    """Whether a sum could leave int32, with the zero point folded into the bias or, as here, taken from each input."""
    zero = op.x_zero_point
    sums = np.abs(weights.reshape(len(weights), -1).astype(np.int64)).sum(axis=1)
    bound = np.abs(bias.astype(np.int64)) + sums * max(x.high - zero, zero - x.low)
    return is_wide(weights, bias, zero, x) or bool((bound >= 2**31).any())


def _fit(node: NodeOf[ConvTranspose2D]) -> Fit | None:
    op, x = node.op, node.ins[0].dtype
    weights, bias = node.consts[1:3]
    if node.dynamic != (0,) or weights is None or bias is None:
        return None
    if not requant_takes(op.requant, *end_values(weights, bias, op.x_zero_point, x), wide=True):
        return None
    few = few_weights(node.ins[1], weights)
    plain = Laid((Field("weights", weights.reshape(-1)),))
    laid = few.laid(few.planes(len(weights), groups=op.groups)) if few else plain
    context = replace(_context(node, wide=_is_wide(op, x, weights, bias)), planes=laid.planes)
    params = (*_params(op, bias), *laid.stored)
    return Fit(context, params, why=laid.why, headers=(*context.rq.headers, *laid.headers))


def _context(node: NodeOf[ConvTranspose2D], *, wide: bool) -> TransposeContext:
    op, (x, w, _), y = node.op, node.ins, node.outs[0]
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


def _params(op: ConvTranspose2D, bias: Array) -> tuple[Field, ...]:
    return (
        Field("bias", bias.astype(np.int32)),
        Field("x_zero_point", np.array([op.x_zero_point], np.int32)),
        Field("row_tap", _first_taps(op.h)),
        Field("column_tap", _first_taps(op.w)),
        *requant_fields(op.requant),
    )


CONV_TRANSPOSE = Kernel("conv_transpose", "conv_transpose.c.j2", "row", (ConvTranspose2D,), _fit)

KERNELS: tuple[Kernel[Any], ...] = (CONV_TRANSPOSE,)
