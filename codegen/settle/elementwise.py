"""Add, Sub, Mul, Div, Mod, Pow, Min and Max.

Decides: which of these are part of a product (bias, factor), which are a function of one tensor (a scalar constant, or
twice the same tensor), which are a factor or an offset (other constants), and which are an operator of two tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported
from codegen.fixedpoint import quantize_linear
from codegen.ir.quant import Array, DType, is_pot
from codegen.ir.real import RealNode
from codegen.ops import Div, Extremum, WholeArithmetic, activation_bounds, broken_limits, remainder_of
from codegen.real.elementwise import Binary
from codegen.settle.affine import affine
from codegen.settle.binary import binary, is_side, operand, with_rank
from codegen.settle.chain import Function
from codegen.settle.context import Context, array_of, is_scalar, real_bounds, refuse_unquantized, story
from codegen.settle.float32.writer import Writer
from codegen.settle.grid import on_grid
from codegen.settle.join import clamped
from codegen.settle.linear import add_bias, channel_vector, scaled, with_linear
from codegen.settle.logic import COMPARISONS, comparison
from codegen.settle.matmul import Side, const_side
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Accum, IntConst, Pending, Real, Request, Route, State
from codegen.settle.sums import rescaled, steps_of
from codegen.settle.tables import EIGHT_BIT, combined, exact, mapped, meant


def _remainder(x: Array, y: Array) -> Array:
    """Of float32 numbers, whose quotients are whole numbers or not, as rounding to float32 has it."""
    with np.errstate(invalid="ignore"):
        return np.fmod(x.astype(np.float32), y.astype(np.float32)).astype(np.float64)


_FUNCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Fmod": _remainder,
    "Pow": np.power,
    "Min": np.minimum,
    "Max": np.maximum,
}
_LINEAR: dict[str, Callable[[Array, int], tuple[Array | float, Array | float]]] = {
    "Add": lambda c, at: (1.0, c),
    "Sub": lambda c, at: (-1.0, c) if at else (1.0, -c),
    "Mul": lambda c, at: (c, 0.0),
    "Div": lambda c, at: (1.0 / c, 0.0),
}
"""Factor and offset of a tensor that is the operand `at`, the other one being the constant c."""

_TINY = 2.0**-32
_MOST_FACTOR = 2.0**14
"""Steps of a result to one of a remainder of 16-bit numbers."""
_MOST_PERIODS = 1000
"""Of a remainder of 16-bit numbers, which straight pieces make: four of them each, where rounding has it so."""


def elementwise(ctx: Context, node: RealNode, op: Binary) -> Sequence[State]:
    """Any of the operators on two float tensors, one of them perhaps constant."""
    if op.kind in COMPARISONS:
        return [comparison(ctx, node, op.kind)]
    if op.kind not in _FUNCTIONS:
        raise ctx.real_only(node)
    a, b = ctx.state(node, 0), ctx.state(node, 1)
    for read in (_of_sums, _of_product, _of_one, _with_constant, _bounded):
        found = read(ctx, node, op.kind, a, b)
        if found is not None:
            return [found]
    longer = _of_sum(ctx, node, op.kind, a, b)
    if longer is not None:
        return [longer]
    if op.kind in ("Add", "Sub", "Mul"):
        dtype = next((ctx.type(s.value).dtype for s in (a, b) if isinstance(s, Real)), DType.S8)
        return [binary(ctx, node, op.kind, operand(ctx, node, 0, dtype), operand(ctx, node, 1, dtype))]
    if op.kind in ("Min", "Max") and array_of(a) is None and array_of(b) is None:
        return [_extremum(ctx, node, op.kind, a, b)]
    if op.kind == "Div":
        return [_quotient(ctx, node, a, b)]
    if op.kind == "Fmod":
        return [_remainder_of_two(ctx, node, a, b)]
    spoken = [_spoken(ctx, node, i) for i in (0, 1)]
    raise FormUnsupported(f"{node.op_type} of {spoken[0]} and {spoken[1]}", where=node.where)


def _spoken(ctx: Context, node: RealNode, index: int) -> str:
    """An operand in words; an unquantized one is refused by itself."""
    state = ctx.state(node, index)
    if array_of(state) is not None:
        return f"a constant of shape {list(ctx.shape(state))}"
    return f"a tensor of shape {list(ctx.shape(exact(ctx, node, index)))}"


def _extremum(ctx: Context, node: RealNode, kind: str, a: State, b: State) -> State:
    """The larger or smaller of two tensors: a comparison of integers, of one meaning or of the result's.

    Rounding keeps the order of numbers: of tensors of two meanings both are brought to the result's, each rounded once.
    """
    if isinstance(a, Real) and isinstance(b, Real) and _is_one_meaning(ctx, a, b):
        return _extremum_of_one(ctx, node, kind)
    for index, state in enumerate((a, b)):
        if not isinstance(state, Pending | Real):
            raise refuse_unquantized(node, index, state)
    shapes = [ctx.shape(s) for s in (a, b)]
    shape = np.broadcast_shapes(*shapes)
    trail = tuple(dict.fromkeys(n for s in (a, b) if isinstance(s, Pending | Real) for n in s.trail))

    def emit(request: Request) -> str:
        sides = [
            with_rank(ctx, _meant_by(ctx, s, request, f"{request.name}:{side}", node), len(shape))
            for s, side in ((a, "left"), (b, "right"))
            if isinstance(s, Pending | Real)
        ]
        op = Extremum(kind == "Max", request.quant)
        note = f"{story(request.trail)} -> Extremum of two scales"
        return clamped(ctx, request, lambda r: ctx.run(sides[0], Route(op), r.name, r.trail, note, sides[1:]))

    return Pending(shape, emit, (*trail, node))


def _is_one_meaning(ctx: Context, a: Real, b: Real) -> bool:
    return a.quant == b.quant and ctx.type(a.value).dtype is ctx.type(b.value).dtype


def _extremum_of_one(ctx: Context, node: RealNode, kind: str) -> State:
    a, b = exact(ctx, node, 0), exact(ctx, node, 1)
    rank = max(len(ctx.shape(a)), len(ctx.shape(b)))
    x, y = (with_rank(ctx, s.value, rank) for s in (a, b))
    op = Extremum(kind == "Max", a.quant)
    name = node.outputs[0]
    value = ctx.run(x, Route(op), name, (node,), f"{node.op_type} -> Extremum", [y])
    return Real(value, a.quant, trail=(node,))


def _meant_by(ctx: Context, x: Pending | Real, request: Request, name: str, node: RealNode) -> str:
    """A tensor in integers of the meaning that is requested, without the result's bounds."""
    return meant(ctx, x, replace(request, name=name, trail=(*x.trail, node), low=-math.inf, high=math.inf))


