"""Comparisons, operators on flags, and SELECT_V2.

Decides: that a comparison with a single constant is a table; flags are bytes of 0 and 1; which of two numbers of 16
bits is larger is said of the integers as they are, whatever their scales, as LiteRT does.
Source: tensorflow/lite: kernels/comparisons.cc, micro/kernels/comparisons.cc, kernels/internal/reference/comparisons.h.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.context import Context
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.ir.quant import DType
from codegen.ops import Broadcast, Compare, Extremum, Lut, Select
from codegen.ops.limits import EIGHT_BIT

_COMPARISONS: Mapping[str, str] = {
    "EQUAL": "==",
    "GREATER": ">",
    "GREATER_EQUAL": ">=",
    "LESS": "<",
    "LESS_EQUAL": "<=",
    "NOT_EQUAL": "!=",
}


def comparison(ctx: Context, node: TfliteNode) -> None:
    """Of 8-bit and 16-bit numbers with scales, or of whole numbers without."""
    sides = [ctx.tensor(node, i) for i in (0, 1)]
    if not any(side.scale.size for side in sides):
        ctx.write(node, Compare(_COMPARISONS[node.op_type], None, None), (ctx.value(node, 0), ctx.value(node, 1)))
        return
    (a, a_dtype), (b, b_dtype) = ctx.quantized(node, 0), ctx.quantized(node, 1)
    if a_dtype is not b_dtype or a_dtype is DType.S32:
        hint = "numbers of 8 and of 16 bits, and whole numbers without a scale, are compared with their like"
        raise FormUnsupported(f"{node.op_type} of {a_dtype.value} and {b_dtype.value}", where=node.where, hint=hint)
    raw = a_dtype is DType.S16 and node.op_type not in ("EQUAL", "NOT_EQUAL")
    op = Compare(_COMPARISONS[node.op_type], *((None, None) if raw else (a, b)))
    if a_dtype in EIGHT_BIT and any(side.data is not None and side.data.size == 1 for side in sides):
        _compare_by_table(ctx, node, op, a_dtype)
    else:
        ctx.write(node, op, (ctx.value(node, 0), ctx.value(node, 1)))


def _compare_by_table(ctx: Context, node: TfliteNode, op: Compare, dtype: DType) -> None:
    """With a single constant: a flag for each of 256 numbers."""
    known = [ctx.tensor(node, i).data for i in (0, 1)]
    place = max(i for i, data in enumerate(known) if data is not None and data.size == 1)
    every = np.arange(dtype.low, dtype.high + 1)
    ins = [every if data is None or i != place else data.reshape(-1) for i, data in enumerate(known)]
    (table,) = op.golden(ins)
    value = ctx.value(node, 1 - place)
    if ctx.builder.type(value).shape != ctx.result(node).shape:
        value = ctx.reshaped(node, value, ctx.result(node).shape)
    ctx.write(node, Lut(tuple(int(t) for t in table), DType.U8, None, node.op_type), (value,))


def logical(ctx: Context, node: TfliteNode) -> None:
    """LOGICAL_AND, LOGICAL_OR and LOGICAL_NOT."""
    if any(ctx.tensor(node, i).kind != "bool" for i in range(len(node.inputs))):
        raise FormUnsupported(f"{node.op_type} of other than flags", where=node.where)
    if node.op_type == "LOGICAL_NOT":
        ctx.write(node, Lut((1, *(0,) * 255), DType.U8, None, node.op_type), (ctx.value(node, 0),))
        return
    ctx.write(node, Extremum(node.op_type == "LOGICAL_OR", None), (ctx.value(node, 0), ctx.value(node, 1)))


def select(ctx: Context, node: TfliteNode) -> None:
    """SELECT_V2; all three inputs are broadcast."""
    if ctx.tensor(node, 0).kind != "bool":
        raise FormUnsupported("a condition of other than flags", where=node.where)
    shape = ctx.result(node).shape
    quant = ctx.quantized_result(node)[0] if ctx.result(node).scale.size else None
    ctx.write(node, Select(quant), [_full(ctx, node, i, shape) for i in range(3)])


def _full(ctx: Context, node: TfliteNode, index: int, shape: tuple[int, ...]) -> str:
    """One input in the shape of the result."""
    value = ctx.value(node, index)
    own = ctx.builder.type(value).shape
    if len(own) > len(shape):
        raise ShapeMismatch(f"{list(own)} beside a result of {list(shape)}", where=node.where)
    value = ctx.reshaped(node, value, (*(1,) * (len(shape) - len(own)), *own), f"side{index}")
    return value if ctx.builder.type(value).shape == shape else ctx.apply(node, Broadcast(shape), (value,))
