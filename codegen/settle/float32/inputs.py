"""What a rule for real numbers reads: tensors as float32 values of the graph, and constants as numbers.

Decides: where integers become real numbers, once for each tensor, and whose results must be computed as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from codegen.errors import (
    CompileError,
    FormUnsupported,
    InputMissing,
    OperatorLimit,
    OperatorUnknown,
    ParameterDynamic,
    QuantAxisBad,
    ResultNotQuantized,
)
from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.ops import Dequantize
from codegen.settle.context import Context, array_of, refuse_unquantized
from codegen.settle.states import Const, Float, IntConst, Pending, Real, State, Trail
from codegen.settle.tables import settled

NO_INTEGERS = (FormUnsupported, OperatorLimit, OperatorUnknown, ParameterDynamic, QuantAxisBad, ResultNotQuantized)
"""Refusals of integers behind which real numbers are tried."""
NO_FLOATS: Mapping[str, str] = {}
"""No node is known yet that must compute with real numbers."""


class NeedsFloat(Exception):
    """The nodes of `trail` must compute with real numbers, and `why`; `refusal` is what is wrong where they cannot."""

    def __init__(self, trail: Trail, refusal: CompileError, why: str = "its result is read as real numbers") -> None:
        super().__init__(refusal.found)
        self.trail = trail
        self.refusal = refusal
        self.why = why


@contextmanager
def or_float(trail: Trail) -> Iterator[None]:
    """Ask for real numbers of the nodes that waited for a scale, where it is known and their integers have no form."""
    try:
        yield
    except NO_INTEGERS as refusal:
        raise NeedsFloat(trail, refusal, refusal.found) from None


def is_real(ctx: Context, name: str, *, given: bool) -> bool:
    """Whether a tensor is real numbers that the network computes, or is `given`."""
    state = ctx.states.get(name)
    return isinstance(state, Float) and (state.made or given) and not ctx.builder.values[state.value].is_const


def has(node: RealNode, index: int) -> bool:
    """Whether an optional input is there."""
    return index < len(node.inputs) and bool(node.inputs[index])


def real_value(ctx: Context, node: RealNode, index: int) -> str:
    """The value that holds an input as float32."""
    if not has(node, index):
        raise InputMissing(f"input {index} is required", where=node.where)
    name = node.inputs[index]
    if name not in ctx.reals:
        ctx.reals[name] = _held(ctx, node, index, ctx.states[name])
    return ctx.reals[name]


def real_numbers(ctx: Context, node: RealNode, index: int) -> Array:
    """Numbers of an input that must be known now, as float32."""
    if not has(node, index):
        raise InputMissing(f"input {index} is required", where=node.where)
    found = _known(ctx, ctx.states[node.inputs[index]])
    if found is None:
        raise ParameterDynamic(f"input '{node.inputs[index]}' is not a constant", where=node.where)
    return np.ascontiguousarray(found, np.float32)


def is_known(ctx: Context, node: RealNode, index: int) -> bool:
    """Whether the numbers of an input are known now."""
    return has(node, index) and _known(ctx, ctx.states[node.inputs[index]]) is not None


def _known(ctx: Context, state: State) -> Array | None:
    if isinstance(state, Float):
        return ctx.builder.values[state.value].data
    if isinstance(state, Real) and state.function is None:
        data = ctx.builder.values[state.value].data
        return None if data is None else Dequantize(state.quant).golden([data])[0]
    return array_of(state)


def _held(ctx: Context, node: RealNode, index: int, state: State) -> str:
    name = node.inputs[index]
    match state:
        case Float(value=value):
            return value
        case Const() | IntConst():
            return ctx.builder.const(name, real_numbers(ctx, node, index))
        case Real():
            return _dequantized(ctx, node, name, state)
        case Pending(trail=trail):
            raise NeedsFloat(trail, refuse_unquantized(node, index, state))
        case _:
            raise FormUnsupported(f"input '{name}' is an integer tensor where float is expected", where=node.where)


def _dequantized(ctx: Context, node: RealNode, name: str, state: Real) -> str:
    """The integers' real numbers; a function of them is written in integers only where that loses nothing."""
    try:
        exact = settled(ctx, state, node, name)
    except ResultNotQuantized as refusal:
        raise NeedsFloat(state.trail, refusal) from None
    note = "integers -> real numbers"
    return ctx.builder.apply(Dequantize(exact.quant), (exact.value,), f"{name}:real", note=note)
