"""Sum, difference and product of two tensors of integers.

Decides: that both are of one 8-bit type where that loses nothing, and that they have the rank of the result.
"""

from __future__ import annotations

import math

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import DType, Mode, Quant
from codegen.ir.real import RealNode
from codegen.ops import Add, Mul, Reshape, activation_bounds, make_requant
from codegen.settle.context import Context, real_bounds, shared_quant, story
from codegen.settle.matmul import Side, const_side
from codegen.settle.states import IntConst, Pending, Request, Route, State
from codegen.settle.tables import as_dtype, exact


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
    return Pending(result.shape, emit, (node,))


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
