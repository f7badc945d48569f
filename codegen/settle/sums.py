"""Sums of a quantized tensor's steps in 32 bits: of sizes, of squares, and running ones.

Decides: that they are whole numbers, brought to the result's scale once; sums that 32 bits may not hold, and factors
that a shift does not make, are left to real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from codegen.errors import FormUnsupported
from codegen.ir.quant import DType, is_pot
from codegen.ir.real import RealNode
from codegen.ops import Rescale, WholeArithmetic, activation_bounds, make_requant
from codegen.ops.float32 import FloatCumulative, FloatReduce
from codegen.real.cumulative import CumulativeSum
from codegen.real.reduce import Reduce
from codegen.settle.context import Context, real_bounds, story
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Pending, Real, Request, Route, State
from codegen.settle.tables import exact


def of_steps(ctx: Context, node: RealNode, x: Real, op: Reduce) -> Pending:
    """The sum of sizes or of squares over axes."""
    shape, axes = ctx.real(node.outputs[0]).shape, tuple(sorted(op.axes))
    count = math.prod(ctx.shape(x)[a] for a in axes)
    main = FloatReduce("l1" if op.kind == "L1" else "squares", axes)
    power = 1 if op.kind == "L1" else 2

    def write(w: Writer, steps: str) -> str:
        return w.reshaped(w.apply(main, steps), shape)

    return _scaled(ctx, node, x, (count, power), write)


def running_sum(ctx: Context, node: RealNode, op: CumulativeSum) -> Sequence[State]:
    """Sums so far along an axis."""
    x = exact(ctx, node, 0)
    main = FloatCumulative("sum", op.axis, op.exclusive, op.reverse)
    return [_scaled(ctx, node, x, (ctx.shape(x)[op.axis], 1), lambda w, steps: w.apply(main, steps))]


def _scaled(
    ctx: Context, node: RealNode, x: Real, terms: tuple[int, int], write: Callable[[Writer, str], str]
) -> Pending:
    """What `write` makes of a tensor's steps above its zero point, as a result that waits for its scale.

    `terms` are how many steps are added at most, and to which power.
    """
    count, power = terms
    kind, zero = ctx.type(x.value).dtype, x.quant.zero_point
    reach = count * kind.reach(zero) ** power
    if reach > DType.S32.high or is_pot(ctx.mode):
        raise FormUnsupported(f"{node.op_type} of {count} numbers of type {kind.value}", where=node.where)

    def emit(request: Request) -> str:
        scale = float(x.quant.scale) ** power
        if scale >= request.quant.scale * 2.0**30 / reach:
            raise FormUnsupported(f"{node.op_type} to a scale of {request.quant.scale:.4g}", where=node.where)
        w = Writer(ctx, node)
        ends = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        requant = make_requant(ctx.mode, scale, [1.0], request.quant, request.dtype, *ends)
        note = f"{story(request.trail)} -> whole numbers, requant {ctx.mode}"
        main = Rescale(requant, request.dtype, request.quant)
        return ctx.run(write(w, steps_of(w, x)), Route(main), request.name, request.trail, note)

    return Pending(ctx.real(node.outputs[0]).shape, emit, (node,))


def steps_of(w: Writer, x: Real) -> str:
    """A tensor's steps above its zero point, s32."""
    steps, zero = w.cast(x.value, DType.S32), x.quant.zero_point
    return w.apply(WholeArithmetic("-"), steps, w.whole(zero)) if zero else steps


RULES: Family = (Rule(CumulativeSum, running_sum, ("CumSum",)),)
