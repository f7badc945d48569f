"""Data movement on any state: what only moves elements passes through quantization.

Decides: that movement is applied to the integers, whether it stands before a QuantizeLinear, after a
DequantizeLinear, or between an operator and its QuantizeLinear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array, DType, TensorType
from codegen.ir.real import RealNode
from codegen.ops import Reshape
from codegen.settle.context import Context, refuse_unquantized
from codegen.settle.float32.writer import Writer
from codegen.settle.linear import write_accumulator
from codegen.settle.states import Accum, Float, Int, Pending, Real, Request, Route, State

Plan = Callable[[TensorType], Route]
"""The operators that move a tensor of this type."""


def move(ctx: Context, node: RealNode, state: State, plan: Plan, out: int = 0, note: str = "") -> State:
    """The state of output `out` when `plan` moves the elements of the input's state."""
    name = node.outputs[out]
    note = note or f"{node.op_type} -> data movement"

    def carried(value: str, as_name: str) -> str:
        return ctx.run(value, plan(ctx.type(value)), as_name, (node,), note)

    match state:
        case Int(value=value):
            return replace(state, value=carried(value, name))
        case Float(value=value):
            return replace(state, value=carried(value, name))
        case Real(value=value):
            return replace(state, value=carried(value, name))
        case Accum():
            return Int(carried(write_accumulator(ctx, state, f"{name}:acc"), name))
        case Pending():
            return _move_pending(ctx, node, state, plan, carried)
        case _:
            raise refuse_unquantized(node, 0, state)


def rewritten(ctx: Context, node: RealNode, state: State, write: Callable[[Writer, str], str]) -> State:
    """The state of the only result when `write` moves elements by several operators, perhaps to computed places."""
    if isinstance(state, Real):
        return replace(state, value=_written(ctx, node, state.value, write, node.outputs[0]))
    if not isinstance(state, Pending):
        raise ctx.real_only(node)

    def emit(request: Request) -> str:
        trail = tuple(n for n in request.trail if n is not node)
        inner = replace(request, name=f"{request.name}:{node.op_type.lower()}", trail=trail)
        return _written(ctx, node, state.emit(inner), write, ctx.source(request.name, request.trail))

    shape, trail = ctx.real(node.outputs[0]).shape, (*state.trail, node)
    return replace(state, shape=shape, emit=emit, trail=trail, linear=None, times=None, factors=None, wide=None)


def _written(ctx: Context, node: RealNode, x: str, write: Callable[[Writer, str], str], source: str) -> str:
    value = write(Writer(ctx, node), x)
    if value != x:
        ctx.builder.rename_source(value, source)
    return value


def _move_pending(
    ctx: Context, node: RealNode, state: Pending, plan: Plan, carried: Callable[[str, str], str]
) -> Pending:
    ops = plan(TensorType(state.shape, DType.S8)).ops
    moved = ctx.out_type(TensorType(state.shape, DType.S8), ops)

    def emit(request: Request) -> str:
        trail = tuple(n for n in request.trail if n is not node)
        inner = replace(request, name=f"{request.name}:{node.op_type.lower()}", trail=trail)
        return carried(state.emit(inner), request.name)

    wide = state.wide
    moved_wide = None if wide is None else lambda: _move_real(wide(), node, carried)
    more, is_renamed = state.factors, all(isinstance(op, Reshape) for op in ops)

    def factors(factor: Array, offset: Array) -> Pending:
        parts = [np.broadcast_to(part, moved.shape).reshape(state.shape) for part in (factor, offset)]
        assert more is not None, "only what has factors is asked"
        return _move_pending(ctx, node, more(*parts), plan, carried)

    return replace(
        state,
        shape=moved.shape,
        emit=emit,
        trail=(*state.trail, node),
        linear=None,
        times=None,
        factors=factors if more is not None and is_renamed else None,
        wide=moved_wide,
    )


def _move_real(state: Real, node: RealNode, carried: Callable[[str, str], str]) -> Real:
    return replace(state, value=carried(state.value, f"{node.outputs[0]}:wide"))
