"""Functions of 8-bit tensors as tables, composed while the model is read; those of 16-bit ones are in wide.py.

Decides: that a chain of elementwise functions between DequantizeLinear and QuantizeLinear is one table, and when that
table is nothing at all, a clamp, or a look-up.  ops/unary.py states how a table is rounded; a chain of functions is
evaluated as one, without rounding in between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, ResultNotQuantized
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant
from codegen.ir.real import RealNode
from codegen.ops import FUNCTIONS, Clamp, Lut, unary_table
from codegen.settle.chain import IDENTITY, Function
from codegen.settle.context import Context, refuse_unquantized, story
from codegen.settle.states import Int, Pending, Real, Request, Route, State
from codegen.settle.wide import wide_ops

EIGHT_BIT = (DType.S8, DType.U8)
_SHIFT = {(DType.U8, DType.S8): -128, (DType.S8, DType.U8): 128}


def named(name: str, attributes: Mapping[str, float] | None = None) -> Function:
    """A function of `ops.FUNCTIONS` with its attributes."""
    given = dict(attributes or {})
    return Function(lambda x: FUNCTIONS[name](x, **given), name, given)


def mapped(real: Real, function: Function, node: RealNode) -> Real:
    """The tensor with one more function applied."""
    return replace(real, function=_composed(function, real), trail=(*real.trail, node))


def combined(a: Real, b: Real, function: Callable[[Array, Array], Array], node: RealNode) -> Real:
    """A function of two functions of one tensor, as in x * sigmoid(x)."""
    trail = tuple(dict.fromkeys((*a.trail, *b.trail, node)))
    return Real(a.value, a.quant, Function(function, inner=(a.function or IDENTITY, b.function or IDENTITY)), trail)


def quantized(ctx: Context, real: Real, request: Request) -> str:
    """The value that holds QuantizeLinear of the tensor: itself, a clamp of it, or a look-up."""
    x = ctx.type(real.value)
    if not (math.isinf(request.low) and math.isinf(request.high)):
        low, high = request.low, request.high
        real = replace(real, function=_composed(Function(lambda y: np.clip(y, low, high)), real))
    same = (real.quant, x.dtype) == (request.quant, request.dtype)
    if same and real.function is None:
        _adopt_name(ctx, real.value, request.name)
        return real.value
    table = _table(ctx, real, request.quant, request.dtype)
    if same and np.array_equal(table, np.arange(x.dtype.low, x.dtype.high + 1)):
        return real.value
    return _write(ctx, real, table, request, same)


def meant(ctx: Context, x: Pending | Real, request: Request) -> str:
    """The value that holds a tensor in integers of the meaning that is asked for."""
    if isinstance(x, Pending):
        return x.emit(replace(request, low=x.low, high=x.high))
    same = (x.quant, ctx.type(x.value).dtype) == (request.quant, request.dtype)
    return x.value if same and x.function is None else quantized(ctx, x, request)


def exact(ctx: Context, node: RealNode, index: int) -> Real:
    """One input as DequantizeLinear of a value, functions applied to it written out where that loses nothing.

    Relu never loses anything, for zero is a quantized number.

    Raises:
        ResultNotQuantized: LAM-IMPORT-020, a function's results lie between the quantized numbers.
    """
    state = ctx.state(node, index)
    if not isinstance(state, Real):
        raise refuse_unquantized(node, index, state)
    return settled(ctx, state, node, node.inputs[index])


def settled(ctx: Context, real: Real, node: RealNode, tensor: str) -> Real:
    """As `exact`, of a state."""
    if real.function is None:
        return real
    dtype = ctx.type(real.value).dtype
    table = _table(ctx, real, real.quant, dtype)
    if not np.array_equal(_grid(real.quant, dtype)[table - dtype.low], reals_of(ctx, real)):
        made = f"the result of node '{real.trail[-1].name}' ({real.trail[-1].op_type})"
        raise ResultNotQuantized(f"{made} reaches input '{tensor}' without a QuantizeLinear", where=node.where)
    request = Request(real.quant, dtype, tensor, real.trail)
    key = (tensor, replace(request, trail=()))
    if key not in ctx.emitted:
        ctx.emitted[key] = _write(ctx, real, table, request, True)
    return Real(ctx.emitted[key], real.quant)


def table_of(ctx: Context, real: Real, quant: Quant, dtype: DType) -> tuple[int, ...] | None:
    """The table that brings the tensor to another meaning and type; None when nothing changes."""
    if real.function is None and (real.quant, ctx.type(real.value).dtype) == (quant, dtype):
        return None
    return tuple(_table(ctx, real, quant, dtype).tolist())


def as_dtype(ctx: Context, real: Real, dtype: DType) -> Real:
    """The same real numbers in another 8-bit type: integers and zero point shifted by 128."""
    x = ctx.type(real.value).dtype
    if x is dtype or (x, dtype) not in _SHIFT:
        return real
    shift = _SHIFT[x, dtype]
    quant = Quant(real.quant.scale, real.quant.zero_point + shift)
    table = tuple(range(x.low + shift, x.high + 1 + shift))
    value = ctx.builder.apply(Lut(table, dtype, quant, "Shift"), (real.value,), f"{real.value}:{dtype.value}")
    return Real(value, quant)


def as_pending(ctx: Context, state: Real) -> Pending:
    """The tensor as a result that waits for a scale."""
    return Pending(ctx.shape(state), lambda request: quantized(ctx, state, request), state.trail)


def is_increasing(ctx: Context, state: State) -> bool:
    """Whether a tensor's order is that of its integers, so that a maximum may be taken of either."""
    return not isinstance(state, Real) or state.function is None or bool((np.diff(reals_of(ctx, state)) >= 0).all())


