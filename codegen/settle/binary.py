"""Sum, difference and product of two tensors of integers.

Decides: that both are of one 8-bit type where that loses nothing, and that they have the rank of the result.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, ScaleBad
from codegen.ir.op import Op
from codegen.ir.quant import DType, Mode, Quant
from codegen.ir.real import RealNode
from codegen.ops import Add, Mul, Reshape, ScaledSum, activation_bounds, make_requant
from codegen.ops.scaled_sum import MOST
from codegen.records import record
from codegen.settle.context import Context, real_bounds, shared_quant, story
from codegen.settle.matmul import Side, const_side
from codegen.settle.states import IntConst, Pending, Real, Request, Route, State, Trail
from codegen.settle.tables import as_dtype, exact

_ONE_SUM = ("single", "tflite")
"""Modes in which a sum of several tensors has the one definition of ScaledSum."""


@record
class Terms:
    """Tensors that are added, each with its sign."""

    sides: tuple[Side, ...]
    signs: tuple[int, ...]

    def plus(self, side: Side, own: int, sign: int) -> Terms:
        """This sum, or its negative where `own` is -1, and one more tensor."""
        return Terms((*self.sides, side), (*(own * s for s in self.signs), sign))

    def times(self, node: RealNode, factor: float) -> Terms:
        """The sum times a number above zero."""
        return replace(self, sides=tuple(_times(node, side, factor) for side in self.sides))


def is_side(state: State, dtype: DType) -> bool:
    """Whether a constant's own integers can be an operand beside a tensor of `dtype`."""
    fitting = (np.int16,) if dtype is DType.S16 else (np.int8, np.uint8)
    return isinstance(state, IntConst) and state.ints.dtype in fitting and shared_quant(state) is not None


def operand(ctx: Context, node: RealNode, index: int, dtype: DType) -> Side:
    """One input as integers of `dtype` where that loses nothing."""
    state = ctx.state(node, index)
    if isinstance(state, IntConst):
        return const_side(ctx, node, index, _const_as(state, dtype))
    real = as_dtype(ctx, exact(ctx, node, index), dtype)
    return Side(real.value, ctx.shape(real), real.quant)


def binary(ctx: Context, node: RealNode, kind: str, a: Side, b: Side) -> Pending:
    """The sum, difference or product of two tensors, as a result that waits for its scale."""
    rank = max(len(a.shape), len(b.shape))
    reach = math.prod(ctx.type(s.value).dtype.reach(s.quant.zero_point) for s in (a, b))

    def emit(request: Request) -> str:
        bounds = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        op = _binary_op(ctx.mode, kind, (a.quant, b.quant), reach, request, bounds)
        x, y = (with_rank(ctx, s.value, rank) for s in (a, b))
        note = f"{story(request.trail)} -> {type(op).__name__}, requant {ctx.mode}"
        return ctx.run(x, Route(op), request.name, request.trail, note, [y])

    probe = Add(a.quant, b.quant, a.quant, DType.S8, -128, 127, ctx.mode)
    (result,) = probe.infer([ctx.type(a.value), ctx.type(b.value)])
    found = Pending(result.shape, emit, (node,))
    if kind == "Mul" or ctx.mode not in _ONE_SUM:
        return found
    first = Terms((a, b), (1, -1 if kind == "Sub" else 1))
    return replace(
        found,
        times=lambda factor: binary(ctx, node, kind, _times(node, a, factor), _times(node, b, factor)),
        plus=lambda more, own, sign, by: summed(ctx, by, first.plus(_side(ctx, more), own, sign), (node,)),
    )


def summed(ctx: Context, node: RealNode, terms: Terms, trail: Trail) -> Pending:
    """The sum of three tensors or more, rounded once, as a result that waits for its scale."""
    shapes = {side.shape for side in terms.sides}
    if len(shapes) > 1 or len(terms.sides) > MOST:
        raise FormUnsupported(f"a sum of {len(terms.sides)} tensors of shapes {sorted(shapes)}", where=node.where)
    first, *others = (side.value for side in terms.sides)

    def emit(request: Request) -> str:
        bounds = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        op = ScaledSum(tuple(s.quant for s in terms.sides), terms.signs, request.quant, request.dtype, *bounds)
        note = f"{story(request.trail)} -> ScaledSum, rounded once"
        return ctx.run(first, Route(op), request.name, request.trail, note, others)

    return Pending(
        terms.sides[0].shape,
        emit,
        (*trail, node),
        times=lambda factor: summed(ctx, node, terms.times(node, factor), trail),
        plus=lambda more, own, sign, by: summed(ctx, by, terms.plus(_side(ctx, more), own, sign), (*trail, node)),
    )


def _side(ctx: Context, real: Real) -> Side:
    return Side(real.value, ctx.shape(real), real.quant)


def _times(node: RealNode, side: Side, factor: float) -> Side:
    """The tensor times a number, which its scale takes."""
    scale = np.float32(side.quant.scale * factor)
    if not np.finfo(np.float32).tiny <= scale < np.inf:
        raise ScaleBad(f"a factor of {factor:.4g} makes a scale of {scale:.4g}", where=node.where)
    return replace(side, quant=Quant(float(scale), side.quant.zero_point))


def _binary_op(
    mode: Mode, kind: str, quants: tuple[Quant, Quant], reach: int, request: Request, bounds: tuple[int, int]
) -> Op:
    """`reach` is the largest size of the operands' product."""
    a, b = quants
    if kind == "Mul":
        requant = make_requant(mode, a.scale, [b.scale], request.quant, request.dtype, *bounds, reach=reach)
        return Mul(a.zero_point, b.zero_point, requant, request.dtype, request.quant)
    return Add(a, b, request.quant, request.dtype, *bounds, mode, -1 if kind == "Sub" else 1)


def with_rank(ctx: Context, value: str, rank: int) -> str:
    """The value with axes of size 1 in front, so that every operand has the rank of the result."""
    shape = ctx.type(value).shape
    if len(shape) == rank:
        return value
    full = (*(1,) * (rank - len(shape)), *shape)
    data = ctx.builder.values[value].data
    if data is not None:
        return ctx.builder.const(value, data.reshape(full), ctx.type(value).quant)
    return ctx.builder.apply(Reshape(full), (value,), f"{value}:full")


def _const_as(constant: IntConst, dtype: DType) -> IntConst:
    """The same constant in another 8-bit type."""
    if constant.ints.dtype not in (np.int8, np.uint8) or dtype not in (DType.S8, DType.U8):
        return constant
    if constant.ints.dtype == dtype.numpy:
        return constant
    shift = -128 if dtype is DType.S8 else 128
    ints = (constant.ints.astype(np.int16) + shift).astype(dtype.numpy)
    return IntConst(ints, constant.scale, constant.zero + shift)
