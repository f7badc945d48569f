"""Functions of one real number.

Decides: which function of float32 one of the model's is, and that a Relu is a bound, which goes into the operator
before it.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping, Sequence

from codegen.errors import AttributeBad
from codegen.ir.real import RealNode
from codegen.ops import FUNCTIONS
from codegen.ops.float32 import FloatClip, FloatUnary
from codegen.ops.float32.unary import FUNCTIONS as FLOAT_FUNCTIONS
from codegen.ops.float32.unary import NUMBERS
from codegen.real.elementwise import Clip, Function
from codegen.settle.context import Context
from codegen.settle.float32.inputs import real_value
from codegen.settle.float32.writing import applied
from codegen.settle.states import Float, State

_RENAMED: Mapping[str, str] = {"Reciprocal": "inverse"}
_OWN: Mapping[str, tuple[float, ...]] = {"HardSwish": (1 / 6, 0.5)}
"""Numbers of functions that the model's have as a part of them."""


def clip(ctx: Context, node: RealNode, op: Clip) -> Sequence[State]:
    """Clip; where its bounds cross, every number becomes the upper one."""
    low, high = op.low, op.high
    if math.isnan(low) or math.isnan(high):
        raise AttributeBad(f"bounds {low} and {high}", where=node.where)
    if math.isinf(low) and math.isinf(high):
        return [Float(real_value(ctx, node, 0), made=True)]
    return [applied(ctx, node, FloatClip(min(low, high), high), real_value(ctx, node, 0))]


def function(ctx: Context, node: RealNode, op: Function) -> Sequence[State]:
    """A function by its name, with its attributes or what they are when left out."""
    x = real_value(ctx, node, 0)
    if op.name == "Identity":
        return [Float(x, made=True)]
    if op.name == "Relu":
        return [applied(ctx, node, FloatClip(0.0, math.inf), x)]
    name = _RENAMED.get(op.name) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", op.name).lower()
    if name not in FLOAT_FUNCTIONS:
        raise ctx.unknown(node)
    return [applied(ctx, node, FloatUnary(name, _numbers(op, NUMBERS.get(name, 0))), x)]


def _numbers(op: Function, count: int) -> tuple[float, ...]:
    """The numbers that a function takes besides x."""
    if not count:
        return ()
    if op.name in _OWN:
        return _OWN[op.name]
    given, known = dict(op.attributes), list(inspect.signature(FUNCTIONS[op.name]).parameters.values())[1:]
    return tuple(float(given.get(p.name, p.default)) for p in known)
