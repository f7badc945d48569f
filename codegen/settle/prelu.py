"""PRelu.

Decides: that one slope for all makes a table, and that any other one is a tensor of integers: its own where it has one
scale and 8 bits, else 16-bit integers, which are within 2^-16 of the largest slope.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch, TypeUnsupported
from codegen.ir.quant import Array, DType, Quant
from codegen.ir.real import RealNode
from codegen.ops import PRelu
from codegen.real.elementwise import PRelu as RealPRelu
from codegen.settle.binary import with_rank
from codegen.settle.context import Context, array_of, shared_quant, story
from codegen.settle.function import apply_function
from codegen.settle.join import clamped
from codegen.settle.matmul import Side, const_side, side
from codegen.settle.rule import Family, Rule
from codegen.settle.states import IntConst, Pending, Request, Route, State
from codegen.settle.tables import exact, named

_EIGHT_BIT = (np.int8, np.uint8)


def prelu(ctx: Context, node: RealNode, op: RealPRelu) -> Sequence[State]:
    """PRelu with one slope, a slope per channel, or a slope that the network computes."""
    slopes = array_of(ctx.state(node, 1))
    if slopes is not None and slopes.size and (slopes == slopes.reshape(-1)[0]).all():
        return [apply_function(ctx, node, 0, named("LeakyRelu", {"alpha": float(slopes.reshape(-1)[0])}))]
    x = exact(ctx, node, 0)
    shape = ctx.shape(x)
    slope = side(ctx, node, 1) if slopes is None else _constant(ctx, node, ctx.state(node, 1), slopes)
    if not _fits(slope.shape, shape):
        raise ShapeMismatch(f"slopes of shape {list(slope.shape)} for {list(shape)}", where=node.where)

    def emit(request: Request) -> str:
        main = PRelu(x.quant, slope.quant, request.quant, request.dtype)
        operand = with_rank(ctx, slope.value, len(shape))
        note = f"{story(request.trail)} -> PRelu, two roundings"
        return clamped(ctx, request, lambda r: ctx.run(x.value, Route(main), r.name, r.trail, note, [operand]))

    return [Pending(shape, emit, (node,))]


def _fits(slope: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether slopes are broadcast to the input's shape, which stays."""
    pairs = zip(reversed(slope), reversed(shape), strict=False)
    return len(slope) <= len(shape) and all(s in (1, n) for s, n in pairs)


def _constant(ctx: Context, node: RealNode, state: State, slopes: Array) -> Side:
    if isinstance(state, IntConst) and state.ints.dtype in _EIGHT_BIT and shared_quant(state) is not None:
        return const_side(ctx, node, 1, state)
    if slopes.dtype.kind != "f" or not slopes.size or not np.isfinite(slopes).all():
        raise TypeUnsupported("slopes that are not finite float numbers", where=node.where)
    most = float(np.abs(slopes.astype(np.float64)).max())
    scale = np.maximum(np.float32(most / DType.S16.high), np.finfo(np.float32).tiny)
    ints = np.clip(np.rint(slopes.astype(np.float64) / float(scale)), -DType.S16.high, DType.S16.high)
    quant = Quant(float(scale))
    return Side(ctx.builder.const(node.inputs[1], ints.astype(np.int16), quant), slopes.shape, quant)


RULES: Family = (Rule(RealPRelu, prelu, ("PRelu",)),)
