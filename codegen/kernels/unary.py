"""Element by element, one input: Lut, Lut16, Clamp, Quantize, Dequantize, Rescale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array, DType
from codegen.kernels.common import (
    RequantContext,
    channels,
    only_dynamic,
    range_field,
    requant_context,
    requant_fields,
    requant_takes,
)
from codegen.kernels.kernel import adapted
from codegen.ops import Clamp, Dequantize, Lut, Lut16, Quantize, Rescale


@dataclass(frozen=True, slots=True)
class ElementContext:
    """Elements per pixel; `wide` where a centred input needs 64 bits, `away` where halves go away from zero."""

    channels: int
    wide: bool = False
    away: bool = False


@dataclass(frozen=True, slots=True)
class RescaleContext:
    """Elements per pixel, which may each have a factor."""

    channels: int
    rq: RequantContext


def byte_table(table: tuple[int, ...], x_dtype: DType, y_dtype: DType) -> Array:
    """A table that starts at the lowest value, in the order of the input's bytes read as unsigned."""
    return np.roll(np.array(table, y_dtype.numpy), x_dtype.low)


def _element_context(node: NodeView) -> ElementContext:
    op, x = node.op, node.ins[0]
    wide = isinstance(op, Dequantize) and x.dtype is DType.S32 and op.x_quant.zero_point != 0
    return ElementContext(channels(x.shape), wide, isinstance(op, Quantize) and op.half_away)


def _rescale_context(node: NodeView) -> RescaleContext:
    assert isinstance(node.op, Rescale)
    return RescaleContext(channels(node.ins[0].shape), requant_context(node.op.requant))


def _lut_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Lut)
    return (Field("table", byte_table(op.table, node.ins[0].dtype, op.y_dtype)),)


def _lut16_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Lut16)
    return (Field("table", np.array(op.table, np.int16)),)


def _clamp_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Clamp)
    return (Field("bounds", np.array([op.low, op.high], node.ins[0].dtype.numpy)),)


def _quantize_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Quantize)
    bounds = range_field(op.y_quant.zero_point, op.y_dtype.low, op.y_dtype.high)
    return (Field("scale", np.array([op.y_quant.scale], np.float32)), bounds)


def _dequantize_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Dequantize)
    return (
        Field("scale", np.array([op.x_quant.scale], np.float32)),
        Field("zero", np.array([op.x_quant.zero_point], np.int32)),
    )


def _rescale_params(node: NodeView) -> tuple[Field, ...]:
    assert isinstance(node.op, Rescale)
    return requant_fields(node.op.requant)


def _accepts_lut(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Lut) and only_dynamic(node)


def _accepts_lut16(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Lut16) and only_dynamic(node)


def _accepts_clamp(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Clamp) and only_dynamic(node)


def _accepts_quantize(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Quantize) and only_dynamic(node)


def _accepts_dequantize(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Dequantize) and only_dynamic(node)


def _accepts_rescale(node: NodeView, isa: str) -> bool:
    op = node.op
    return isinstance(op, Rescale) and only_dynamic(node) and _takes_all(op)


def _takes_all(op: Rescale) -> bool:
    """Whether every s32 can be rescaled; a 15-bit multiplier takes even more."""
    return requant_takes(op.requant, DType.S32.low, DType.S32.high)


LUT = adapted("lut", "lut.c.j2", "pixels", _accepts_lut, _element_context, _lut_params)
LUT16 = adapted("lut16", "lut16.c.j2", "pixels", _accepts_lut16, _element_context, _lut16_params)
CLAMP = adapted("clamp", "clamp.c.j2", "pixels", _accepts_clamp, _element_context, _clamp_params)
QUANTIZE = adapted("quantize", "quantize.c.j2", "pixels", _accepts_quantize, _element_context, _quantize_params)
DEQUANTIZE = adapted(
    "dequantize", "dequantize.c.j2", "pixels", _accepts_dequantize, _element_context, _dequantize_params
)
RESCALE = adapted("rescale", "rescale.c.j2", "pixels", _accepts_rescale, _rescale_context, _rescale_params)
