"""Operations on pairs of real numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.ir.real import RealNode
from codegen.ops.float32 import FloatBinary
from codegen.real.elementwise import Binary
from codegen.settle.binary import with_rank
from codegen.settle.context import Context
from codegen.settle.float32.inputs import real_value
from codegen.settle.float32.writing import applied
from codegen.settle.states import State

NAMES: Mapping[str, str] = {
    "Add": "add",
    "Div": "div",
    "Max": "max",
    "Min": "min",
    "Mul": "mul",
    "SquaredDifference": "squared_difference",
    "Sub": "sub",
}
"""Operations as FloatBinary names them."""


def binary(ctx: Context, node: RealNode, op: Binary) -> Sequence[State]:
    """An operation on two tensors of real numbers, which broadcast against each other."""
    if op.kind not in NAMES:
        raise ctx.unknown(node)
    values = [real_value(ctx, node, index) for index in (0, 1)]
    rank = max(len(ctx.type(value).shape) for value in values)
    return [applied(ctx, node, FloatBinary(NAMES[op.kind]), *(with_rank(ctx, value, rank) for value in values))]
