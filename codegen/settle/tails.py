"""Functions whose float result leaves the network: the last Softmax, Sigmoid, HardSigmoid or Tanh.

Decides: that such a function, right behind a DequantizeLinear, is the integer operator with the scale that spans its
range, 0 .. 1 or -1 .. 1.  What follows it may move elements only; any other float result at an output is made of real
numbers, by the layers that lead to it.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ir.quant import DType, Quant
from codegen.settle.context import Context
from codegen.settle.states import Pending, Real, Request
from codegen.settle.tables import quantized

_LEAST: Mapping[str, float] = {"Softmax": 0.0, "Sigmoid": 0.0, "HardSigmoid": 0.0, "Tanh": -1.0}
"""Functions of a range that ends at 1, and where it starts."""


def tail(ctx: Context, name: str, state: Real | Pending) -> Real | None:
    """The output `name` quantized by its function's own range; None where the function has none."""
    made, kind = _made_by(ctx, state)
    if made not in _LEAST:
        return None
    quant = spanning(_LEAST[made], kind)
    node = state.trail[-1]
    request = Request(quant, kind, f"{name}:quantized", state.trail)
    value = state.emit(request) if isinstance(state, Pending) else quantized(ctx, state, request)
    found = f"output '{name}': nothing quantizes the result of node '{node.name}'"
    meaning = f"scale {quant.scale:g} and zero point {quant.zero_point}"
    ctx.note(f"{found}; {made} spreads {kind.value} over its range: {meaning}")
    return Real(value, quant)


def spanning(least: float, dtype: DType) -> Quant:
    """The type's numbers spread over `least` .. 1: steps of 1/256 or 1/128, and of 2^-15 for 16 bits either way."""
    if dtype is DType.S16:
        return Quant(2.0**-15)
    return Quant((1.0 - least) / 256, dtype.low if least == 0 else (dtype.low + dtype.high + 1) // 2)


def _made_by(ctx: Context, state: Real | Pending) -> tuple[str, DType]:
    """The function that made the tensor, if it is one alone, and the type of its input."""
    if isinstance(state, Pending):
        return state.function, state.kind
    name = state.function.name if state.function is not None else None
    return name or "", ctx.type(state.value).dtype
