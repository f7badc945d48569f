"""Sums of a quantized tensor's steps in 32 bits: of sizes, of squares and the roots of these, and running ones.

Decides: that they are whole numbers, brought to the result's scale once; sums that 32 bits may not hold, and factors
that a shift does not make, are left to real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from codegen.errors import FormUnsupported
from codegen.ir.quant import DType, is_pot
from codegen.ir.real import RealNode
from codegen.ir.shape import Shape, Window
from codegen.ops import Rescale, WholeArithmetic, activation_bounds, make_requant
from codegen.ops.float32 import FloatCumulative, FloatReduce
from codegen.real.cumulative import CumulativeSum
from codegen.real.reduce import Reduce
from codegen.real.unpool import LpPool
from codegen.records import record
from codegen.settle.context import Context, real_bounds, story
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Pending, Real, Request, Route, State
from codegen.settle.tables import exact

_ROOT_BITS = 15
"""Bits of a root behind the point: those of a sum of 31 bits have 31 with them."""


@record
class Terms:
    """How many steps are added at most, to which power, and how fine the result is."""

    count: int
    power: int = 1
    rooted: bool = False

    def reach(self, step: int) -> int:
        """The greatest sum of steps up to this."""
        return int(self.count * step**self.power)

    def unit(self, scale: float) -> float:
        """The real number that one of the result stands for."""
        return scale * 2.0**-_ROOT_BITS if self.rooted else scale**self.power

    def most(self, reach: int) -> int:
        """The greatest result, of the greatest sum."""
        return math.isqrt(reach << 2 * _ROOT_BITS) if self.rooted else reach


def of_steps(ctx: Context, node: RealNode, x: Real, op: Reduce) -> Pending:
    """The sum of sizes or of squares over axes, or the root of the latter."""
    axes = tuple(sorted(op.axes))
    count = math.prod(ctx.shape(x)[a] for a in axes)
    terms = Terms(count, 1 if op.kind == "L1" else 2, op.kind == "L2")
    return _over_axes(ctx, node, x, terms, ctx.shape(x), axes)


def lp_pool(ctx: Context, node: RealNode, op: LpPool) -> Sequence[State]:
    """The same of windows that lie side by side and cover the map: half of their places are axes to sum over."""
    x = exact(ctx, node, 0)
    shape, split = ctx.shape(x), list[int]()
    for window, length in zip(op.windows, shape[2:], strict=True):
        whole = window.size == length and window == Window(length, window.stride)
        if not whole and (window != Window(window.size, window.size) or length % window.size):
            raise FormUnsupported("LpPool of windows that overlap, or do not cover the map", where=node.where)
        split += [length // window.size, window.size]
    if op.p not in (1, 2):
        raise FormUnsupported(f"LpPool of powers of {op.p}", where=node.where)
    terms = Terms(math.prod(w.size for w in op.windows), op.p, op.p == 2)
    return [_over_axes(ctx, node, x, terms, (*shape[:2], *split), tuple(range(3, 2 + len(split), 2)))]


def _over_axes(ctx: Context, node: RealNode, x: Real, terms: Terms, shape: Shape, axes: Shape) -> Pending:
    """Sums over axes of x in the shape."""
    wanted = ctx.real(node.outputs[0]).shape
    main = FloatReduce("l1" if terms.power == 1 else "squares", axes)

    def write(w: Writer, steps: str) -> str:
        total = w.apply(main, w.reshaped(steps, shape))
        rooted = w.apply(WholeArithmetic("root"), total, w.whole(2 * _ROOT_BITS)) if terms.rooted else total
        return w.reshaped(rooted, wanted)

    return _scaled(ctx, node, x, terms, write)


def running_sum(ctx: Context, node: RealNode, op: CumulativeSum) -> Sequence[State]:
    """Sums so far along an axis."""
    x = exact(ctx, node, 0)
    main = FloatCumulative("sum", op.axis, op.exclusive, op.reverse)
    return [_scaled(ctx, node, x, Terms(ctx.shape(x)[op.axis]), lambda w, steps: w.apply(main, steps))]


def _scaled(ctx: Context, node: RealNode, x: Real, terms: Terms, write: Callable[[Writer, str], str]) -> Pending:
    """What `write` makes of a tensor's steps above its zero point, as a result that waits for its scale."""
    kind, zero = ctx.type(x.value).dtype, x.quant.zero_point
    reach = terms.reach(kind.reach(zero))
    if reach > DType.S32.high or is_pot(ctx.mode):
        raise FormUnsupported(f"{node.op_type} of {terms.count} numbers of type {kind.value}", where=node.where)

    def emit(request: Request) -> str:
        scale = terms.unit(float(x.quant.scale))
        if scale >= request.quant.scale * 2.0**30 / terms.most(reach):
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


RULES: Family = (
    Rule(CumulativeSum, running_sum, ("CumSum",)),
    Rule(LpPool, lp_pool, ("GlobalLpPool", "LpPool")),
)