def _quotient(ctx: Context, node: RealNode, a: State, b: State) -> State:
    """The quotient of two tensors, of which one may be a constant with a scale."""
    if not (isinstance(a, Real | IntConst) and isinstance(b, Real | IntConst)):
        spoken = [_spoken(ctx, node, i) for i in (0, 1)]
        raise FormUnsupported(f"{node.op_type} of {spoken[0]} and {spoken[1]}", where=node.where)
    if is_pot(ctx.mode):
        raise ctx.real_only(node)
    dtype = next(ctx.type(s.value).dtype for s in (a, b) if isinstance(s, Real))
    sides = [operand(ctx, node, i, dtype) for i in (0, 1)]
    rank = max(len(s.shape) for s in sides)

    def emit(request: Request) -> str:
        ends = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        op = Div(sides[0].quant, sides[1].quant, request.quant, *ends, request.dtype)
        x, y = (with_rank(ctx, s.value, rank) for s in sides)
        return ctx.run(x, Route(op), request.name, request.trail, f"{story(request.trail)} -> Div", [y])

    return Pending(np.broadcast_shapes(*(s.shape for s in sides)), emit, (node,))


def _remainder_of_two(ctx: Context, node: RealNode, a: State, b: State) -> State:
    """The remainder of two tensors, with the sign of the first; 0 by 0.  Of one scale it is that of their steps."""
    if not (isinstance(a, Real | IntConst) and isinstance(b, Real | IntConst)) or is_pot(ctx.mode):
        raise ctx.real_only(node)
    dtype = next(ctx.type(s.value).dtype for s in (a, b) if isinstance(s, Real))
    sides = [operand(ctx, node, i, dtype) for i in (0, 1)]
    if sides[0].quant.scale != sides[1].quant.scale:
        return _remainder_of_scales(ctx, node, sides[0], sides[1])
    shape = np.broadcast_shapes(*(s.shape for s in sides))

    def emit(request: Request) -> str:
        if sides[0].quant.scale >= request.quant.scale * _MOST_FACTOR:
            raise FormUnsupported(f"{node.op_type} to a scale of {request.quant.scale:.4g}", where=node.where)
        w = Writer(ctx, node)
        steps = [steps_of(w, Real(with_rank(ctx, s.value, len(shape)), s.quant)) for s in sides]
        return rescaled(ctx, w.apply(WholeArithmetic("fmod"), *steps), sides[0].quant.scale, request)

    return Pending(shape, emit, (node,))


