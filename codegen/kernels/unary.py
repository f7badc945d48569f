"""Element by element, one input: Lut, Lut16, InverseSqrt, Clamp, Quantize, Dequantize, Rescale."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType
from codegen.kernels.common import RequantContext, channels, range_field, requant_context, requant_fields, requant_takes
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import Clamp, Dequantize, InverseSqrt, Lut, Lut16, Quantize, Rescale
from codegen.records import record


@record
class ElementContext:
    """Elements per pixel; `wide` where a centred input needs 64 bits, `away` where halves go away from zero."""

    channels: int
    wide: bool = False
    away: bool = False


@record
class RescaleContext:
    """Elements per pixel, which may each have a factor."""

    channels: int
    rq: RequantContext


def byte_table(table: tuple[int, ...], x_dtype: DType, y_dtype: DType) -> Array:
    """A table that starts at the lowest value, in the order of the input's bytes read as unsigned."""
    return np.roll(np.array(table, y_dtype.numpy), x_dtype.low)


def _fit_lut(node: NodeOf[Lut]) -> Fit:
    x, op = node.ins[0], node.op
    return Fit(ElementContext(channels(x.shape)), (Field("table", byte_table(op.table, x.dtype, op.y_dtype)),))


def _fit_lut16(node: NodeOf[Lut16]) -> Fit:
    return Fit(ElementContext(channels(node.ins[0].shape)), (Field("table", np.array(node.op.table, np.int16)),))


def _fit_inverse_sqrt(node: NodeOf[InverseSqrt]) -> Fit:
    scaling = Field("scaling", np.array([node.op.multiplier, node.op.exponent], np.int32))
    return Fit(ElementContext(channels(node.ins[0].shape)), (scaling,))


def _fit_clamp(node: NodeOf[Clamp]) -> Fit:
    x = node.ins[0]
    bounds = Field("bounds", np.array([node.op.low, node.op.high], x.dtype.numpy))
    return Fit(ElementContext(channels(x.shape)), (bounds,))


def _fit_quantize(node: NodeOf[Quantize]) -> Fit:
    op = node.op
    bounds = range_field(op.y_quant.zero_point, op.y_dtype.low, op.y_dtype.high)
    scale = Field("scale", np.array([op.y_quant.scale], np.float32))
    return Fit(ElementContext(channels(node.ins[0].shape), away=op.half_away), (scale, bounds))


def _fit_dequantize(node: NodeOf[Dequantize]) -> Fit:
    x, quant = node.ins[0], node.op.x_quant
    wide = x.dtype is DType.S32 and quant.zero_point != 0
    scale = Field("scale", np.array([quant.scale], np.float32))
    return Fit(ElementContext(channels(x.shape), wide), (scale, Field("zero", np.array([quant.zero_point], np.int32))))


def _fit_rescale(node: NodeOf[Rescale]) -> Fit | None:
    requant = node.op.requant
    # every s32; a 15-bit multiplier takes even more
    if not requant_takes(requant, DType.S32.low, DType.S32.high):
        return None
    rq = requant_context(requant)
    return Fit(RescaleContext(channels(node.ins[0].shape), rq), requant_fields(requant), headers=rq.headers)


LUT = Kernel("lut", "lut.c.j2", "pixels", (Lut,), _fit_lut, one_input=True, program_memory=True)
LUT16 = Kernel("lut16", "lut16.c.j2", "pixels", (Lut16,), _fit_lut16, one_input=True, headers=("lam_fixed.h",))
INVERSE_SQRT = Kernel(
    "inverse_sqrt",
    "inverse_sqrt.c.j2",
    "pixels",
    (InverseSqrt,),
    _fit_inverse_sqrt,
    one_input=True,
    headers=("lam_fixed.h",),
)
CLAMP = Kernel("clamp", "clamp.c.j2", "pixels", (Clamp,), _fit_clamp, one_input=True, program_memory=True)
QUANTIZE = Kernel(
    "quantize", "quantize.c.j2", "pixels", (Quantize,), _fit_quantize, one_input=True, headers=("lam_linear.h",)
)
DEQUANTIZE = Kernel(
    "dequantize", "dequantize.c.j2", "pixels", (Dequantize,), _fit_dequantize, one_input=True, headers=("lam_linear.h",)
)
RESCALE = Kernel("rescale", "rescale.c.j2", "pixels", (Rescale,), _fit_rescale, one_input=True, program_memory=True)

KERNELS: tuple[Kernel[Any], ...] = (LUT, LUT16, INVERSE_SQRT, CLAMP, QUANTIZE, DEQUANTIZE, RESCALE)
