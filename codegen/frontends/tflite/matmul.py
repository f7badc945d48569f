"""BATCH_MATMUL: products of two computed matrices, or of a computed and a constant one."""

from __future__ import annotations

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.context import Context
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.scales import product_requant
from codegen.ir.quant import DType
from codegen.ops import Broadcast, MatMul, Transpose

_PRODUCTS = ((DType.S8,) * 3, (DType.S16,) * 3, (DType.S16, DType.S8, DType.S16))


def batch_matmul(ctx: Context, node: TfliteNode) -> None:
    """BATCH_MATMUL; the axes before the last two are broadcast."""
    options = node.options_of("BatchMatMulOptions")
    (a, a_dtype), (b, b_dtype) = ctx.quantized(node, 0), ctx.quantized(node, 1)
    y, dtype = ctx.quantized_result(node)
    if (a_dtype, b_dtype, dtype) not in _PRODUCTS:
        hint = "int8 by int8 to int8 is supported, int16 by int16 or int8 to int16"
        kinds = f"{a_dtype.value} by {b_dtype.value} to {dtype.value}"
        raise FormUnsupported(f"a product of {kinds}", where=node.where, hint=hint)
    sides = [_turned(ctx, node, i, bool(turn)) for i, turn in enumerate((options.AdjX(), options.AdjY()))]
    shapes = [ctx.builder.type(s).shape for s in sides]
    try:
        lead = np.broadcast_shapes(*(s[:-2] for s in shapes))
    except ValueError as error:
        raise ShapeMismatch(f"{list(shapes[0])} by {list(shapes[1])}", where=node.where) from error
    sides = [_full(ctx, node, s, (*lead, *shape[-2:])) for s, shape in zip(sides, shapes, strict=True)]
    wide = dtype is DType.S16 and ctx.mode == "tflite"
    requant = product_requant(ctx.mode, a.scale, b.scale, y, dtype, (dtype.low, dtype.high), wide=wide)
    ctx.write(node, MatMul(a.zero_point, b.zero_point, requant, dtype, y), sides)


def _turned(ctx: Context, node: TfliteNode, index: int, turn: bool) -> str:
    """One side, its last two axes exchanged where the options say so."""
    value, rank = ctx.value(node, index), len(ctx.type(node, index).shape)
    if rank < 2:
        raise ShapeMismatch(f"a side of {rank} axes", where=node.where)
    if not turn:
        return value
    return ctx.apply(node, Transpose((*range(rank - 2), rank - 1, rank - 2)), (value,), note="for the layout")


def _full(ctx: Context, node: TfliteNode, value: str, shape: tuple[int, ...]) -> str:
    """One side with all leading axes of the product."""
    own = ctx.builder.type(value).shape
    value = ctx.reshaped(node, value, (*(1,) * (len(shape) - len(own)), *own))
    return value if ctx.builder.type(value).shape == shape else ctx.apply(node, Broadcast(shape), (value,))