def _remainder_of_scales(ctx: Context, node: RealNode, a: Side, b: Side) -> Pending:
    """The remainder of float32's numbers."""
    shape, kinds = np.broadcast_shapes(a.shape, b.shape), [ctx.type(s.value) for s in (a, b)]
    main = remainder_of(a.quant, b.quant, (kinds[0].dtype, kinds[1].dtype))
    if broken_limits(main, kinds):
        raise FormUnsupported(f"{node.op_type} of scales {a.quant.scale:.4g} and {b.quant.scale:.4g}", where=node.where)

    def emit(request: Request) -> str:
        if main.unit >= request.quant.scale / 2:  # steps of the result that 30 bits do not hold
            raise FormUnsupported(f"{node.op_type} to a scale of {request.quant.scale:.4g}", where=node.where)
        w = Writer(ctx, node)
        return rescaled(ctx, w.apply(main, *(with_rank(ctx, s.value, len(shape)) for s in (a, b))), main.unit, request)

    return Pending(shape, emit, (node,))


def _bounded(ctx: Context, node: RealNode, kind: str, a: State, b: State) -> State | None:
    """The larger or smaller of a tensor and constants, such as bounds for each channel.

    Rounding keeps the order of numbers: both are brought to the result's meaning, whose integers are compared.
    """
    x, other, constant = (b, 0, array_of(a)) if array_of(b) is None else (a, 1, array_of(b))
    if kind not in ("Min", "Max") or constant is None or not isinstance(x, Pending | Real):
        return None
    shape = ctx.shape(x)
    if np.isnan(constant).any() or np.broadcast_shapes(shape, constant.shape) != shape:
        return None
    bounds = constant.astype(np.float64)

    def emit(request: Request) -> str:
        ints = quantize_linear(
            bounds, request.quant.scale, request.quant.zero_point, request.dtype.low, request.dtype.high
        )
        bound = ctx.builder.const(node.inputs[other], ints.astype(request.dtype.numpy), request.quant)
        value = _meant_by(ctx, x, request, f"{request.name}:unbounded", node)
        op, operand = Extremum(kind == "Max", request.quant), with_rank(ctx, bound, len(shape))
        note = f"{story(request.trail)} -> Extremum with constants"
        return clamped(ctx, request, lambda r: ctx.run(value, Route(op), r.name, r.trail, note, [operand]))

    return Pending(shape, emit, (*x.trail, node))


