"""Comparisons, operators on flags, and choices.

Decides: that a comparison with a single constant is a table; flags are bytes of 0 and 1; which of two numbers of 16
bits is larger is said of the integers as they are, whatever their scales, as LiteRT does.
Source: tensorflow/lite: kernels/comparisons.cc, micro/kernels/comparisons.cc, kernels/internal/reference/comparisons.h.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ops import Broadcast, Compare, Extremum, Lut, Select
from codegen.ops.limits import EIGHT_BIT
from codegen.real import elementwise as real
from codegen.settle.logic import COMPARISONS
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Int, Request, State
from codegen.settle.tflite.context import TfliteContext

_MADE = ("int8", "uint8", "int32", "bool")


def _comparison(ctx: TfliteContext, node: RealNode, kind: str) -> State:
    """Of 8-bit and 16-bit numbers with scales, or of whole numbers without."""
    sign = COMPARISONS[kind]
    if all(ctx.record(name).stored is None for name in node.inputs):
        pair = (ctx.value(node, 0), ctx.value(node, 1))
        return Int(ctx.made(node, Compare(sign, None, None), pair))
    a, b = ctx.quantized(node, 0), ctx.quantized(node, 1)
    kinds = [ctx.dtype(node, i) for i in (0, 1)]
    if kinds[0] is not kinds[1] or kinds[0] is DType.S32:
        hint = "numbers of 8 and of 16 bits, and whole numbers without a scale, are compared with their like"
        found = f"{node.op_type} of {kinds[0].value} and {kinds[1].value}"
        raise FormUnsupported(found, where=node.where, hint=hint)
    raw = kinds[0] is DType.S16 and sign not in ("==", "!=")
    op = Compare(sign, *((None, None) if raw else (a.quant, b.quant)))
    known = [ctx.known(node, i) for i in (0, 1)]
    if kinds[0] in EIGHT_BIT and any(data is not None and data.size == 1 for data in known):
        return _by_table(ctx, node, op, kinds[0])
    return Int(ctx.made(node, op, (a.value, b.value)))


def _by_table(ctx: TfliteContext, node: RealNode, op: Compare, dtype: DType) -> State:
    """With a single constant: a flag for each of 256 numbers."""
    known = [ctx.known(node, i) for i in (0, 1)]
    place = max(i for i, data in enumerate(known) if data is not None and data.size == 1)
    every = np.arange(dtype.low, dtype.high + 1)
    ins = [every if data is None or i != place else data.reshape(-1) for i, data in enumerate(known)]
    (table,) = op.golden(ins)
    value = ctx.reshaped(node, ctx.value(node, 1 - place), ctx.real(node.outputs[0]).shape)
    return Int(ctx.made(node, Lut(tuple(int(t) for t in table), DType.U8, None, node.op_type), (value,)))


def _logical(ctx: TfliteContext, node: RealNode, kind: str) -> State:
    """Two flags."""
    return Int(ctx.made(node, Extremum(kind == "Or", None), (ctx.value(node, 0), ctx.value(node, 1))))


KINDS: Mapping[str, Callable[[TfliteContext, RealNode, str], State]] = {
    **dict.fromkeys(COMPARISONS, _comparison),
    "And": _logical,
    "Or": _logical,
}
"""By the name of the operator in RealGraph."""


def invert(ctx: TfliteContext, node: RealNode, op: real.Not) -> Sequence[State]:
    """LOGICAL_NOT."""
    return [Int(ctx.made(node, Lut((1, *(0,) * 255), DType.U8, None, node.op_type), (ctx.value(node, 0),)))]


def where(ctx: TfliteContext, node: RealNode, op: real.Where) -> Sequence[State]:
    """SELECT_V2, and ONE_HOT, which chooses between two known numbers."""
    if ctx.record(node.outputs[0]).stored is None:
        return [Int(_chosen(ctx, node, None))]
    return [ctx.waiting(node, lambda request: _chosen(ctx, node, request))]


def _chosen(ctx: TfliteContext, node: RealNode, request: Request | None) -> str:
    quant = None if request is None else request.quant
    if node.op_type == "ONE_HOT":
        return _by_number(ctx, node, request)
    shape = ctx.real(node.outputs[0]).shape
    return ctx.made(node, Select(quant), [_full(ctx, node, i, shape) for i in range(3)])


def _by_number(ctx: TfliteContext, node: RealNode, request: Request | None) -> str:
    """One of two known numbers by a flag: a table."""
    record = ctx.record(node.outputs[0])
    kind = record.type.dtype.name if record.stored is None else record.stored.dtype.name
    if kind not in _MADE:
        raise FormUnsupported(f"{kind} from positions", where=node.where)
    on, off = (int(ctx.constant(node, i).reshape(-1)[0]) for i in (1, 2))
    dtype, quant = ctx.dtype(node, 1), None if request is None else request.quant
    table = Lut((off, on, *(off,) * 254), dtype, quant, node.op_type)
    return ctx.made(node, table, (ctx.value(node, 0),))


def _full(ctx: TfliteContext, node: RealNode, index: int, shape: tuple[int, ...]) -> str:
    """One input in the shape of the result."""
    value = ctx.value(node, index)
    own = ctx.type(value).shape
    if len(own) > len(shape):
        raise ShapeMismatch(f"{list(own)} beside a result of {list(shape)}", where=node.where)
    value = ctx.reshaped(node, value, (*(1,) * (len(shape) - len(own)), *own), f"side{index}")
    return value if ctx.type(value).shape == shape else ctx.apply(node, Broadcast(shape), (value,))


RULES: Family = (
    Rule(real.Not, invert, ("LOGICAL_NOT",)),
    Rule(real.Where, where, ("SELECT_V2",)),
)
