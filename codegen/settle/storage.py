"""Quantize, Dequantize and Cast.

Decides: what they mean on every state of a tensor.  Quantize is where pending results are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, QuantAxisBad, TypeUnsupported, ZeroPointBad
from codegen.ir.graph import Node
from codegen.ir.op import Op
from codegen.ir.quant import DType, Quant
from codegen.ir.real import RealNode, Stored
from codegen.ops import Lut, PiecewiseLinear, Rescale
from codegen.ops import Quantize as QuantizeOp
from codegen.ops.piecewise_linear import SLOPE_BITS, VALUE_BITS
from codegen.ops.requantize import activation_bounds, make_requant
from codegen.real.elementwise import Cast
from codegen.real.storage import Dequantize, Quantize
from codegen.settle.channels import dequantize_channels, quantize_channels
from codegen.settle.context import Context, real_bounds, refuse_unquantized
from codegen.settle.float32.inputs import or_float
from codegen.settle.linear import pending, scaled, with_linear
from codegen.settle.rule import Family, Rule
from codegen.settle.states import (
    Accum,
    Channelled,
    Float,
    Int,
    Pending,
    Real,
    Request,
    Route,
    State,
)
from codegen.settle.tables import quantized
from codegen.settle.words import UNSIGNED_WORD, WORDS_ARE_SIGNED, shift_of, whole_numbers

_FLOATS = ("float32", "float16", "float64", "bfloat16")
_WHOLE = {"int32": "", "int64": "int64"}


def quantize(ctx: Context, node: RealNode, op: Quantize) -> Sequence[State]:
    """Writes what has waited for a scale."""
    x, stored = ctx.state(node, 0), op.stored
    dtype = held_in(node, stored)
    word = UNSIGNED_WORD if stored.dtype == np.uint16 else ""
    if word:
        ctx.note(WORDS_ARE_SIGNED)
    if isinstance(x, Pending) and stored.axis is not None and not _is_even(stored):
        return [quantize_channels(ctx, node, x, stored, dtype)]
    return [Int(quantize_state(ctx, node, x, one_quant(node, stored), dtype, node.inputs[0], node.outputs[0]), word)]


def held_in(node: RealNode, stored: Stored) -> DType:
    """The element type in which the network holds the integers."""
    name = "int16" if stored.dtype == np.uint16 else stored.dtype.name
    found = next((d for d in DType if not d.is_float and d.numpy.name == name), None)
    if stored.block or stored.bits or found is None:
        what = "block-wise quantization" if stored.block else f"numbers of {stored.bits} bits"
        raise FormUnsupported(what, where=node.where, hint="quantize per tensor or per axis, to 8 or 16 bits")
    return found


def one_quant(node: RealNode, stored: Stored) -> Quant:
    """The meaning of a computed tensor, which has one scale."""
    if not _is_even(stored):
        found = f"{stored.scale.size} scales for a tensor that the network computes"
        raise QuantAxisBad(found, where=node.where, hint="only weights and biases may be quantized per channel")
    zero = int(stored.zero_point.reshape(-1)[0]) + shift_of(stored.dtype)
    return Quant(float(stored.scale.reshape(-1)[0]), zero)


def _is_even(stored: Stored) -> bool:
    """Whether one scale and one zero point serve for the whole tensor."""
    scale, zero = stored.scale.reshape(-1), stored.zero_point.reshape(-1)
    return not ((scale != scale[0]).any() or (zero != zero[0]).any())


def quantize_state(ctx: Context, node: RealNode, x: State, quant: Quant, dtype: DType, tensor: str, name: str) -> str:
    """The value that holds a float tensor of the model quantized; the same question gets the same value."""
    if dtype is DType.S32:
        raise TypeUnsupported("a result quantized to int32", where=node.where)
    key = (tensor, Request(quant, dtype, "", ()))
    if key not in ctx.emitted:
        ctx.emitted[key] = _quantize(ctx, node, x, quant, dtype, name)
    return ctx.emitted[key]


def _quantize(ctx: Context, node: RealNode, x: State, quant: Quant, dtype: DType, name: str) -> str:
    match x:
        case Float(value=value):
            note = "QuantizeLinear -> Quantize"
            return ctx.run(value, Route(QuantizeOp(dtype, quant)), name, (node,), note)
        case Real(trail=trail):
            with or_float(trail):
                return quantized(ctx, x, Request(quant, dtype, name, (*trail, node)))
        case Pending(trail=trail, low=low, high=high, emit=emit):
            with or_float(trail):
                return emit(Request(quant, dtype, name, (*trail, node), low, high))
        case Accum(linear=linear, trail=trail):
            return _quantize(ctx, node, replace(pending(ctx, node, linear), trail=trail), quant, dtype, name)
        case Channelled():
            raise refuse_unquantized(node, 0, x)
        case _:
            raise FormUnsupported("an integer tensor is quantized", where=node.where)


def dequantize(ctx: Context, node: RealNode, op: Dequantize) -> Sequence[State]:
    """Says what integers mean."""
    x = ctx.state(node, 0)
    match x:
        case Int(value=value):
            held_in(node, op.stored)
            return [meaning(ctx, node, value, one_quant(node, op.stored))]
        case Channelled():
            return [dequantize_channels(node, x, op.stored)]
        case Accum(linear=linear):
            quant = _no_zero(node, one_quant(node, op.stored))
            factor = np.full(len(linear.scales), quant.scale, np.float32)
            linear = scaled(linear, factor, node)
            return [replace(pending(ctx, node, linear), trail=(*x.trail, node))]
        case _:
            raise FormUnsupported("a float tensor is dequantized", where=node.where)


def meaning(ctx: Context, node: RealNode, value: str, quant: Quant) -> Real | Pending:
    """A computed integer tensor as real numbers."""
    kind = ctx.type(value)
    if kind.dtype is DType.S32:
        return rescaled(ctx, node, value, _no_zero(node, quant))
    if kind.quant is None and is_passed_on(ctx, value, quant):
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


def is_passed_on(ctx: Context, value: str, quant: Quant) -> bool:
    """Whether integers have the meaning that those have from which they come, down to inputs and constants."""
    for node, moved in _before(ctx, value):
        kinds = [ctx.type(name) for name in node.inputs]
        meant = [replace(k, quant=quant) if n in moved else k for n, k in zip(node.inputs, kinds, strict=True)]
        if node.op.infer(meant)[node.outputs.index(value)].quant != quant:
            return False
        if not all(is_passed_on(ctx, name, quant) for name in moved):
            return False
    return True


def declare(ctx: Context, value: str, quant: Quant) -> None:
    """Give integers of an input or a constant, and what is only moved from them, the meaning their readers state."""
    values = ctx.builder.values
    values[value] = replace(values[value], type=replace(values[value].type, quant=quant))
    for _, moved in _before(ctx, value):
        for name in moved:
            declare(ctx, name, quant)


def _before(ctx: Context, value: str) -> list[tuple[Node, list[str]]]:
    """The node that makes a value, if there is one, and its inputs of integers of that type without a meaning."""
    dtype = ctx.type(value).dtype
    made = [node for node in ctx.builder.nodes if value in node.outputs]
    kinds = {name: ctx.type(name) for node in made for name in node.inputs}
    return [(n, [i for i in n.inputs if kinds[i].quant is None and kinds[i].dtype is dtype]) for n in made]


def rescaled(ctx: Context, node: RealNode, value: str, quant: Quant) -> Pending:
    """Computed int32 sums times a scale."""

    def emit(request: Request) -> str:
        low, high = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        requant = make_requant(ctx.mode, quant.scale, [1.0], request.quant, request.dtype, low, high)
        op = Rescale(requant, request.dtype, request.quant)
        return ctx.run(value, Route(op), request.name, request.trail, f"int32 sums -> Rescale, requant {requant.mode}")

    return Pending(ctx.type(value).shape, emit, (node,))


def cast(ctx: Context, node: RealNode, op: Cast) -> Sequence[State]:
    """Cast to float: of int32 sums as in the ConvInteger pattern, of integers as pixels; of floats it is nothing.

    Integers that a float of 16 bits does not hold are rounded to it as real numbers.
    Of integers to the type that they have it is nothing either, nor between 32 and 64 bits, which are ours of 32.
    """
    x = ctx.state(node, 0)
    if op.to in _FLOATS and not (isinstance(x, Int) and op.rounds(ctx.real(node.inputs[0]).dtype)):
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
    if isinstance(x, Int) and ctx.kind(x) == op.to:
        return [x]
    if isinstance(x, Int) and ctx.type(x.value).dtype is DType.S32 and op.to in _WHOLE:
        return [Int(x.value, _WHOLE[op.to])]
    found = f"a cast of {ctx.kind(x)} numbers to {op.to}"
    raise FormUnsupported(found, where=node.where)


def _no_zero(node: RealNode, quant: Quant) -> Quant:
    if quant.zero_point:
        raise ZeroPointBad(f"int32 numbers with zero point {quant.zero_point}", where=node.where)
    return quant


RULES: Family = (
    Rule(Cast, cast, ("Cast",)),
    Rule(Dequantize, dequantize, ("DequantizeLinear",)),
    Rule(Quantize, quantize, ("QuantizeLinear",)),
)
