"""A quantized tensor's steps in whole numbers: sums of sizes, of squares and their roots, running sums, products.

Decides: that they are brought to the result's scale once; that sums which 32 bits may not hold, windows that overlap
and products are totals in fixed point, which has 2^29 to 2^30 units for the result's range; that factors which a shift
does not make are left to real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from codegen.errors import FormUnsupported
from codegen.ir.op import Op
from codegen.ir.quant import DType, is_pot
from codegen.ir.real import RealNode
from codegen.ir.shape import Shape, Window, row_count
from codegen.ops import Rescale, Reshape, TotalPool2D, Transpose, WholeArithmetic, activation_bounds, make_requant
from codegen.ops.float32 import FloatCumulative, FloatReduce
from codegen.ops.total_pool import MAX_ROOT_SHIFT, MAX_SHIFT, MAX_TAPS, Total
from codegen.real.cumulative import CumulativeSum
from codegen.real.reduce import Reduce
from codegen.real.unpool import LpPool
from codegen.records import record
from codegen.settle.context import Context, real_bounds, story
from codegen.settle.float32.writer import Writer
from codegen.settle.layout import TO_NHWC
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Pending, Real, Request, Route, State
from codegen.settle.tables import exact
from codegen.settle.windows import pool_route, two_windows

_ROOT_BITS = 15
"""Bits of a root behind the point: those of a sum of 31 bits have 31 with them."""
_UNIT_BITS = 30
"""Units of a total in fixed point that the result's range has, at least half of them."""
_SHORT_BITS = 22
"""Roundings times steps of the result, up to which a product of 24 bits is within a quarter of a step."""
_TOTALS: Mapping[str, Total] = {"L1": "sizes", "L2": "length", "Prod": "product", "SumSquare": "squares"}


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
    """The sum of sizes or of squares over axes, the root of the latter, or the product."""
    shape, axes = ctx.shape(x), tuple(sorted(op.axes))
    count = math.prod(shape[a] for a in axes)
    terms = Terms(count, 1 if op.kind == "L1" else 2, op.kind == "L2")
    if op.kind != "Prod" and _is_held(ctx, x, terms):
        return _over_axes(ctx, node, x, terms, shape, axes)
    return _total_over(ctx, node, x, _TOTALS[op.kind], shape, axes)


