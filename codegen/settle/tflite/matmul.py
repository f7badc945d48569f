"""BATCH_MATMUL: products of two computed matrices, or of a computed and a constant one; dense layers of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.errors import FormUnsupported
from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ops import Broadcast, MatMul, Transpose
from codegen.real import product as real
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Pending, Request, State
from codegen.settle.tflite.context import TfliteContext, bounds
from codegen.settle.tflite.scales import product_requant

_PRODUCTS = ((DType.S8,) * 3, (DType.S16,) * 3, (DType.S16, DType.S8, DType.S16))


def matmul(ctx: TfliteContext, node: RealNode, op: real.MatMul) -> Sequence[State]:
    """The product; the axes before the last two are broadcast."""
    return [product_of_two(ctx, node)]


def product_of_two(ctx: TfliteContext, node: RealNode, *, turned: bool = False) -> Pending:
    """The product; the axes before the last two are broadcast, and a right side that is `turned` is [O, K]."""
    sides = [ctx.quantized(node, i) for i in (0, 1)]
    a, b = (side.quant for side in sides)
    lead = ctx.real(node.outputs[0]).shape[:-2]

    def write(request: Request) -> str:
        kinds = (ctx.dtype(node, 0), ctx.dtype(node, 1), request.dtype)
        if kinds not in _PRODUCTS:
            hint = "int8 by int8 to int8 is supported, int16 by int16 or int8 to int16"
            found = f"a product of {kinds[0].value} by {kinds[1].value} to {kinds[2].value}"
            raise FormUnsupported(found, where=node.where, hint=hint)
        left, right = (side.value for side in sides)
        values = (left, ctx.apply(node, Transpose((1, 0)), (right,)) if turned else right)
        wide, ends = request.dtype is DType.S16 and ctx.mode == "tflite", bounds(request)
        probe = MatMul(a.zero_point, b.zero_point, None, request.dtype, request.quant)
        reach = 0 if ctx.mode == "tflite" else probe.reach([ctx.type(value) for value in values])
        scales = (ctx.mode, a.scale, b.scale, request.quant, request.dtype)
        made = replace(probe, requant=product_requant(*scales, ends, wide=wide, reach=reach))
        return ctx.write(request, made, [_full(ctx, node, value, lead) for value in values])

    return ctx.waiting(node, write)


def _full(ctx: TfliteContext, node: RealNode, value: str, lead: tuple[int, ...]) -> str:
    """One side with all leading axes of the product."""
    own = ctx.type(value).shape
    shape = (*lead, *own[-2:])
    value = ctx.reshaped(node, value, (*(1,) * (len(shape) - len(own)), *own))
    return value if ctx.type(value).shape == shape else ctx.apply(node, Broadcast(shape), (value,))


RULES: Family = (Rule(real.MatMul, matmul, ("BATCH_MATMUL",)),)
