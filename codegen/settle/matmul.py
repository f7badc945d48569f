"""Gemm and MatMul, and the products shared with their quantized spellings.

Decides: that a constant right side makes a Dense layer [O, K], and anything else a MatMul of two tensors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, QuantAxisBad, ShapeMismatch
from codegen.ir.op import Op
from codegen.ir.quant import DType, Quant, Requant
from codegen.ir.real import RealNode
from codegen.ops import Broadcast, Dense, MatMul, Reshape, Transpose, activation_bounds, make_requant
from codegen.real.product import Gemm
from codegen.real.product import MatMul as RealMatMul
from codegen.records import record
from codegen.settle.context import Context, real_bounds, refuse_unquantized, shared_quant, story
from codegen.settle.conv import output_scales, refuse_empty, with_bias
from codegen.settle.linear import pending, scaled
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Const, IntConst, Linear, Pending, Real, Request, Route, State, Trail
from codegen.settle.tables import exact
from codegen.settle.weights import read_weights


@record
class Side:
    """One side of a product of two tensors: its value, shape and meaning."""

    value: str
    shape: tuple[int, ...]
    quant: Quant


def matmul(ctx: Context, node: RealNode, op: RealMatMul) -> Sequence[State]:
    """MatMul on dequantized tensors."""
    a, b = ctx.state(node, 0), ctx.state(node, 1)
    if _is_matrix(ctx, b) and not isinstance(a, IntConst | Const):
        weights = read_weights(ctx, node, 1, np.transpose)
        return [pending(ctx, node, dense_product(ctx, node, exact(ctx, node, 0), weights))]
    return [matrix_product(ctx, node, side(ctx, node, 0), side(ctx, node, 1))]


def _is_matrix(ctx: Context, state: State) -> bool:
    return isinstance(state, IntConst | Const) and len(ctx.shape(state)) == 2


def gemm(ctx: Context, node: RealNode, op: Gemm) -> Sequence[State]:
    """Gemm on dequantized tensors."""
    b = ctx.state(node, 1)
    if _is_matrix(ctx, b):
        b = read_weights(ctx, node, 1, (lambda w: w) if op.turn_b else np.transpose)
    return [_gemm(ctx, node, op, exact(ctx, node, 0), b)]


def _gemm(ctx: Context, node: RealNode, op: Gemm, a: Real, b: State) -> Pending:
    """The result of alpha * A * B + beta * C."""
    if len(ctx.shape(a)) != 2:
        raise ShapeMismatch(f"A has shape {list(ctx.shape(a))}", where=node.where)
    if op.turn_a:
        value = ctx.builder.apply(Transpose((1, 0)), (a.value,), f"{a.value}:transposed")
        a = Real(value, a.quant)
    if isinstance(b, IntConst):
        if b.ints.ndim != 2:
            raise ShapeMismatch(f"B has shape {list(b.ints.shape)}", where=node.where)
        linear = dense_product(ctx, node, a, transposed(b) if op.turn_b else b)
        if op.alpha != 1.0:
            linear = scaled(linear, np.full(len(linear.scales), op.alpha, np.float32), node)
        return pending(ctx, node, with_bias(ctx, node, 2, linear, op.beta) if op.beta else linear)
    return _gemm_of_two(ctx, node, op, a, b, ctx.optional(node, 2) if op.beta else None)


def dense_product(ctx: Context, node: RealNode, x: Real, weights: IntConst, x_scale: float | None = None) -> Linear:
    """The product of the last axis with constant weights [K, O], without bias."""
    shape, (depth, outputs) = ctx.shape(x), weights.ints.shape
    refuse_empty(node, weights)
    if not shape or shape[-1] != depth:
        found = f"{list(shape)} cannot be multiplied by weights of shape {list(weights.ints.shape)}"
        raise ShapeMismatch(found, where=node.where)

    def make(requant: Requant | None, dtype: DType, quant: Quant | None) -> Op:
        return Dense(x.quant.zero_point, requant, dtype, quant)

    return Linear(
        x=x.value,
        x_scale=x.quant.scale if x_scale is None else x_scale,
        x_zero_point=x.quant.zero_point,
        weights=(weights.ints.astype(np.int64) - weights.zero).T,
        scales=output_scales(node, weights.scale.T),
        bias_int=np.zeros(outputs, np.int64),
        bias_real=np.zeros(outputs, np.float64),
        axis=len(shape) - 1,
        make=make,
        bits=weights.bits,
        block=weights.block,
    )


def transposed(constant: IntConst) -> IntConst:
    """A constant matrix with its axes exchanged."""
    return replace(constant, ints=constant.ints.T, scale=constant.scale.T, zero=constant.zero.T)


def side(ctx: Context, node: RealNode, index: int) -> Side:
    """One side of a product; a constant one becomes a constant of the graph."""
    state = ctx.state(node, index)
    if isinstance(state, IntConst):
        return const_side(ctx, node, index, state)
    real = exact(ctx, node, index)
    return Side(real.value, ctx.shape(real), real.quant)


def const_side(ctx: Context, node: RealNode, index: int, constant: IntConst) -> Side:
    """A constant with one scale, in its own integers."""
    quant = shared_quant(constant)
    if quant is None:
        found = f"constant '{node.inputs[index]}' has more than one scale"
        raise QuantAxisBad(found, where=node.where, hint="quantize this constant per tensor")
    if constant.ints.dtype not in (np.int8, np.uint8, np.int16):
        raise refuse_unquantized(node, index, Const(constant.ints))
    key = (node.inputs[index], Request(quant, DType.of(constant.ints), "", ()))
    if key not in ctx.emitted:
        ctx.emitted[key] = ctx.builder.const(node.inputs[index], constant.ints, quant)
    return Side(ctx.emitted[key], constant.ints.shape, quant)


def matrix_product(ctx: Context, node: RealNode, a: Side, b: Side, factor: float = 1.0) -> Pending:
    """The product of two tensors as numpy's matmul broadcasts them."""
    shape = _product_shape(node, a.shape, b.shape)
    probe = MatMul(a.quant.zero_point, b.quant.zero_point, None, DType.S32, None)

    def emit(request: Request) -> str:
        low, high = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        scale = float(np.float32(a.quant.scale) * np.float32(factor))
        reach = probe.reach([ctx.type(a.value), ctx.type(b.value)])
        quants = (scale, [b.quant.scale], request.quant, request.dtype, low, high)
        requant = make_requant(ctx.mode, *quants, reach=reach)
        note = f"{story(request.trail)} -> MatMul, requant {requant.mode}"
        op = replace(probe, requant=requant, y_dtype=request.dtype, y_quant=request.quant)
        return _written(ctx, node, (a, b), op, request.name, request.trail, note)

    return Pending(shape, emit, (node,), times=lambda more: matrix_product(ctx, node, a, b, factor * more))


