"""Comparisons of quantized tensors, and choices between them.

Decides: that a comparison with constants is a table, or one with the integer at which it changes; that tensors of one
meaning are compared as integers, those of two in 8 bits by the ranks of their numbers, in 16 bits by the numbers
themselves; and that what is chosen from is brought to the meaning of the result before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen import fixedpoint
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType
from codegen.ir.real import RealNode
from codegen.ops import Broadcast, Cast, Compare, Lut, Reshape, Select
from codegen.ops.compare import is_near
from codegen.real.elementwise import Where
from codegen.settle.context import Context, array_of, story
from codegen.settle.join import clamped
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Const, Int, Pending, Real, Request, State
from codegen.settle.tables import EIGHT_BIT, exact, is_increasing, meant, reals_of

COMPARISONS: Mapping[str, str] = {
    "Equal": "==",
    "Greater": ">",
    "GreaterOrEqual": ">=",
    "Less": "<",
    "LessOrEqual": "<=",
    "NotEqual": "!=",
}
"""The relation of Compare that each comparison of a model is."""
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_BELOW = {"<": "<=", ">=": ">"}
"""The same relation with the integer before: x < n is x <= n - 1."""
_RELATIONS = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def comparison(ctx: Context, node: RealNode, kind: str) -> State:
    """A flag for each pair of numbers, one of them perhaps constant."""
    a, b = ctx.state(node, 0), ctx.state(node, 1)
    sign = COMPARISONS[kind]
    for index, constant in ((0, array_of(b)), (1, array_of(a))):
        x = ctx.state(node, index)
        if constant is not None and isinstance(x, Real):
            turned = sign if index == 0 else _TURNED.get(sign, sign)
            return _with_constant(ctx, node, index, x, (constant, turned))
    if not (isinstance(a, Real) and isinstance(b, Real)):
        raise ctx.real_only(node)
    return Int(_of_two(ctx, node, sign, exact(ctx, node, 0), exact(ctx, node, 1)))


def _with_constant(ctx: Context, node: RealNode, index: int, x: Real, relation: tuple[Array, str]) -> State:
    """With numbers that are known: a table where there is one of them, else integers at which the relation changes."""
    constant, sign = relation
    shape = ctx.real(node.outputs[0]).shape
    if constant.size == 1 and ctx.type(x.value).dtype in EIGHT_BIT:
        flags = _RELATIONS[sign](_numbers(ctx, x), constant.reshape(-1))
        value = _in_shape(ctx, x.value, shape)
        return Int(_written(ctx, node, Lut(tuple(int(f) for f in flags), DType.U8, None, node.op_type), value))
    if np.isnan(constant).any():
        raise ctx.real_only(node)
    x = x if is_increasing(ctx, x) else exact(ctx, node, index)
    sign, bounds = _bounds(ctx, x, constant, sign)
    dtype = ctx.type(x.value).dtype
    value = _in_shape(ctx, x.value, (*(1,) * (len(shape) - len(ctx.shape(x))), *ctx.shape(x)))
    if bounds.min() < dtype.low or bounds.max() > dtype.high:
        value, dtype = ctx.builder.apply(Cast(DType.S32), (value,), f"{value}:wide"), DType.S32
    bound = bounds.astype(dtype.numpy).reshape(*(1,) * (len(shape) - constant.ndim), *constant.shape)
    return Int(_written(ctx, node, Compare(sign, None, None), value, ctx.builder.const(node.inputs[1 - index], bound)))


def _bounds(ctx: Context, x: Real, constant: Array, sign: str) -> tuple[str, Array]:
    """A relation of the tensor's integers, and with which ones; an integer beyond the type where none is equal."""
    numbers, kind = _numbers(ctx, x), ctx.type(x.value).dtype
    before = np.searchsorted(numbers, constant, "left") + kind.low
    through = np.searchsorted(numbers, constant, "right") + kind.low
    if sign in ("==", "!="):
        return sign, np.where(before == through, kind.high + 1, before)
    bounds, sign = (before, sign) if sign in ("<", ">=") else (through, "<" if sign == "<=" else ">=")
    return (sign, bounds) if bounds.max() <= kind.high else (_BELOW[sign], bounds - 1)


