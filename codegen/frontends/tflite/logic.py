"""Comparisons, operators on flags, and SELECT_V2.

Decides: that a comparison is a table, for which one side must be a single constant; flags are bytes of 0 and 1.
Source: tensorflow/lite/micro/kernels/comparisons.cc, internal/reference/comparisons.h.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.context import Context
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.ir.quant import DType, Quant
from codegen.ops import Broadcast, Extremum, Lut, Select
from codegen.ops.tflite_tables import scaled

_LEFT = 8
"""Bits by which both sides are shifted up before they are brought to real numbers."""

_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "EQUAL": np.equal,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
    "NOT_EQUAL": np.not_equal,
}


def comparison(ctx: Context, node: TfliteNode) -> None:
    """Of 8-bit numbers with a single constant: a flag for each of 256 numbers."""
    known = [ctx.tensor(node, i).data for i in (0, 1)]
    places = [i for i, data in enumerate(known) if data is not None and data.size == 1]
    (a, a_dtype), (b, b_dtype) = ctx.quantized(node, 0), ctx.quantized(node, 1)
    if not places or a_dtype is not b_dtype or a_dtype not in (DType.S8, DType.U8):
        hint = "8-bit numbers are compared with a single constant"
        raise FormUnsupported(f"{node.op_type} of {a_dtype.value} and {b_dtype.value}", where=node.where, hint=hint)
    every = np.arange(a_dtype.low, a_dtype.high + 1, dtype=np.int64)
    sides = [every if data is None or i != places[-1] else data.reshape(-1) for i, data in enumerate(known)]
    left, right = (_real(side.astype(np.int64), quant) for side, quant in zip(sides, (a, b), strict=True))
    table = np.broadcast_to(_COMPARISONS[node.op_type](left, right), every.shape)
    value = ctx.value(node, 1 - places[-1])
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


def _real(q: Any, quant: Quant) -> Any:
    """Integers in the steps in which both sides are compared."""
    return scaled((q - quant.zero_point) << _LEFT, quant.scale)