def _of_sums(ctx: Context, node: RealNode, kind: str, a: State, b: State) -> State | None:
    """A bias of whole numbers, for each output, of int32 sums that wait."""
    x, other = (a, b) if isinstance(a, Accum) else (b, a)
    constant = array_of(other)
    if kind != "Add" or not isinstance(x, Accum) or constant is None or constant.dtype.kind != "i":
        return None
    linear = x.linear
    vector = channel_vector(constant, x.shape, linear.axis, len(linear.scales))
    bias = None if vector is None else linear.bias_int + vector
    if bias is None or (np.abs(bias) > DType.S32.high).any():
        return None
    return replace(x, linear=replace(linear, bias_int=bias), trail=(*x.trail, node))


def _of_product(ctx: Context, node: RealNode, kind: str, a: State, b: State) -> State | None:
    """A bias or factor of a convolution or matrix product that still waits for its scale."""
    swapped = isinstance(b, Pending)
    x, other = (b, a) if swapped else (a, b)
    constant = array_of(other)
    if not isinstance(x, Pending) or constant is None:
        return None
    if kind in ("Min", "Max") and is_scalar(constant):
        bound = float(constant.reshape(-1)[0])
        return x.clipped(*((bound, np.inf) if kind == "Max" else (-np.inf, bound)), node)
    if x.bounded or (swapped and kind == "Div"):
        return None
    if x.linear is None and kind in _LINEAR and (x.wide is not None or x.factors is not None):
        return _of_normal(ctx, node, kind, x, constant, swapped)
    if x.linear is None:
        return _times(kind, x, constant, node)
    vector = channel_vector(constant, x.shape, x.linear.axis, len(x.linear.scales))
    if vector is None:
        return None
    linear = x.linear
    if kind in ("Mul", "Div"):
        with np.errstate(all="ignore"):
            factor = vector.astype(np.float64) if kind == "Mul" else 1 / vector.astype(np.float64)
        linear = scaled(linear, factor, node)
    elif kind in ("Add", "Sub"):
        if swapped and kind == "Sub":
            linear = scaled(linear, np.full(len(linear.scales), -1.0), node)
        sign = -1.0 if kind == "Sub" and not swapped else 1.0
        linear = add_bias(ctx, linear, other, vector, node, sign)
    else:
        return None
    return with_linear(ctx, x, linear, node)


def _of_sum(ctx: Context, node: RealNode, kind: str, a: State, b: State) -> State | None:
    """One more tensor of a sum that still waits for its scale."""
    at = 0 if isinstance(b, Pending) else 1
    x, other = (b, a) if at == 0 else (a, b)
    if kind not in ("Add", "Sub") or not isinstance(x, Pending) or x.plus is None or x.bounded:
        return None
    if not isinstance(other, Real):
        return None
    own, sign = (1, 1) if kind == "Add" else (-1, 1) if at == 0 else (1, -1)
    return x.plus(exact(ctx, node, at), own, sign, node)


def _of_normal(ctx: Context, node: RealNode, kind: str, x: Pending, constant: Array, swapped: bool) -> State | None:
    """A factor or an offset of a normalized tensor: of the operator itself, or of its 16 bits."""
    with np.errstate(all="ignore"):
        factor, offset = (np.asarray(p) for p in _LINEAR[kind](constant.astype(np.float64), int(swapped)))
    if x.factors is None:
        return None if x.wide is None else affine(ctx, node, x.wide(), factor, offset)
    if np.broadcast_shapes(x.shape, constant.shape) != x.shape:
        return None
    made = x.factors(factor, offset)
    return replace(made, trail=(*made.trail, node))


def _times(kind: str, x: Pending, constant: Array, node: RealNode) -> Pending | None:
    """A mean or a matrix product times one number above zero, which its scale takes."""
    if x.times is None or kind not in ("Mul", "Div") or not is_scalar(constant) or constant.ndim > len(x.shape):
        return None
    number = float(constant.reshape(-1)[0])
    if not _TINY < number < 1 / _TINY:
        return None
    return replace(x.times(number if kind == "Mul" else 1 / number), trail=(*x.trail, node))


