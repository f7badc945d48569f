"""Operations on pairs of real numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.ops.float32 import FloatBinary
from codegen.real.elementwise import Binary
from codegen.settle.binary import with_rank
from codegen.settle.context import Context
from codegen.settle.float32.inputs import is_known, real_numbers, real_value
from codegen.settle.float32.products import scaled
from codegen.settle.float32.writing import applied
from codegen.settle.states import Float, State

NAMES: Mapping[str, str] = {
    "Add": "add",
    "Div": "div",
    "Max": "maximum",
    "Min": "minimum",
    "Mul": "mul",
    "SquaredDifference": "squared_difference",
    "Sub": "sub",
}
"""Operations as FloatBinary names them."""


def binary(ctx: Context, node: RealNode, op: Binary) -> Sequence[State]:
    """An operation on two tensors of real numbers, which broadcast against each other."""
    if op.kind not in NAMES:
        raise ctx.unknown(node)
    folded = _folded(ctx, node, op.kind)
    if folded is not None:
        return [folded]
    values = [real_value(ctx, node, index) for index in (0, 1)]
    rank = max(len(ctx.type(value).shape) for value in values)
    return [applied(ctx, node, FloatBinary(NAMES[op.kind]), *(with_rank(ctx, value, rank) for value in values))]


def _folded(ctx: Context, node: RealNode, kind: str) -> Float | None:
    """A factor or an offset of the product before it, of which it becomes part."""
    if kind not in ("Add", "Div", "Mul", "Sub") or not is_known(ctx, node, 1):
        return _folded_turned(ctx, node, kind)
    constant = real_numbers(ctx, node, 1).astype(np.float64)
    return scaled(ctx, node, 0, *_affine(kind, constant))


def _folded_turned(ctx: Context, node: RealNode, kind: str) -> Float | None:
    """The same where the constant comes first."""
    if kind not in ("Add", "Mul") or not is_known(ctx, node, 0):
        return None
    return scaled(ctx, node, 1, *_affine(kind, real_numbers(ctx, node, 0).astype(np.float64)))


def _affine(kind: str, constant: Array) -> tuple[Array, Array]:
    """The operation as a factor and an offset."""
    one, none = np.ones((), np.float64), np.zeros((), np.float64)
    if kind == "Div":
        with np.errstate(divide="ignore"):
            return one / constant, none
    return {"Add": (one, constant), "Sub": (one, -constant), "Mul": (constant, none)}[kind]
