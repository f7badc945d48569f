"""Concat, Softmax and LogSoftmax.

Decides: that a Concat of equally quantized tensors moves integers and any other one brings each input to the result's
scale; and how the two others run over axes that are not the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ops import Clamp, Concat, LogSoftmax, Softmax, activation_bounds
from codegen.ops.requantize import quantize_real
from codegen.ops.softmax16 import softmax16
from codegen.real.movement import Concat as RealConcat
from codegen.real.reduce import Softmax as RealSoftmax
from codegen.settle.context import Context, array_of, real_bounds, refuse_unquantized, story
from codegen.settle.layout import axes_last
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Emit, Int, Pending, Real, Request, Route, State
from codegen.settle.tables import EIGHT_BIT, exact, quantized, table_of
from codegen.settle.wide import to_request


def concat(ctx: Context, node: RealNode, op: RealConcat) -> Sequence[State]:
    """Concat of tensors, quantized alike or not."""
    states = [ctx.state(node, i) for i in range(len(node.inputs))]
    return [_concat(ctx, node, states, op.axis)]


def _concat(ctx: Context, node: RealNode, states: Sequence[State], axis: int) -> State:
    """The states side by side."""
    shapes = [ctx.shape(s) for s in states]
    if len(states) == 1:
        return states[0]
    first = states[0]
    if isinstance(first, Int) and all(isinstance(s, Int) for s in states):
        return replace(first, value=_copied(ctx, node, states, axis))
    if isinstance(first, Real) and all(_alike(ctx, first, s) for s in states):
        return Real(_copied(ctx, node, states, axis), first.quant)
    for i, state in enumerate(states):
        if not isinstance(state, Real) and array_of(state) is None:
            raise refuse_unquantized(node, i, state)
    length = sum(s[axis] for s in shapes)
    shape = (*shapes[0][:axis], length, *shapes[0][axis + 1 :])
    return Pending(shape, lambda request: _joined(ctx, node, states, axis, request), (node,))


def softmax(ctx: Context, node: RealNode, kind: RealSoftmax) -> Sequence[State]:
    """Softmax or LogSoftmax over one axis, or over all from one on."""
    x = exact(ctx, node, 0)
    shape = ctx.shape(x)
    pre, post = axes_last(shape, kind.axes)

    def emit(request: Request) -> str:
        op, *more = _softmax_ops(ctx, kind, x, request)
        note = f"{story(request.trail)} -> {type(op).__name__}"
        route = Route(op, pre, (*more, *post))
        return clamped(ctx, request, lambda r: ctx.run(x.value, route, r.name, r.trail, note))

    name = "LogSoftmax" if kind.log else "Softmax"
    return [Pending(shape, emit, (node,), function=name, kind=ctx.type(x.value).dtype)]


def _softmax_ops(ctx: Context, kind: RealSoftmax, x: Real, request: Request) -> tuple[Op, ...]:
    if kind.log:
        return (LogSoftmax(x.quant, request.quant, request.dtype, ctx.mode),)
    if ctx.type(x.value).dtype is DType.S16 and ctx.mode == "tflite":
        return (softmax16(x.quant, 1.0), *to_request(request))
    return (Softmax(x.quant, request.quant, request.dtype, ctx.mode),)


def clamped(ctx: Context, request: Request, write: Emit) -> str:
    """The result of an operator that has no bounds of its own, clamped when an activation follows it."""
    bounds = activation_bounds(request.quant, request.dtype, *real_bounds(request))
    if bounds == (request.dtype.low, request.dtype.high):
        return write(request)
    value = write(replace(request, name=f"{request.name}:unclamped"))
    return ctx.run(value, Route(Clamp(*bounds)), request.name, (), "the activation behind it")


def _alike(ctx: Context, first: Real, state: State) -> bool:
    return (
        isinstance(state, Real)
        and state.function is None
        and state.quant == first.quant
        and ctx.type(state.value).dtype is ctx.type(first.value).dtype
    )


def _copied(ctx: Context, node: RealNode, states: Sequence[State], axis: int) -> str:
    values = [s.value for s in states if isinstance(s, Real | Int)]
    kind = ctx.type(values[0])
    op = Concat(axis, (None,) * len(values), kind.dtype, kind.quant)
    return ctx.run(values[0], Route(op), node.outputs[0], (node,), f"{node.op_type} -> Concat, copied", values[1:])


def _joined(ctx: Context, node: RealNode, states: Sequence[State], axis: int, request: Request) -> str:
    values, tables = [], []
    for i, state in enumerate(states):
        value, table = _operand(ctx, node, i, state, request)
        values.append(value)
        tables.append(table)
    op = Concat(axis, tuple(tables), request.dtype, request.quant)
    changed = sum(
        t is not None or (isinstance(s, Real) and s.value != v) for t, s, v in zip(tables, states, values, strict=True)
    )
    note = f"{story(request.trail)} -> Concat, {changed} of {len(tables)} inputs requantized"
    return clamped(ctx, request, lambda r: ctx.run(values[0], Route(op), r.name, r.trail, note, values[1:]))


def _operand(
    ctx: Context, node: RealNode, index: int, state: State, request: Request
) -> tuple[str, tuple[int, ...] | None]:
    """One input's value, and the table that brings it to the result's scale; no table serves 16-bit numbers."""
    if isinstance(state, Real) and ctx.type(state.value).dtype in EIGHT_BIT:
        return state.value, table_of(ctx, state, request.quant, request.dtype)
    if isinstance(state, Real):
        name = f"{request.name}:part{index}"
        return quantized(ctx, state, Request(request.quant, request.dtype, name, (*state.trail, node))), None
    array = array_of(state)
    assert array is not None, "other inputs were refused"
    numbers = [quantize_real(float(v), request.quant, request.dtype) for v in array.reshape(-1)]
    ints = np.array(numbers, request.dtype.numpy).reshape(array.shape)
    return ctx.builder.const(node.inputs[index], ints, request.quant), None


RULES: Family = (
    Rule(RealConcat, concat, ("Concat", "QLinearConcat")),
    Rule(RealSoftmax, softmax, ("LogSoftmax", "QLinearSoftmax", "Softmax")),
)