def _of_one(ctx: Context, node: RealNode, kind: str, a: State, b: State) -> State | None:
    """A function of one tensor: the other operand is a scalar constant, or the same tensor."""
    function = _FUNCTIONS[kind]
    if isinstance(a, Real) and isinstance(b, Real):
        return combined(a, b, function, node) if (a.value, a.quant) == (b.value, b.quant) else None
    left, right = array_of(a), array_of(b)
    if isinstance(a, Real) and right is not None and is_scalar(right) and right.ndim <= len(ctx.shape(a)):
        c = right.reshape(-1).astype(np.float64)
        if kind == "Fmod" and ctx.type(a.value).dtype is DType.S16 and _periods(a, float(c[0])) > _MOST_PERIODS:
            raise FormUnsupported(f"{node.op_type} of a 16-bit tensor by {c[0]:.4g}", where=node.where)
        return mapped(a, Function(lambda x: function(x, c)), node)
    if isinstance(b, Real) and left is not None and is_scalar(left) and left.ndim <= len(ctx.shape(b)):
        c = left.reshape(-1).astype(np.float64)
        if kind == "Fmod" and ctx.type(b.value).dtype is DType.S16:
            raise FormUnsupported(f"{node.op_type} of a number by a 16-bit tensor", where=node.where)
        return mapped(b, Function(lambda x: function(c, x)), node)
    return None


def _periods(x: Real, c: float) -> float:
    """How often a function of period c comes again over the numbers of a 16-bit tensor."""
    return x.quant.scale * (DType.S16.high - DType.S16.low) / abs(c) if c else math.inf


def _with_constant(ctx: Context, node: RealNode, kind: str, a: State, b: State) -> State | None:
    """A factor or an offset of one tensor: the other operand is a constant that is not of 8 bits and one scale."""
    at = 1 if isinstance(b, Real) else 0
    other = a if at else b
    constant, real = array_of(other), b if at else a
    if constant is None or not isinstance(real, Real) or kind not in _LINEAR:
        return None
    if (kind == "Div" and at) or (kind != "Div" and is_side(other, ctx.type(real.value).dtype)):
        return None
    x, c = exact(ctx, node, at), constant.astype(np.float64)
    with np.errstate(all="ignore"):
        factor, offset = (np.asarray(part) for part in _LINEAR[kind](c, at))
    found = affine(ctx, node, x, factor, offset)
    return _as_integers(ctx, node, kind, x, c, found) if kind in ("Add", "Sub") else found


def _as_integers(ctx: Context, node: RealNode, kind: str, x: Real, c: Array, exactly: Pending) -> Pending:
    """The sum with a constant as a sum of two tensors, where that is right and takes less.

    An offset per element takes five bytes each, a tap and a bias; as integers of 8 bits it takes one.  They serve where
    they are off by a quarter of the result's step at most.
    """
    dtype, linear = ctx.type(x.value).dtype, exactly.linear
    if dtype not in EIGHT_BIT or linear is None or len(linear.scales) == exactly.shape[linear.axis]:
        return exactly
    constant, error = on_grid(c, dtype)
    at = 1 if isinstance(ctx.state(node, 1), Real) else 0

    def emit(request: Request) -> str:
        if error > request.quant.scale / 4:
            return exactly.emit(request)
        sides = [Side(x.value, ctx.shape(x), x.quant), const_side(ctx, node, 1 - at, constant)]
        return binary(ctx, node, kind, sides[at], sides[1 - at]).emit(request)

    return replace(exactly, emit=emit)


_NAMES = ("Add", "Div", "Max", "Min", "Mod", "Mul", "Pow", "QLinearAdd", "QLinearMul", "Sub", "Sum")

RULES: Family = (Rule(Binary, elementwise, (*_NAMES, *(name for name in COMPARISONS if name != "NotEqual"))),)
