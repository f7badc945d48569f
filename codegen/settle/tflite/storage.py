"""QUANTIZE, DEQUANTIZE and CAST."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.errors import FormUnsupported
from codegen.ir.quant import DType, Quant
from codegen.ir.real import RealNode
from codegen.ops import Cast, Dequantize, Quantize, Reshape, TwoSlopes
from codegen.ops.two_slopes import slope
from codegen.real import elementwise
from codegen.real import storage as real
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Float, Int, Real, Request, State
from codegen.settle.tflite.context import TfliteContext
from codegen.settle.tflite.records import DTYPES, meaning
from codegen.settle.tflite.unary import EIGHT_BIT, rescaled


def restore(ctx: TfliteContext, node: RealNode, op: real.Restore) -> Sequence[State]:
    """The same numbers held otherwise: as real ones, or as integers of a scale."""
    state = ctx.state(node, 0)
    if ctx.record(node.outputs[0]).stored is None:
        x = ctx.quantized(node, 0, shifted_16=True)
        return [Float(ctx.made(node, Dequantize(x.quant), (x.value,)))]
    if isinstance(state, Float):
        return [ctx.waiting(node, lambda request: _quantized(ctx, request, state), shifted_16=True)]
    x = ctx.quantized(node, 0, shifted_16=True)
    return [ctx.waiting(node, lambda request: _requantized(ctx, x, request), shifted_16=True)]


def as_recorded(ctx: TfliteContext, node: RealNode, name: str, state: State) -> State:
    """A tensor of real numbers whose record says that integers hold it, quantized."""
    record = ctx.record(name)
    if record.stored is None or not isinstance(state, Float):
        return state
    quant, dtype = meaning(record, node.where, shifted_16=True)
    op = Quantize(dtype, quant, half_away=ctx.mode == "tflite")
    return Real(ctx.apply(node, op, (state.value,)), quant)


def _quantized(ctx: TfliteContext, request: Request, x: Float) -> str:
    op = Quantize(request.dtype, request.quant, half_away=ctx.mode == "tflite")
    return ctx.write(request, op, (x.value,))


def _requantized(ctx: TfliteContext, x: Real, request: Request) -> str:
    factor, dtype = x.quant.scale / request.quant.scale, request.dtype
    if ctx.type(x.value).dtype in EIGHT_BIT and dtype in EIGHT_BIT:
        return rescaled(ctx, x, request, factor, factor, (dtype.low, dtype.high), "Identity", {})
    step = slope(factor)
    op = TwoSlopes(x.quant.zero_point, step, step, False, dtype.low, dtype.high, dtype, request.quant)
    return ctx.write(request, op, (x.value,))


def quantize(ctx: TfliteContext, node: RealNode, op: real.Quantize) -> Sequence[State]:
    """The integers that hold a tensor, as numbers of their own."""
    return [Int(ctx.value(node, 0))]


def dequantize(ctx: TfliteContext, node: RealNode, op: real.Dequantize) -> Sequence[State]:
    """What integers mean; the output's record says it."""
    return [Int(ctx.value(node, 0))]


def cast(ctx: TfliteContext, node: RealNode, op: elementwise.Cast) -> Sequence[State]:
    """Integers as wider ones, as narrower ones that have their low bits, or as real numbers."""
    value, source = ctx.value(node, 0), ctx.dtype(node, 0)
    target = DTYPES.get(op.to, DType.F32)
    if source is target is DType.S32 and ctx.kind_of(node, 0) != "uint64":
        return [Int(ctx.made(node, Reshape(ctx.type(value).shape), (value,)), op.to)]
    if target is DType.F32 and source is not DType.F32:
        return [Float(ctx.made(node, Dequantize(Quant(1.0)), (value,)))]
    if (
        not (target.is_float or source.is_float or op.to == "bool")
        and target.bytes <= source.bytes
        and target is not source
    ):
        return [Int(ctx.made(node, Cast(target), (value,)), op.to)]
    if DType.F32 in (target, source) or target.low > source.low or target.high < source.high:
        hint = "quantize instead of casting"
        raise FormUnsupported(f"a cast from {source.value} to {target.value}", where=node.where, hint=hint)
    one = slope(1.0)
    made = TwoSlopes(0, one, one, False, target.low, target.high, target, Quant(1.0))
    return [Int(ctx.made(node, made, (value,)), op.to)]


RULES: Family = (
    Rule(elementwise.Cast, cast, ("CAST",)),
    Rule(real.Dequantize, dequantize, ("DEQUANTIZE",)),
    Rule(real.Quantize, quantize),
    Rule(real.Restore, restore, ("QUANTIZE",)),
)