def lp_pool(ctx: Context, node: RealNode, op: LpPool) -> Sequence[State]:
    """The same of windows: where they lie side by side and cover the map, half of its places are axes to sum over."""
    x = exact(ctx, node, 0)
    shape, axes = ctx.shape(x), range(3, 3 + 2 * len(op.windows), 2)
    if op.p not in (1, 2):
        raise FormUnsupported(f"LpPool of powers of {op.p}", where=node.where)
    terms = Terms(math.prod(w.size for w in op.windows), op.p, op.p == 2)
    pairs = tuple(zip(op.windows, shape[2:], strict=True))
    if all(_is_whole(w, n) or (w == Window(w.size, w.size) and n % w.size == 0) for w, n in pairs):
        split = (*shape[:2], *(part for w, n in pairs for part in (n // w.size, w.size)))
        if _is_held(ctx, x, terms):
            return [_over_axes(ctx, node, x, terms, split, tuple(axes))]
        if all(_is_whole(w, n) for w, n in pairs):
            return [_total_over(ctx, node, x, _lp_total(op.p), shape, tuple(range(2, len(shape))))]
        if len(pairs) > 2:
            return [_total_over(ctx, node, x, _lp_total(op.p), split, tuple(axes))]
    if len(pairs) > 2:
        raise FormUnsupported("LpPool over three axes of windows that overlap", where=node.where)
    h, w = two_windows(op.windows)
    out = ctx.real(node.outputs[0]).shape[2:]
    around = pool_route(None, shape, out)
    return [_total(ctx, node, x, (h, w), _lp_total(op.p), around)]


def _lp_total(p: int) -> Total:
    return "sizes" if p == 1 else "length"


def _is_whole(window: Window, length: int) -> bool:
    return window.size == length and window == Window(length, window.stride)


def _is_held(ctx: Context, x: Real, terms: Terms) -> bool:
    """Whether 32 bits hold every sum."""
    return _reach(ctx, x, terms) <= DType.S32.high


def _reach(ctx: Context, x: Real, terms: Terms) -> int:
    return terms.reach(ctx.type(x.value).dtype.reach(x.quant.zero_point))


def _total_over(ctx: Context, node: RealNode, x: Real, total: Total, shape: Shape, axes: Shape) -> Pending:
    """A total over axes of x in the shape: windows side by side, in a map with the tensor's rows where it can be."""
    identity = tuple(range(len(shape)))
    order = (*(i for i in identity if i not in axes), *axes)
    if axes == tuple(range(axes[0], axes[-1] + 1)):
        order = TO_NHWC if len(shape) == 4 and axes in ((1,), (2, 3)) else identity
    moved, first = tuple(shape[i] for i in order), order.index(axes[0])
    before, size = math.prod(moved[:first]), math.prod(shape[a] for a in axes)
    rows = min(before, row_count(moved))
    flat = Reshape((1, rows, before // rows * size, math.prod(shape) // (before * size)))
    pre = (flat,) if order == identity else (Reshape(shape), Transpose(order), flat)
    post = (Reshape(ctx.real(node.outputs[0]).shape),)
    return _total(ctx, node, x, (Window(1), Window(size, size)), total, Route(None, pre, post))


def _total(
    ctx: Context, node: RealNode, x: Real, windows: tuple[Window, Window], total: Total, around: Route
) -> Pending:
    """Totals of windows in fixed point, as a result that waits for its scale."""
    kind, zero, taps = ctx.type(x.value).dtype, x.quant.zero_point, windows[0].size * windows[1].size
    if taps >= MAX_TAPS or is_pot(ctx.mode):
        raise FormUnsupported(f"{node.op_type} of {taps} numbers of type {kind.value}", where=node.where)
    power = {"product": taps, "squares": 2}.get(total, 1)

    def emit(request: Request) -> str:
        ends = request.dtype.reach(request.quant.zero_point) + 1
        shift, unit = _fixed_point(float(x.quant.scale), power, ends * float(request.quant.scale), total == "length")
        if abs(shift) > MAX_SHIFT or (total == "length" and shift > MAX_ROOT_SHIFT):
            raise FormUnsupported(f"{node.op_type} to a scale of {request.quant.scale:.4g}", where=node.where)
        short = total == "product" and kind.reach(zero) < 1 << 8 and taps * ends <= 1 << _SHORT_BITS
        value, w = x.value, Writer(ctx, node)
        for op in (*around.pre, TotalPool2D(*windows, total, zero, shift, 24 if short else 31)):
            value = w.apply(op, value)
        return rescaled(ctx, value, unit, request, around.post)

    return Pending(ctx.real(node.outputs[0]).shape, emit, (node,))


def _fixed_point(scale: float, power: int, most: float, root: bool) -> tuple[int, float]:
    """Bits behind the point with which a power of the steps reaches `most`, and what one unit stands for."""
    mantissa, exponent = math.frexp(scale)
    fine, whole = power * math.log2(mantissa), power * exponent
    shift = math.floor(fine + whole + _UNIT_BITS - math.log2(most))
    shift = max(shift, 0) if root else shift
    return shift, 2.0 ** (fine + (whole - shift))


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
    reach = _reach(ctx, x, terms)
    if reach > DType.S32.high or is_pot(ctx.mode):
        kind = ctx.type(x.value).dtype
        raise FormUnsupported(f"{node.op_type} of {terms.count} numbers of type {kind.value}", where=node.where)

    def emit(request: Request) -> str:
        scale = terms.unit(float(x.quant.scale))
        if scale >= request.quant.scale * 2.0**30 / terms.most(reach):
            raise FormUnsupported(f"{node.op_type} to a scale of {request.quant.scale:.4g}", where=node.where)
        w = Writer(ctx, node)
        return rescaled(ctx, write(w, steps_of(w, x)), scale, request)

    return Pending(ctx.real(node.outputs[0]).shape, emit, (node,))


def rescaled(ctx: Context, value: str, scale: float, request: Request, post: tuple[Op, ...] = ()) -> str:
    """Whole numbers of a scale at the scale that is requested, and what is then done with them."""
    ends = activation_bounds(request.quant, request.dtype, *real_bounds(request))
    requant = make_requant(ctx.mode, scale, [1.0], request.quant, request.dtype, *ends)
    note = f"{story(request.trail)} -> whole numbers, requant {ctx.mode}"
    main = Rescale(requant, request.dtype, request.quant)
    return ctx.run(value, Route(main, post=post), request.name, request.trail, note)


def steps_of(w: Writer, x: Real) -> str:
    """A tensor's steps above its zero point, s32."""
    steps, zero = w.cast(x.value, DType.S32), x.quant.zero_point
    return w.apply(WholeArithmetic("-"), steps, w.whole(zero)) if zero else steps


RULES: Family = (
    Rule(CumulativeSum, running_sum, ("CumSum",)),
    Rule(LpPool, lp_pool, ("GlobalLpPool", "LpPool")),
)
