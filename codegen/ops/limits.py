"""Limits: what an operator must meet to be compiled, tested in one place.

Decides: how a broken limit and unfitting inputs are reported.  The limits themselves stand in the operators' files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from codegen.errors import InputsDoNotFit, OperatorLimit, PluginFault
from codegen.ir.op import Limit, Op
from codegen.ir.quant import DType, Quant, TensorType
from codegen.python_files import guarded

EIGHT_BIT = (DType.S8, DType.U8)
_HOUSE = f"{__name__.partition('.')[0]}."
"""How the modules of Lamina's own operators begin."""


def broken_limits(op: Op, ins: Sequence[TensorType]) -> tuple[Limit, ...]:
    """The operator's limits that do not hold, in its own order; LAM-PLUGIN-008 for one of a plug-in that raises."""
    if type(op).__module__.startswith(_HOUSE):
        return tuple(limit for limit in op.limits if not limit.holds(op, ins))
    return tuple(limit for limit in op.limits if not _holds(limit, op, ins))


def _holds(limit: Limit, op: Op, ins: Sequence[TensorType]) -> bool:
    """Whether a limit of a plug-in's operator holds."""
    with guarded(lambda found: PluginFault(f"`holds` of the limit {limit.code}: {found}", where=type(op).__name__)):
        return bool(limit.holds(op, ins))


def check_limits(op: Op, ins: Sequence[TensorType], where: str = "") -> None:
    """Return when every limit of the operator holds.

    Args:
        op: the operator.
        ins: the types of its inputs, constants included.
        where: the node, for the message.

    Raises:
        OperatorLimit: with the id of the first limit that does not hold (LAM-OPS-CONV-01 and others).
    """
    for limit in broken_limits(op, ins):
        raise OperatorLimit(limit.code, f"{type(op).__name__}: {limit.sentence}", where=where)


def require(condition: bool, op: object, found: str) -> None:
    """Raise InputsDoNotFit (LAM-OPS-001) with what was found, unless the condition holds."""
    if not condition:
        raise InputsDoNotFit(found, where=type(op).__name__)


def only_input(op: object, ins: Sequence[TensorType]) -> TensorType:
    """The single input of a unary operator."""
    require(len(ins) == 1, op, f"takes 1 input, got {len(ins)}")
    return ins[0]


def feature_map(op: object, ins: Sequence[TensorType]) -> TensorType:
    """The single input, which must be NHWC."""
    x = only_input(op, ins)
    require(len(x.shape) == 4, op, f"takes a tensor [N, H, W, C], got {list(x.shape)}")
    return x


def along_last_axis(op: object, ins: Sequence[TensorType], dtype: DType, quant: Quant) -> TensorType:
    """The type of the output of an operator that does something along the last axis of its single input."""
    x = only_input(op, ins)
    require(len(x.shape) >= 1, op, "takes a tensor of one axis or more")
    return TensorType(x.shape, dtype, quant)


class _Typed(Protocol):
    @property
    def y_dtype(self) -> DType: ...
    @property
    def y_quant(self) -> Quant: ...


def infer_along_last_axis(op: _Typed, ins: Sequence[TensorType]) -> tuple[TensorType, ...]:
    """The output's type, of such an operator."""
    return (along_last_axis(op, ins, op.y_dtype, op.y_quant),)


def infer_f32(op: object, ins: Sequence[TensorType]) -> tuple[TensorType, ...]:
    """The output's type: numbers of float32 as many as there were."""
    x = only_input(op, ins)
    require(x.dtype is DType.F32, op, f"takes f32, got {x.dtype.value}")
    axis = getattr(op, "axis", 0)
    require(0 <= axis < len(x.shape), op, f"{list(x.shape)} has no axis {axis}")
    return (TensorType(x.shape, DType.F32),)


def batch_one(code: str) -> Limit:
    """The batch size is 1."""
    return Limit(code, "the batch size must be 1", lambda op, ins: ins[0].shape[0] == 1)


def types_among(code: str, index: int, what: str, allowed: Sequence[DType]) -> Limit:
    """The element type of one input is in a list."""
    names = " or ".join(d.value for d in allowed)
    return Limit(code, f"{what} must be {names}", lambda op, ins: ins[index].dtype in allowed)


def limit(code: str, sentence: str, holds: Callable[[Any, Sequence[TensorType]], bool]) -> Limit:
    """A limit of one operator."""
    return Limit(code, sentence, holds)


def broadcast_type(op: object, ins: Sequence[TensorType], dtype: DType, quant: Quant | None) -> TensorType:
    """The type of an elementwise operator's output: two inputs broadcast together."""
    require(len(ins) == 2, op, f"takes 2 inputs, got {len(ins)}")
    a, b = (t.shape for t in ins)
    rank = max(len(a), len(b))
    pairs = list(zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True))
    require(all(n == m or 1 in (n, m) for n, m in pairs), op, f"{list(a)} and {list(b)} do not broadcast together")
    return TensorType(tuple(max(pair) for pair in pairs), dtype, quant)
