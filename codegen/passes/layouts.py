"""What an operator becomes when its tensors are stored transposed.

Decides: which operators can work in another layout, and their attributes there.  Where that pays is
`place_transposes`' affair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from codegen.ir.op import Op
from codegen.ops import (
    Add,
    ArgExtremum,
    Broadcast,
    Clamp,
    Concat,
    Dense,
    Dequantize,
    Extremum,
    Gather,
    LogSoftmax,
    Lut,
    MatMul,
    Mul,
    Pad,
    PiecewiseLinear,
    PRelu,
    Quantize,
    Rescale,
    Slice,
    Softmax,
)
from codegen.passes.permutation import Perm, permute

Rule = Callable[[Any, Perm], Op | None]


def in_layout(op: Op, perm: Perm) -> Op | None:
    """The operator on tensors transposed by `perm`, giving its result transposed by `perm`; None if there is none.

    Inputs of lower rank are meant with leading axes of size 1, as numpy broadcasts them.
    """
    rule = _RULES.get(type(op))
    return None if rule is None else rule(op, perm)


def operands(op: Op, count: int) -> range:
    """Indices of the inputs that are stored in the operator's layout; weights and biases are not."""
    return range(1) if isinstance(op, Dense) else range(count)


def _as_is(op: Op, perm: Perm) -> Op | None:
    return op


def _last_axis_stays(op: Op, perm: Perm) -> Op | None:
    return op if perm[-1] == len(perm) - 1 else None


def _last_two_stay(op: Op, perm: Perm) -> Op | None:
    return op if perm[-2:] == (len(perm) - 2, len(perm) - 1) else None


def _rescale(op: Rescale, perm: Perm) -> Op | None:
    return _last_axis_stays(op, perm) if op.requant.per_channel else op


def _axis(op: Concat | Gather, perm: Perm) -> Op | None:
    return replace(op, axis=perm.index(op.axis))


def _slice(op: Slice, perm: Perm) -> Op | None:
    return Slice(permute(op.starts, perm), permute(op.sizes, perm), permute(op.steps, perm))


def _pad(op: Pad, perm: Perm) -> Op | None:
    return replace(op, before=permute(op.before, perm), after=permute(op.after, perm))


def _broadcast(op: Broadcast, perm: Perm) -> Op | None:
    return Broadcast(permute(op.shape, perm))


_RULES: dict[type, Rule] = {
    Add: _as_is,
    ArgExtremum: _last_axis_stays,
    Broadcast: _broadcast,
    Clamp: _as_is,
    Concat: _axis,
    Dense: _last_axis_stays,
    Dequantize: _as_is,
    Extremum: _as_is,
    Gather: _axis,
    LogSoftmax: _last_axis_stays,
    Lut: _as_is,
    MatMul: _last_two_stay,
    Mul: _as_is,
    Pad: _pad,
    PiecewiseLinear: _as_is,
    PRelu: _as_is,
    Quantize: _as_is,
    Rescale: _rescale,
    Slice: _slice,
    Softmax: _last_axis_stays,
}
