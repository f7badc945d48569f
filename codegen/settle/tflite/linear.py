"""CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV and FULLY_CONNECTED.

Decides: how the model's weights become [outputs, rows, columns, depth] with their zero point subtracted, and how wide
accumulators are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import (
    FormUnsupported,
    InputMissing,
    QuantAxisBad,
    ResultNotQuantized,
    ScaleBad,
    ShapeMismatch,
    TypeUnsupported,
    ZeroPointBad,
)
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Mode, Requant
from codegen.ir.real import RealNode
from codegen.ops import Conv2D, ConvTranspose2D, Dense
from codegen.ops.accumulator import INT32_LIMIT, accumulator_bound
from codegen.real import product as real
from codegen.real import window
from codegen.records import record
from codegen.settle.linear import operands
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Real, Request, State
from codegen.settle.tflite.context import TfliteContext, bounds
from codegen.settle.tflite.matmul import product_of_two
from codegen.settle.tflite.records import kind_of
from codegen.settle.tflite.scales import channel_requant, product_requant

_WIDE_BOUND = 1 << 47
_WEIGHT_KINDS = ("int8", "uint8", "int4")
_NARROW_BIAS = ("CONV_2D", "FULLY_CONNECTED")
"""Operators whose biases may have 32 bits where activations have 16."""


@record(eq=False)
class Product:
    """What a product multiplies and adds: weights [outputs, ...] and biases, int64, and scales of the former."""

    x: Real
    weights: Array
    scales: Array
    bias: Array
    wide: bool
    bits: int


def conv(ctx: TfliteContext, node: RealNode, op: window.Conv) -> Sequence[State]:
    """A convolution with weights [outputs, depth, rows, columns]."""
    found = _product(ctx, node, 4, 0, (0, 2, 3, 1))
    h, w = op.windows

    def write(request: Request) -> str:
        requant = _requant(ctx, node, found, request, ctx.mode)
        made = Conv2D(h, w, op.groups, found.x.quant.zero_point, requant, request.dtype, request.quant)
        return _write(ctx, request, made, found, requant)

    return [ctx.waiting(node, write)]


def conv_transpose(ctx: TfliteContext, node: RealNode, op: window.ConvTranspose) -> Sequence[State]:
    """A transposed convolution with weights [depth, outputs, rows, columns]."""
    found = _product(ctx, node, 4, 1, (1, 2, 3, 0))
    h, w = op.windows
    sizes = zip(ctx.type(found.x.value).shape[1:3], op.windows, op.out_spatial, strict=True)
    rows, columns = (max(out - (n - 1) * v.stride - v.size + v.pad_before, 0) for n, v, out in sizes)

    def write(request: Request) -> str:
        requant = _requant(ctx, node, found, request, ctx.mode)
        zero = found.x.quant.zero_point
        made = ConvTranspose2D(h, w, (rows, columns), 1, zero, requant, request.dtype, request.quant)
        return _write(ctx, request, made, found, requant)

    return [ctx.waiting(node, write)]


def dense(ctx: TfliteContext, node: RealNode, op: real.Dense) -> Sequence[State]:
    """A product with weights [outputs, depth], which may be computed where there is no bias."""
    if len(node.inputs) < 3 and ctx.known(node, 1) is None and len(ctx.real(node.inputs[0]).shape) > 1:
        return [product_of_two(ctx, node, turned=True)]
    found = _product(ctx, node, 2, 0, (0, 1))
    # LiteRT's kernel for uint8 rounds once, where all others round twice
    mode = "single" if ctx.mode == "tflite" and _is_uint8(ctx, found.x) else ctx.mode

    def write(request: Request) -> str:
        requant = _requant(ctx, node, found, request, mode, together=found.scales.size == 1)
        made = Dense(found.x.quant.zero_point, requant, request.dtype, request.quant)
        return _write(ctx, request, made, found, requant)

    return [ctx.waiting(node, write)]


def _product(ctx: TfliteContext, node: RealNode, rank: int, axis: int, order: Sequence[int]) -> Product:
    """Operands; the outputs of the weights are along `axis`, and `order` brings them to the front, depth to the end."""
    weights = read_weights(ctx, node, rank).transpose(order)
    if not weights.size:
        raise InputMissing("weights without elements", where=node.where)
    scales = _channel_scales(ctx, node, weights, axis)
    x = ctx.quantized(node, 0)
    bias = read_bias(ctx, node, len(weights))
    bits = _bits(ctx, node)
    return Product(x, weights, scales, bias, _is_wide(ctx, node, weights, bias, x), bits)


def _bits(ctx: TfliteContext, node: RealNode) -> int:
    """Those of the weights' type, where numpy does not know it."""
    stored = ctx.record(node.inputs[1]).stored
    return 0 if stored is None else stored.bits


def _requant(
    ctx: TfliteContext, node: RealNode, found: Product, request: Request, mode: Mode, *, together: bool = False
) -> Requant:
    """One factor per output, or one of which the scales' product is float32: so have the kernels for uint8 it."""
    target = (request.quant, request.dtype, bounds(request))
    x_scale = found.x.quant.scale
    if together or _is_uint8(ctx, found.x):
        return product_requant(mode, x_scale, float(found.scales[0]), *target, wide=found.wide)
    return channel_requant(mode, x_scale, found.scales, *target, wide=found.wide)


def _is_uint8(ctx: TfliteContext, x: Real) -> bool:
    return ctx.type(x.value).dtype is DType.U8


