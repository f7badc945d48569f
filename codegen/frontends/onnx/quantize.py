"""QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear and Cast.

Decides: what the two nodes mean on every state of a tensor.  QuantizeLinear is where pending results are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from onnx import TensorProto

from codegen.errors import FormUnsupported, QuantizationDynamic, TypeUnsupported, ZeroPointBad
from codegen.frontends.onnx.channels import dequantize_channels, quantize_channels, varies
from codegen.frontends.onnx.context import Context, array_of, real_bounds, refuse_unquantized
from codegen.frontends.onnx.linear import pending, scaled, with_linear
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.qparams import (
    UNSIGNED_WORD,
    WORDS_ARE_SIGNED,
    dequantized,
    dtype_of,
    one_quant,
    quantize_const,
    read_scale,
    read_zero_point,
    refuse_blocks,
    refuse_other_word,
    unsigned,
    whole_numbers,
    zero_kind,
)
from codegen.frontends.onnx.states import (
    Accum,
    Channelled,
    Const,
    Float,
    Int,
    IntConst,
    Pending,
    Real,
    Request,
    Route,
    State,
)
from codegen.frontends.onnx.tables import quantized
from codegen.frontends.onnx.tensors import type_name
from codegen.ir.op import Op
from codegen.ir.quant import DType, Quant
from codegen.ops import Lut, PiecewiseLinear, Quantize, Rescale
from codegen.ops.piecewise_linear import SLOPE_BITS, VALUE_BITS
from codegen.ops.requantize import activation_bounds, make_requant

_OUTPUT_TYPES = {TensorProto.UINT8: DType.U8, TensorProto.INT8: DType.S8, TensorProto.INT16: DType.S16}
_WHOLE_TYPES = {TensorProto.INT32: "", TensorProto.INT64: "int64"}
_FLOAT_TYPES = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)


def quantize_linear(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """QuantizeLinear: writes what has waited for a scale."""
    refuse_blocks(node)
    x = ctx.state(node, 0)
    scale = read_scale(ctx, node, 1)
    word = _is_unsigned_word(ctx, node)
    zero = read_zero_point(ctx, node, 2, scale, UNSIGNED_WORD if word else "")
    dtype = _quantized_type(node) if zero is None else dtype_of(zero.dtype, node)
    if isinstance(x, Const | IntConst):
        array = array_of(x)
        assert array is not None, "constants have numbers"
        ints = quantize_const(ctx, node, array, scale, zero, dtype, node.integer("axis", 1))
        return [Const(unsigned(ints) if word else ints)]
    if isinstance(x, Pending) and varies(scale):
        return [quantize_channels(ctx, node, x, scale, zero, dtype)]
    value = quantize_state(ctx, node, x, one_quant(node, scale, zero), dtype, node.inputs[0], node.outputs[0])
    return [Int(value, UNSIGNED_WORD if word else "")]


def _is_unsigned_word(ctx: Context, node: OnnxNode) -> bool:
    """Whether the result is uint16, which the network holds as int16: 2^15 less, and so is its zero point."""
    given = zero_kind(ctx, node, 2)
    word = given == UNSIGNED_WORD or (not given and node.integer("output_dtype", 0) == TensorProto.UINT16)
    if word:
        ctx.note(WORDS_ARE_SIGNED)
    return word


def quantize_state(ctx: Context, node: OnnxNode, x: State, quant: Quant, dtype: DType, tensor: str, name: str) -> str:
    """The value that holds a float tensor of the model quantized; the same question gets the same value."""
    if dtype is DType.S32:
        raise TypeUnsupported("a result quantized to int32", where=node.where)
    key = (tensor, Request(quant, dtype, "", ()))
    if key not in ctx.emitted:
        ctx.emitted[key] = _quantize(ctx, node, x, quant, dtype, name)
    return ctx.emitted[key]


def _quantize(ctx: Context, node: OnnxNode, x: State, quant: Quant, dtype: DType, name: str) -> str:
    match x:
        case Float(value=value):
            note = "QuantizeLinear -> Quantize"
            return ctx.run(value, Route(Quantize(dtype, quant)), name, (node,), note)
        case Real(trail=trail):
            return quantized(ctx, x, Request(quant, dtype, name, (*trail, node)))
        case Pending(trail=trail, low=low, high=high, emit=emit):
            return emit(Request(quant, dtype, name, (*trail, node), low, high))
        case Accum(linear=linear, trail=trail):
            return _quantize(ctx, node, replace(pending(ctx, node, linear), trail=trail), quant, dtype, name)
        case Channelled():
            raise refuse_unquantized(node, 0, x)
        case _:
            raise FormUnsupported("an integer tensor is quantized", where=node.where)


def dequantize_linear(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """DequantizeLinear: says what integers mean."""
    refuse_blocks(node)
    x = ctx.state(node, 0)
    scale = read_scale(ctx, node, 1, constant=isinstance(x, Const))
    kind = ctx.kind(x)
    refuse_other_word(ctx, node, kind)
    zero = read_zero_point(ctx, node, 2, scale, kind)
    match x:
        case Const(array=array):
            return [dequantized(ctx, node, array, scale, zero, node.integer("axis", 1))]
        case Int(value=value):
            zero_type = None if zero is None else dtype_of(zero.dtype, node)
            return [meaning(ctx, node, value, one_quant(node, scale, zero), zero_type)]
        case Channelled():
            return [dequantize_channels(node, x, scale, zero)]
        case Accum(linear=linear):
            quant = _no_zero(node, one_quant(node, scale, zero))
            factor = np.full(len(linear.scales), quant.scale, np.float32)
            linear = scaled(linear, factor, node)
            return [replace(pending(ctx, node, linear), trail=(*x.trail, node))]
        case _:
            raise FormUnsupported("a float tensor is dequantized", where=node.where)


def meaning(ctx: Context, node: OnnxNode, value: str, quant: Quant, zero_type: DType | None = None) -> Real | Pending:
    """A computed integer tensor as real numbers."""
    kind = ctx.type(value)
    if zero_type is not None and zero_type is not kind.dtype:
        found = f"zero point of type {zero_type.value} for a tensor of type {kind.dtype.value}"
        raise ZeroPointBad(found, where=node.where)
    if kind.dtype is DType.S32:
        return rescaled(ctx, node, value, _no_zero(node, quant))
    if kind.quant is None:
        declare(ctx, value, quant)
    elif kind.quant != quant:
        note = "DequantizeLinear with another scale than QuantizeLinear: the same integers, read anew"
        op = as_it_is(kind.dtype, quant)
        value = ctx.run(value, Route(op), f"{node.outputs[0]}:int", (node,), note)
    return Real(value, quant)


def as_it_is(dtype: DType, quant: Quant) -> Op:
    """The operator that gives the same integers another meaning."""
    if dtype is DType.S16:
        return PiecewiseLinear(((dtype.low, dtype.low << VALUE_BITS, 1 << SLOPE_BITS),), dtype, quant, "Reinterpret")
    return Lut(tuple(range(dtype.low, dtype.high + 1)), dtype, quant, "Reinterpret")


def declare(ctx: Context, value: str, quant: Quant) -> None:
    """Give a network input of integers, and what is only moved from it, the meaning its readers state."""
    values = ctx.builder.values
    values[value] = replace(values[value], type=replace(values[value].type, quant=quant))
    for node in ctx.builder.nodes:
        if value in node.outputs:
            for name in node.inputs:
                if values[name].type.quant is None and values[name].data is None:
                    declare(ctx, name, quant)


def rescaled(ctx: Context, node: OnnxNode, value: str, quant: Quant) -> Pending:
    """Computed int32 sums times a scale."""

    def emit(request: Request) -> str:
        low, high = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        requant = make_requant(ctx.mode, quant.scale, [1.0], request.quant, request.dtype, low, high)
        op = Rescale(requant, request.dtype, request.quant)
        return ctx.run(value, Route(op), request.name, request.trail, f"int32 sums -> Rescale, requant {requant.mode}")

    return Pending(ctx.type(value).shape, emit, (node,))


def dynamic_quantize_linear(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Refused: the scale would be computed at run time."""
    raise QuantizationDynamic("a scale is computed while the network runs", where=node.where)