def is_strictly_increasing(ctx: Context, real: Real) -> bool:
    """Whether a tensor's order is that of its integers, equal numbers included."""
    return real.function is None or bool((np.diff(reals_of(ctx, real)) > 0).all())


def ordered(ctx: Context, node: RealNode) -> str:
    """The integers whose order is that of the operator's input."""
    state = ctx.state(node, 0)
    if isinstance(state, Int) or (isinstance(state, Real) and is_strictly_increasing(ctx, state)):
        return state.value
    return exact(ctx, node, 0).value


def reals_of(ctx: Context, real: Real) -> Array:
    """The real value of every integer of the tensor's type, in float64."""
    with np.errstate(all="ignore"):
        return (real.function or IDENTITY).apply(_grid(real.quant, ctx.type(real.value).dtype))


def _grid(quant: Quant, dtype: DType) -> Array:
    q = np.arange(dtype.low, dtype.high + 1)
    return np.asarray(np.float64(quant.scale) * (q - quant.zero_point))


def _composed(outer: Function, real: Real) -> Function:
    return outer if real.function is None else Function(outer.step, inner=(real.function,))


def _table(ctx: Context, real: Real, quant: Quant, dtype: DType) -> Array:
    function = real.function or IDENTITY
    what, attributes = (function.apply, {}) if function.name is None else (function.name, function.attributes)
    x = ctx.type(real.value).dtype
    return np.array(unary_table(what, real.quant, x, quant, dtype, ctx.mode, **attributes))


def _write(ctx: Context, real: Real, table: Array, request: Request, same: bool) -> str:
    x = ctx.type(real.value)
    low, high = int(table[0]), int(table[-1])
    what = "+".join(n.op_type for n in request.trail if n.op_type != "QuantizeLinear") or "Requantize"
    ops: tuple[Op, ...]
    if same and low <= high and np.array_equal(table, np.clip(np.arange(x.dtype.low, x.dtype.high + 1), low, high)):
        ops = (Clamp(low, high),)
    elif x.dtype in EIGHT_BIT:
        ops = (Lut(tuple(table.tolist()), request.dtype, request.quant, what),)
    elif x.dtype is DType.S16:
        ops = wide_ops(real.quant, real.function, request, what, ctx.mode)
    else:
        where = request.trail[-1].where if request.trail else ""
        raise FormUnsupported(f"an elementwise function of a tensor of type {x.dtype.value}", where=where)
    note = f"{story(request.trail) or 'DequantizeLinear'} -> {type(ops[0]).__name__}; its input was rounded before"
    return ctx.run(real.value, Route(ops[0], post=ops[1:]), request.name, request.trail, note)


def _adopt_name(ctx: Context, value: str, name: str) -> None:
    """The quantized tensor's name replaces that of a float tensor holding the same numbers."""
    if isinstance(ctx.states.get(ctx.builder.values[value].source), Real):
        ctx.builder.rename_source(value, name)