def _write(ctx: TfliteContext, request: Request, op: Op, found: Product, requant: Requant) -> str:
    node = request.trail[0]
    if int(found.bias.min()) < -INT32_LIMIT or int(found.bias.max()) >= INT32_LIMIT:
        raise FormUnsupported("a bias of more than 32 bits", where=node.where)
    weights, bias = operands(ctx, found.weights, found.bias, request.name, node.where, (found.bits, 0))
    channels = "per-channel" if requant.per_channel else "per-tensor"
    note = f"{node.op_type} -> {type(op).__name__}, {channels}, requant {requant.mode}"
    return ctx.write(request, op, (found.x.value, weights, bias), note=note)


def read_weights(ctx: TfliteContext, node: RealNode, rank: int, place: int = 1) -> Array:
    """Constant weights, int64, their zero point subtracted."""
    record, data = ctx.record(node.inputs[place]), ctx.constant(node, place)
    x, kind = ctx.kind_of(node, 0), kind_of(record)
    if x == "float32" and kind in _WEIGHT_KINDS:
        hint = "convert it with full-integer quantization, inputs and outputs of the layers too"
        raise FormUnsupported("a hybrid layer: float activations, quantized weights", where=node.where, hint=hint)
    if kind not in _WEIGHT_KINDS:
        raise TypeUnsupported(f"weights of type {kind}", where=node.where)
    if (kind == "uint8") != (x == "uint8"):
        raise TypeUnsupported(f"{x} activations with {kind} weights", where=node.where)
    if data.ndim != rank:
        raise ShapeMismatch(f"weights of shape {list(data.shape)}", where=node.where)
    zero = np.zeros(0, np.int64) if record.stored is None else record.stored.zero_point.reshape(-1)
    if zero.size and ((zero != zero[0]).any() or not (0 <= zero[0] <= 255 if kind == "uint8" else zero[0] == 0)):
        raise ZeroPointBad(f"zero point of weights '{record.name}' is {zero[zero != 0][0]}", where=node.where)
    return data.astype(np.int64) - (int(zero[0]) if zero.size else 0)


def read_scales(ctx: TfliteContext, node: RealNode, place: int) -> Array:
    """Scales of weights."""
    record = ctx.record(node.inputs[place])
    if record.stored is None:
        hint = "quantize the whole model: full-integer post-training quantization"
        raise ResultNotQuantized(f"weights '{record.name}' have no scale", where=node.where, hint=hint)
    return record.stored.scale.reshape(-1)


def _channel_scales(ctx: TfliteContext, node: RealNode, weights: Array, axis: int) -> Array:
    """One scale, or one per output channel, which are the first axis of `weights`; 0 where all weights are."""
    scales, record = read_scales(ctx, node, 1), ctx.record(node.inputs[1])
    assert record.stored is not None, "it has scales"
    if scales.size > 1 and (record.stored.axis != axis or scales.size != len(weights)):
        found = f"{scales.size} scales along another axis of weights '{record.name}' than their outputs"
        raise QuantAxisBad(found, where=node.where)
    if ((scales == 0) & weights.reshape(scales.size, -1).any(axis=1)).any():
        raise ScaleBad(f"a scale of weights '{record.name}' is 0, and its weights are not", where=node.where)
    return scales


def read_bias(ctx: TfliteContext, node: RealNode, outputs: int, place: int = 2) -> Array:
    """Integer biases at the scale of the products; zeros when there are none.

    LAM-IMPORT-019 for a type that TFLite Micro's kernels read as another one.
    """
    if place >= len(node.inputs):
        return np.zeros(outputs, np.int64)
    data = ctx.constant(node, place)
    x = ctx.kind_of(node, 0)
    allowed = ("int32",) if x != "int16" else ("int64", "int32") if node.op_type in _NARROW_BIAS else ("int64",)
    if str(data.dtype) not in allowed:
        hint = f"write it as {allowed[0]}, as TFLite's converter does"
        raise TypeUnsupported(f"{x} activations with a bias of type {data.dtype}", where=node.where, hint=hint)
    if data.size != outputs:
        raise ShapeMismatch(f"a bias of shape {list(data.shape)} for {outputs} outputs", where=node.where)
    return data.reshape(-1).astype(np.int64)


def _is_wide(ctx: TfliteContext, node: RealNode, weights: Array, bias: Array, x: Real) -> bool:
    """Whether sums are kept in 64 bits: TFLite does for 16-bit activations, and 32 bits could overflow otherwise.

    With a bias of 32 bits TFLite's kernels for 16-bit activations sum in 32 bits as well, and wrap: refused where sums
    could.
    """
    dtype = ctx.type(x.value).dtype
    bound = accumulator_bound(weights, bias, dtype.low, dtype.high, x.quant.zero_point)
    as_16_bits = dtype is DType.S16 and ctx.mode == "tflite"
    narrow = as_16_bits and _has_narrow_bias(ctx, node)
    if narrow and bound >= INT32_LIMIT:
        hint = "write the bias as int64, as TFLite's converter does: sums then have 64 bits"
        raise FormUnsupported(f"a bias of 32 bits, and sums of up to {bound}", where=node.where, hint=hint)
    wide = bound >= INT32_LIMIT or (as_16_bits and not narrow)
    if wide and (bound >= _WIDE_BOUND or ctx.mode == "ort"):
        hint = "use --requant tflite or single"
        raise FormUnsupported(f"sums of up to {bound} do not fit the accumulator", where=node.where, hint=hint)
    return wide


def _has_narrow_bias(ctx: TfliteContext, node: RealNode) -> bool:
    return node.op_type in _NARROW_BIAS and len(node.inputs) > 2 and ctx.constant(node, 2).dtype == np.int32


RULES: Family = (
    Rule(real.Dense, dense, ("FULLY_CONNECTED",)),
    Rule(window.Conv, conv, ("CONV_2D", "DEPTHWISE_CONV_2D")),
    Rule(window.ConvTranspose, conv_transpose, ("TRANSPOSE_CONV",)),
)
