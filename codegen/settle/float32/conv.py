"""Convolutions of real numbers.

Decides: that a bias that is left out is 0, and that weights which the network computes make a product of matrices, of
all that each window covers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.ops.float32 import FloatConv2D
from codegen.real.window import Conv
from codegen.settle.context import Context
from codegen.settle.float32 import unfold
from codegen.settle.float32.inputs import has, is_known, real_numbers, real_value
from codegen.settle.float32.products import product, writer
from codegen.settle.float32.writer import Writer
from codegen.settle.plane import Layout, kernel_of, plane
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Product, Route, State


def conv(ctx: Context, node: RealNode, op: Conv) -> Sequence[State]:
    """Conv; sums in order where weights and bias are known."""
    if not parameters_known(ctx, node):
        w = Writer(ctx, node)
        y = unfold.convolved(w, w.input(0), w.input(1), op.windows, op.groups, op.channel_axis)
        return w.done(unfold.biased(w, y, 2, op.channel_axis))
    x, weights = real_value(ctx, node, 0), real_numbers(ctx, node, 1)
    if not weights.size:
        raise ShapeMismatch(f"weights of shape {list(weights.shape)}", where=node.where)
    layout = Layout(ctx.type(x).shape, op.channel_axis, op.groups)
    p = plane(layout, op.windows, len(weights))
    route = Route(FloatConv2D(p.h, p.w, op.groups), p.pre, p.post)
    bias = bias_of(ctx, node, len(weights))
    return [product(ctx, Product(kernel_of(weights), bias, op.channel_axis, (node,), writer(ctx, x, route)))]


def parameters_known(ctx: Context, node: RealNode) -> bool:
    """Whether weights, and the bias if there is one, are known now."""
    return is_known(ctx, node, 1) and (not has(node, 2) or is_known(ctx, node, 2))


def bias_of(ctx: Context, node: RealNode, outputs: int) -> Array:
    """The bias, or zeros."""
    return real_numbers(ctx, node, 2).reshape(-1) if has(node, 2) else np.zeros(outputs, np.float32)


RULES: Family = (Rule(Conv, conv),)
