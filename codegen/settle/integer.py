"""ConvInteger and MatMulInteger: products of bare integers, int32 results.

Decides: that their result stays unwritten until it is known whether a scale follows (Cast, Mul, QuantizeLinear) or the
sums themselves are wanted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported, ParameterDynamic, ShapeMismatch, ZeroPointBad
from codegen.ir.quant import Array, DType, Quant
from codegen.ir.real import RealNode
from codegen.ops import WholeArithmetic
from codegen.real.integer import ConvInteger, MatMulInteger, row_zeros
from codegen.real.window import Conv
from codegen.settle.context import Context
from codegen.settle.conv import conv_product
from codegen.settle.float32.writer import Writer
from codegen.settle.linear import accumulator
from codegen.settle.matmul import Side, dense_product, sums_of_two
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Const, Int, IntConst, Real, State


def conv_integer(ctx: Context, node: RealNode, op: ConvInteger) -> Sequence[State]:
    """ConvInteger with constant weights."""
    weights = _weights(ctx, node, axis=0)
    product = Conv(op.windows, op.groups, op.channel_axis)
    linear = conv_product(ctx, node, product, _activations(ctx, node), weights, x_scale=1.0)
    return [accumulator(ctx, node, linear)]


def matmul_integer(ctx: Context, node: RealNode, op: MatMulInteger) -> Sequence[State]:
    """MatMulInteger; with a computed right side the sums are written at once."""
    right = ctx.state(node, 1)
    if isinstance(right, Int):
        x, y = _activations(ctx, node), _activations(ctx, node, 1)
        if DType.S16 is ctx.type(x.value).dtype is ctx.type(y.value).dtype:
            raise ZeroPointBad("zero points of rows and of columns", where=node.where)
        sides = [Side(s.value, ctx.shape(s), s.quant) for s in (x, y)]
        return [Int(sums_of_two(ctx, node, *sides))]
    weights = _weights(ctx, node, axis=1)
    if weights.ints.ndim != 2:
        raise FormUnsupported(f"a right side of shape {list(weights.ints.shape)}", where=node.where)
    linear = dense_product(ctx, node, _activations(ctx, node), weights, x_scale=1.0)
    return [accumulator(ctx, node, linear)]


def _activations(ctx: Context, node: RealNode, index: int = 0) -> Real:
    """A side as integers of scale 1 around its zero point; around 0 where it has several."""
    zero = ctx.const(node, 2 + index)
    if zero.size != 1:
        return Real(_centred(ctx, node, index, row_zeros(zero) if index == 0 else zero), Quant(1.0))
    x = ctx.state(node, index)
    if isinstance(x, Const):
        x = Int(ctx.builder.const(node.inputs[index], x.array))
    if not isinstance(x, Int):
        raise FormUnsupported(f"input '{node.inputs[index]}' is not a computed integer tensor", where=node.where)
    return Real(x.value, Quant(1.0, int(zero.reshape(-1)[0])))


def _centred(ctx: Context, node: RealNode, index: int, zero: Array) -> str:
    """A side from which zero points of its rows or columns are taken, in 16 bits."""
    w = Writer(ctx, node)
    wide = w.cast(w.input(index), DType.S32)
    ranked = zero.astype(np.int32).reshape((1,) * (len(w.shape(wide)) - zero.ndim) + zero.shape)
    return w.cast(w.apply(WholeArithmetic("-"), wide, w.const(ranked)), DType.S16)


def _weights(ctx: Context, node: RealNode, axis: int) -> IntConst:
    state = ctx.state(node, 1)
    if not isinstance(state, Const):
        raise ParameterDynamic(f"weights '{node.inputs[1]}' are computed by the network", where=node.where)
    zero, ints = ctx.const(node, 3).reshape(-1).astype(np.int64), state.array
    if ints.ndim < 2 or zero.size not in (1, ints.shape[axis]):
        raise ShapeMismatch(f"weights {list(ints.shape)} with {zero.size} zero points", where=node.where)
    along = [zero.size if i == axis else 1 for i in range(ints.ndim)]
    return IntConst(ints, np.ones(ints.shape, np.float32), np.broadcast_to(zero.reshape(along), ints.shape))


RULES: Family = (
    Rule(ConvInteger, conv_integer, ("ConvInteger",)),
    Rule(MatMulInteger, matmul_integer, ("MatMulInteger",)),
)
