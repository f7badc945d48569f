"""Elementwise operators of two tensors or more, and functions of a tensor's last axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.op import Op
from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ops import Add, AddN, Div, Extremum, L2Norm, LogSoftmax, Mul, PRelu, Softmax, SquaredDifference
from codegen.ops.l2_norm import OUTPUT as NORM_OUTPUT
from codegen.ops.log_softmax import OUTPUT as LOG_OUTPUT
from codegen.ops.requantize import make_requant
from codegen.ops.softmax16 import OUTPUT, softmax16
from codegen.real import elementwise as real
from codegen.real import normal, reduce
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Real, Request, State
from codegen.settle.tflite import logic, whole
from codegen.settle.tflite.context import TfliteContext, bounds

Make = Callable[[TfliteContext, Real, Real, Request], Op]


def binary(ctx: TfliteContext, node: RealNode, op: real.Binary) -> Sequence[State]:
    """Arithmetic of quantized or of plain numbers, a comparison, or logic."""
    if op.kind in logic.KINDS:
        return [logic.KINDS[op.kind](ctx, node, op.kind)]
    if whole.is_plain(ctx, node):
        return [whole.arithmetic(ctx, node, op.kind)]
    if op.kind not in _ARITHMETIC:
        hint = "int32 without a scale is supported"
        raise FormUnsupported(f"{node.op_type} of other numbers", where=node.where, hint=hint)
    a, b, make = ctx.quantized(node, 0), ctx.quantized(node, 1), _ARITHMETIC[op.kind]
    return [ctx.waiting(node, lambda request: ctx.write(request, make(ctx, a, b, request), (a.value, b.value)))]


def _sum(sign: int) -> Make:
    def make(ctx: TfliteContext, a: Real, b: Real, request: Request) -> Op:
        return Add(a.quant, b.quant, request.quant, request.dtype, *bounds(request), ctx.mode, sign)

    return make


def _quotient(ctx: TfliteContext, a: Real, b: Real, request: Request) -> Op:
    kinds = {ctx.type(a.value).dtype, ctx.type(b.value).dtype, request.dtype}
    if kinds != {DType.S8}:
        spoken = " and ".join(sorted(kind.value for kind in kinds))
        raise FormUnsupported(f"a quotient of {spoken}", hint="TFLite has quotients of int8")
    return Div(a.quant, b.quant, request.quant, *bounds(request))


def _times(ctx: TfliteContext, a: Real, b: Real, request: Request) -> Op:
    target = (request.quant, request.dtype, *bounds(request))
    requant = make_requant(ctx.mode, a.quant.scale, [b.quant.scale], *target)
    return Mul(a.quant.zero_point, b.quant.zero_point, requant, request.dtype, request.quant)


def _square(ctx: TfliteContext, a: Real, b: Real, request: Request) -> Op:
    dtype = request.dtype
    return SquaredDifference(a.quant, b.quant, request.quant, dtype, dtype.low, dtype.high)


def _extremum(largest: bool) -> Make:
    """Integers are compared as they are."""
    return lambda ctx, a, b, request: Extremum(largest, request.quant)


_ARITHMETIC: Mapping[str, Make] = {
    "Add": _sum(1),
    "Div": _quotient,
    "Max": _extremum(True),
    "Min": _extremum(False),
    "Mul": _times,
    "SquaredDifference": _square,
    "Sub": _sum(-1),
}


def add_n(ctx: TfliteContext, node: RealNode, op: real.AddN) -> Sequence[State]:
    """ADD_N, of tensors that share a scale and a zero point."""
    terms = [ctx.quantized(node, i) for i in range(len(node.inputs))]
    if len({(t.quant, ctx.type(t.value).dtype) for t in terms}) > 1:
        raise FormUnsupported("inputs of different scales or types", where=node.where)

    def write(request: Request) -> str:
        made = AddN(terms[0].quant, request.quant, request.dtype.low, request.dtype.high)
        return ctx.write(request, made, [t.value for t in terms])

    return [ctx.waiting(node, write)]


def prelu(ctx: TfliteContext, node: RealNode, op: real.PRelu) -> Sequence[State]:
    """PRELU."""
    x, slope = ctx.quantized(node, 0), ctx.quantized(node, 1)

    def write(request: Request) -> str:
        made = PRelu(x.quant, slope.quant, request.quant, request.dtype)
        return ctx.write(request, made, (x.value, slope.value))

    return [ctx.waiting(node, write)]


def softmax(ctx: TfliteContext, node: RealNode, op: reduce.Softmax) -> Sequence[State]:
    """SOFTMAX and LOG_SOFTMAX over the last axis."""
    if op.log:
        return [_log_softmax(ctx, node)]
    if not op.beta < np.float32(2**20):
        raise FormUnsupported(f"a factor beta of {op.beta}", where=node.where)
    x, kind = ctx.quantized(node, 0), ctx.dtype(node, 0)

    def write(request: Request) -> str:
        made: Op = Softmax(x.quant, request.quant, request.dtype, ctx.mode, op.beta)
        if kind is DType.S16:
            if (request.quant, request.dtype) != (OUTPUT, DType.S16):
                told = f"an output of scale {request.quant.scale}, TFLite has 1/32768"
                raise FormUnsupported(told, where=node.where)
            made = softmax16(x.quant, op.beta)
        return ctx.write(request, made, (x.value,))

    return [ctx.waiting(node, write, shifted_16=kind is not DType.S16)]


def _log_softmax(ctx: TfliteContext, node: RealNode) -> State:
    x = ctx.quantized(node, 0)

    def write(request: Request) -> str:
        if (request.quant, request.dtype) != (LOG_OUTPUT, DType.S8):
            told = f"an output of scale {request.quant.scale}, TFLite has 1/16 and zero point 127"
            raise FormUnsupported(told, where=node.where)
        return ctx.write(request, LogSoftmax(x.quant, request.quant, request.dtype, ctx.mode), (x.value,))

    return ctx.waiting(node, write)


def unit_length(ctx: TfliteContext, node: RealNode, op: normal.LpNorm) -> Sequence[State]:
    """L2_NORMALIZATION over the last axis."""
    x = ctx.quantized(node, 0)

    def write(request: Request) -> str:
        if bounds(request) != (request.dtype.low, request.dtype.high):
            raise FormUnsupported("a fused activation", where=node.where)
        if (request.quant, request.dtype) != (NORM_OUTPUT, DType.S8):
            told = f"an output of scale {request.quant.scale}, TFLite has 1/128 and zero point 0"
            raise FormUnsupported(told, where=node.where)
        return ctx.write(request, L2Norm(x.quant.zero_point), (x.value,))

    return [ctx.waiting(node, write)]


_BINARY = (
    *("ADD", "DIV", "EQUAL", "FLOOR_DIV", "FLOOR_MOD", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"),
    *("LOGICAL_AND", "LOGICAL_OR", "MAXIMUM", "MINIMUM", "MUL", "NOT_EQUAL", "SQUARED_DIFFERENCE", "SUB"),
)
RULES: Family = (
    Rule(normal.LpNorm, unit_length, ("L2_NORMALIZATION",)),
    Rule(real.AddN, add_n, ("ADD_N",)),
    Rule(real.Binary, binary, _BINARY),
    Rule(real.PRelu, prelu, ("PRELU",)),
    Rule(reduce.Softmax, softmax, ("LOG_SOFTMAX", "SOFTMAX")),
)