def _of_two(ctx: Context, node: RealNode, sign: str, a: Real, b: Real) -> str:
    """Of two tensors: their integers, or the ranks of their numbers among those of both."""
    shape = ctx.real(node.outputs[0]).shape
    kinds = [ctx.type(side.value).dtype for side in (a, b)]
    values, op = [a.value, b.value], Compare(sign, None, None)
    if a.quant != b.quant and kinds == [DType.S16, DType.S16] and is_near(a.quant, b.quant):
        op = Compare(sign, a.quant, b.quant, exact=True)
    elif a.quant != b.quant or kinds[0] is not kinds[1]:
        if any(kind not in EIGHT_BIT for kind in kinds):
            raise ctx.real_only(node)
        numbers = [_numbers(ctx, side) for side in (a, b)]
        ranks = np.unique(np.concatenate(numbers), return_inverse=True)[1].reshape(2, -1)
        for i, rank in enumerate(ranks):
            table = Lut(tuple(int(r) for r in rank), DType.S16, None, "Rank")
            values[i] = ctx.builder.apply(table, (values[i],), f"{node.outputs[0]}:rank{i}")
    values = [_in_shape(ctx, v, (*(1,) * (len(shape) - len(ctx.type(v).shape)), *ctx.type(v).shape)) for v in values]
    return _written(ctx, node, op, *values)


def _numbers(ctx: Context, x: Real) -> Array:
    """The float32 number of every integer of the tensor's type."""
    if x.function is not None:
        return reals_of(ctx, x).astype(np.float32)
    dtype = ctx.type(x.value).dtype
    return fixedpoint.dequantize_linear(np.arange(dtype.low, dtype.high + 1), x.quant.scale, x.quant.zero_point)


def _in_shape(ctx: Context, value: str, shape: tuple[int, ...]) -> str:
    return value if ctx.type(value).shape == shape else ctx.builder.apply(Reshape(shape), (value,), f"{value}:full")


def _written(ctx: Context, node: RealNode, op: Op, *values: str) -> str:
    name = node.outputs[0]
    note = f"{node.op_type} -> {type(op).__name__} of integers"
    return ctx.builder.apply(op, values, name, source=name, trail=(node,), note=note)


def where(ctx: Context, node: RealNode, op: Where) -> Sequence[State]:
    """A choice between two tensors, one of them perhaps constant."""
    flag, *sides = (ctx.state(node, i) for i in range(3))
    if not isinstance(flag, Int | Const) or not any(isinstance(s, Real | Pending) for s in sides):
        raise ctx.real_only(node)
    if not all(isinstance(s, Real | Pending) or array_of(s) is not None for s in sides):
        raise ctx.real_only(node)
    a, b = sides
    if isinstance(a, Real) and isinstance(b, Real) and a.function is None and b.function is None and a.quant == b.quant:
        dtype, other = (ctx.type(s.value).dtype for s in (a, b))
        if dtype is other:
            request = Request(a.quant, dtype, node.outputs[0], (node,))
            return [Real(_select(ctx, node, flag, (a.value, b.value), request), a.quant)]

    def emit(request: Request) -> str:
        inner = replace(request, low=-math.inf, high=math.inf)
        values = [_as_meant(ctx, node, i + 1, s, inner) for i, s in enumerate(sides)]
        return clamped(ctx, request, lambda r: _select(ctx, node, flag, values, r))

    return [Pending(ctx.real(node.outputs[0]).shape, emit, (node,))]


def _as_meant(ctx: Context, node: RealNode, index: int, state: State, request: Request) -> str:
    """One of the choices in integers of the result's meaning."""
    name = f"{request.name}:choice{index}"
    if isinstance(state, Real | Pending):
        return meant(ctx, state, replace(request, name=name, trail=(*state.trail, node)))
    numbers = array_of(state)
    assert numbers is not None
    quant, dtype = request.quant, request.dtype
    ints = fixedpoint.quantize_linear(numbers, quant.scale, quant.zero_point, dtype.low, dtype.high)
    return ctx.builder.const(node.inputs[index], ints.astype(dtype.numpy), quant)


def _select(ctx: Context, node: RealNode, flag: Int | Const, sides: Sequence[str], request: Request) -> str:
    """All three in the shape of the result."""
    shape = ctx.real(node.outputs[0]).shape
    first = flag.value if isinstance(flag, Int) else ctx.builder.const(node.inputs[0], flag.array.astype(np.uint8))
    full = []
    for value in (first, *sides):
        own = ctx.type(value).shape
        value = _in_shape(ctx, value, (*(1,) * (len(shape) - len(own)), *own))
        full.append(
            value
            if ctx.type(value).shape == shape
            else ctx.builder.apply(Broadcast(shape), (value,), f"{value}:repeated")
        )
    note = f"{story(request.trail)} -> Select of integers"
    source = ctx.source(request.name, request.trail)
    return ctx.builder.apply(Select(request.quant), full, request.name, source=source, trail=request.trail, note=note)


RULES: Family = (Rule(Where, where, ("QLinearWhere", "Where")),)
