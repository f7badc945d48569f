"""ConvInteger and MatMulInteger: products of bare integers, int32 results.

Decides: that their result stays unwritten until it is known whether a scale follows (Cast, Mul, QuantizeLinear) or the
sums themselves are wanted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported, ParameterDynamic, ShapeMismatch, ZeroPointBad
from codegen.frontends.onnx.context import Context
from codegen.frontends.onnx.conv import conv_product, with_kernel
from codegen.frontends.onnx.linear import accumulator
from codegen.frontends.onnx.matmul import dense_product
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.qparams import dequantized
from codegen.frontends.onnx.states import Const, Int, IntConst, Real, State
from codegen.ir.quant import Array, Quant


def conv_integer(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """ConvInteger with constant weights."""
    weights = _weights(ctx, node, axis=0)
    linear = conv_product(ctx, node, _activations(ctx, node), weights, with_kernel(ctx, node, 1), x_scale=1.0)
    return [accumulator(ctx, node, linear)]


def matmul_integer(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """MatMulInteger with a constant right side."""
    weights = _weights(ctx, node, axis=1)
    if weights.ints.ndim != 2:
        raise FormUnsupported(f"a right side of shape {list(weights.ints.shape)}", where=node.where)
    linear = dense_product(ctx, node, _activations(ctx, node), weights, x_scale=1.0)
    return [accumulator(ctx, node, linear)]


def _activations(ctx: Context, node: OnnxNode) -> Real:
    """The left side as integers of scale 1 around its zero point."""
    x = ctx.state(node, 0)
    if not isinstance(x, Int):
        raise FormUnsupported(f"input '{node.inputs[0]}' is not a computed integer tensor", where=node.where)
    zero = _zero_point(ctx, node, 2)
    dtype = ctx.type(x.value).dtype.numpy
    if zero is not None and (zero.size != 1 or zero.dtype != dtype):
        raise ZeroPointBad(f"zero point of type {zero.dtype} and shape {list(zero.shape)}", where=node.where)
    return Real(x.value, Quant(1.0, 0 if zero is None else int(zero.reshape(-1)[0])))


def _weights(ctx: Context, node: OnnxNode, axis: int) -> IntConst:
    state = ctx.state(node, 1)
    if not isinstance(state, Const):
        raise ParameterDynamic(f"weights '{node.inputs[1]}' are computed by the network", where=node.where)
    zero = _zero_point(ctx, node, 3)
    if state.array.ndim < 2:
        raise ShapeMismatch(f"weights of shape {list(state.array.shape)}", where=node.where)
    count = 1 if zero is None else zero.size
    return dequantized(ctx, node, state.array, np.ones(count, np.float32), zero, axis)


def _zero_point(ctx: Context, node: OnnxNode, index: int) -> Array | None:
    zero = ctx.optional_const(node, index)
    if zero is not None and zero.ndim > 1:
        raise ZeroPointBad(f"zero point '{node.inputs[index]}' has shape {list(zero.shape)}", where=node.where)
    return zero if zero is None else zero.reshape(-1)
