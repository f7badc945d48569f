"""Products of real matrices: Gemm, MatMul and Dense.

Decides: that a constant right side makes a FloatDense [O, K], into which alpha and beta go, and anything else a product
of two tensors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.ops import Reshape, Transpose
from codegen.ops.float32 import FloatBinary, FloatDense, FloatMatMul
from codegen.real import product as real
from codegen.settle.context import Context
from codegen.settle.float32.inputs import has, is_known, real_numbers, real_value
from codegen.settle.float32.products import product, writer
from codegen.settle.float32.writer import Writer
from codegen.settle.float32.writing import written
from codegen.settle.linear import channel_vector
from codegen.settle.matmul import full_side
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Float, Product, Route, State


def dense(ctx: Context, node: RealNode, op: real.Dense) -> Sequence[State]:
    """The last axis times weights [O, K]."""
    if not is_known(ctx, node, 1):
        return _dense_of_two(Writer(ctx, node))
    weights = real_numbers(ctx, node, 1)
    bias = real_numbers(ctx, node, 2) if has(node, 2) else _no_bias(weights)
    return [_dense(ctx, node, real_value(ctx, node, 0), weights, bias)]


def _dense_of_two(w: Writer) -> Sequence[State]:
    """With computed weights: the bias is added last."""
    *lead, depth = w.shape(w.input(0))
    outputs = w.shape(w.input(1))[0]
    x = w.reshaped(w.input(0), (math.prod(lead), depth))
    y = w.apply(FloatMatMul(), x, w.transposed(w.input(1), (1, 0)))
    if has(w.node, 2):
        y = w.apply(FloatBinary("add"), y, w.reshaped(w.input(2), (1, outputs)))
    return w.done(w.reshaped(y, (*lead, outputs)))


def matmul(ctx: Context, node: RealNode, op: real.MatMul) -> Sequence[State]:
    """A product with a constant matrix, or of two tensors as numpy's matmul broadcasts them."""
    a = real_value(ctx, node, 0)
    if is_known(ctx, node, 1) and len(ctx.real(node.inputs[1]).shape) == 2 and ctx.type(a).shape:
        weights = np.ascontiguousarray(real_numbers(ctx, node, 1).T)
        return [_dense(ctx, node, a, weights, _no_bias(weights))]
    return [_product(ctx, node, a, real_value(ctx, node, 1))]


def gemm(ctx: Context, node: RealNode, op: real.Gemm) -> Sequence[State]:
    """Alpha * A * B + beta * C: one product where B is constant, and C too with one number per output at most."""
    if not is_known(ctx, node, 1):
        return _gemm_of_two(Writer(ctx, node), op)
    weights = real_numbers(ctx, node, 1) if op.turn_b else real_numbers(ctx, node, 1).T
    bias = _gemm_bias(ctx, node, op, len(weights))
    a = real_value(ctx, node, 0)
    pre: tuple[Op, ...] = (Transpose((1, 0)),) if op.turn_a else ()
    weights = np.float32(op.alpha) * weights
    if bias is not None:
        return [_dense(ctx, node, a, weights, bias, pre)]
    w = Writer(ctx, node)
    x = w.transposed(a, (1, 0)) if op.turn_a else a
    y = w.apply(FloatDense(), x, w.const(np.ascontiguousarray(weights)), w.const(_no_bias(weights)))
    return w.done(_plus(w, y, op))


def _gemm_bias(ctx: Context, node: RealNode, op: real.Gemm, outputs: int) -> Array | None:
    """Beta * C as one number per output; None where it is computed, or differs from row to row."""
    if not has(node, 2) or not op.beta:
        return np.zeros(outputs, np.float32)
    if not is_known(ctx, node, 2):
        return None
    c = real_numbers(ctx, node, 2)
    rank = max(c.ndim, 1)
    vector = channel_vector(c, (*(1,) * (rank - 1), outputs), rank - 1, outputs)
    return None if vector is None else np.float32(op.beta) * vector


def _gemm_of_two(w: Writer, op: real.Gemm) -> Sequence[State]:
    a, b = (w.transposed(w.input(i), (1, 0) if turn else (0, 1)) for i, turn in enumerate((op.turn_a, op.turn_b)))
    return w.done(_plus(w, _times(w, w.apply(FloatMatMul(), a, b), op.alpha), op))


def _plus(w: Writer, y: str, op: real.Gemm) -> str:
    """The product plus beta times C."""
    if not has(w.node, 2) or not op.beta:
        return y
    c = w.input(2)
    c = w.reshaped(c, (*(1,) * (2 - len(w.shape(c))), *w.shape(c)))
    return w.apply(FloatBinary("add"), y, _times(w, c, op.beta))


def _times(w: Writer, x: str, factor: float) -> str:
    return x if factor == 1 else w.apply(FloatBinary("mul"), x, w.const(np.full((1, 1), factor, np.float32)))


def _no_bias(weights: Array) -> Array:
    return np.zeros(len(weights), np.float32)


def _dense(ctx: Context, node: RealNode, x: str, weights: Array, bias: Array, pre: tuple[Op, ...] = ()) -> Float:
    return product(ctx, Product(weights, bias, -1, (node,), writer(ctx, x, Route(FloatDense(), pre))))


def _product(ctx: Context, node: RealNode, a: str, b: str) -> Float:
    left, right = ctx.type(a).shape, ctx.type(b).shape
    ((result),) = (t.shape for t in node.op.infer([ctx.real(i) for i in node.inputs]))
    full_a, full_b = (1, *left)[-max(len(left), 2) :], right if len(right) > 1 else (*right, 1)
    lead = np.broadcast_shapes(full_a[:-2], full_b[:-2])
    sides = [full_side(ctx, value, full, lead) for value, full in ((a, full_a), (b, full_b))]
    post = () if result == (*lead, full_a[-2], full_b[-1]) else (Reshape(result),)
    return written(ctx, node, Route(FloatMatMul(), (), post), sides)


RULES: Family = (
    Rule(real.Dense, dense),
    Rule(real.Gemm, gemm),
    Rule(real.MatMul, matmul),
)