def cast(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Cast to float: of int32 sums as in the ConvInteger pattern, of integers as pixels; of floats it is nothing.

    Of integers to the type that they have it is nothing either, nor between 32 and 64 bits, which are ours of 32.
    """
    x = ctx.state(node, 0)
    target = node.integer("to")
    if target in _FLOAT_TYPES:
        match x:
            case Accum(linear=linear, trail=trail):
                return [with_linear(ctx, replace(pending(ctx, node, linear), trail=trail), linear, node)]
            case Int(value=value) if ctx.type(value).dtype is DType.S32:
                return [rescaled(ctx, node, value, Quant(1.0))]
            case Int(value=value):
                return [meaning(ctx, node, value, whole_numbers(x))]
            case Real() | Pending() | Float():
                return [x]
            case _:
                pass
    if isinstance(x, Int) and ctx.kind(x) == type_name(target):
        return [x]
    if isinstance(x, Int) and ctx.type(x.value).dtype is DType.S32 and target in _WHOLE_TYPES:
        return [Int(x.value, _WHOLE_TYPES[target])]
    found = f"a cast of {ctx.kind(x)} numbers to {type_name(target)}"
    raise FormUnsupported(found, where=node.where)


def _quantized_type(node: OnnxNode) -> DType:
    output_type = node.integer("output_dtype", 0) or TensorProto.UINT8
    if output_type not in _OUTPUT_TYPES:
        raise TypeUnsupported(f"quantization to {type_name(output_type)}", where=node.where)
    return _OUTPUT_TYPES[output_type]


def _no_zero(node: OnnxNode, quant: Quant) -> Quant:
    if quant.zero_point:
        raise ZeroPointBad(f"int32 numbers with zero point {quant.zero_point}", where=node.where)
    return quant