def sums_of_two(ctx: Context, node: RealNode, a: Side, b: Side) -> str:
    """The int32 sums of such a product."""
    op = MatMul(a.quant.zero_point, b.quant.zero_point, None, DType.S32, None)
    note = f"{node.op_type} -> MatMul, int32 result"
    return _written(ctx, node, (a, b), op, node.outputs[0], (node,), note)


def _written(
    ctx: Context, node: RealNode, sides: tuple[Side, Side], op: MatMul, name: str, trail: Trail, note: str
) -> str:
    """The operator on both sides, repeated to the same leading axes."""
    a, b = sides
    shape = _product_shape(node, a.shape, b.shape)
    full_a = a.shape if len(a.shape) > 1 else (1, *a.shape)
    full_b = b.shape if len(b.shape) > 1 else (*b.shape, 1)
    lead = np.broadcast_shapes(full_a[:-2], full_b[:-2])
    x, y = (full_side(ctx, s.value, full, lead) for s, full in ((a, full_a), (b, full_b)))
    post = (Reshape(shape),) if shape != (*lead, full_a[-2], full_b[-1]) else ()
    return ctx.run(x, Route(op, (), post), name, trail, note, [y])


def full_side(ctx: Context, value: str, shape: tuple[int, ...], lead: tuple[int, ...]) -> str:
    """A side with at least two axes, repeated to the leading axes of the product."""
    full = (*(1,) * (len(lead) + 2 - len(shape)), *shape)
    if full != ctx.type(value).shape:
        value = ctx.builder.apply(Reshape(full), (value,), f"{value}:matrix")
    wanted = (*lead, *full[-2:])
    return value if full == wanted else ctx.builder.apply(Broadcast(wanted), (value,), f"{value}:repeated")


def _product_shape(node: RealNode, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    if not a or not b:
        raise ShapeMismatch("a side of the product has no axes", where=node.where)
    lead_a, lead_b = a[:-2], b[:-2]
    rank = max(len(lead_a), len(lead_b))
    pairs = list(zip((1,) * (rank - len(lead_a)) + lead_a, (1,) * (rank - len(lead_b)) + lead_b, strict=True))
    if any(n != m and 1 not in (n, m) for n, m in pairs) or a[-1] != b[max(len(b) - 2, 0)]:
        raise ShapeMismatch(f"{list(a)} cannot be multiplied by {list(b)}", where=node.where)
    return (*(max(p) for p in pairs), *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def _gemm_of_two(ctx: Context, node: RealNode, op: Gemm, a: Real, b: State, bias: State | None) -> Pending:
    if bias is not None:
        raise FormUnsupported("Gemm of two computed matrices with a bias", where=node.where)
    if op.alpha <= 0 or math.isinf(op.alpha):
        raise FormUnsupported(f"Gemm of two computed matrices with alpha {op.alpha}", where=node.where)
    right = exact(ctx, node, 1) if isinstance(b, Real) else None
    if right is None:
        raise refuse_unquantized(node, 1, b)
    value, shape = right.value, ctx.shape(right)
    if len(shape) != 2:
        raise ShapeMismatch(f"B has shape {list(shape)}", where=node.where)
    if op.turn_b:
        value = ctx.builder.apply(Transpose((1, 0)), (value,), f"{value}:transposed")
        shape = (shape[1], shape[0])
    return matrix_product(ctx, node, Side(a.value, ctx.shape(a), a.quant), Side(value, shape, right.quant), op.alpha)


RULES: Family = (
    Rule(Gemm, gemm, ("Gemm", "QGemm")),
    Rule(RealMatMul, matmul, ("Einsum", "MatMul", "QLinearMatMul")),
)
