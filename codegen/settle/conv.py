"""Conv, and the products shared with QLinearConv and ConvInteger.

Decides: that the model's weights are those of a convolution over one image, and how their scales per channel go along.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ParameterDynamic, QuantAxisBad, ShapeMismatch
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant, Requant
from codegen.ir.real import RealNode
from codegen.ops import Conv2D
from codegen.real.window import Conv
from codegen.settle.channels import of_channels
from codegen.settle.context import Context
from codegen.settle.linear import add_bias, channel_vector, numbers, pending
from codegen.settle.plane import Layout, kernel_of, plane
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Channelled, Const, IntConst, Linear, Real, State
from codegen.settle.tables import exact
from codegen.settle.weights import read_weights


def conv(ctx: Context, node: RealNode, op: Conv) -> Sequence[State]:
    """Conv on dequantized tensors."""
    state = ctx.state(node, 0)
    channels = state if isinstance(state, Channelled) else None
    x = exact(ctx, node, 0) if channels is None else Real(channels.value, channels.quant)
    weights = read_weights(ctx, node, 1)
    linear = conv_product(ctx, node, op, x, weights)
    if channels is not None:
        linear = of_channels(node, channels, linear, weights.ints.shape[1])
    return [pending(ctx, node, with_bias(ctx, node, 2, linear))]


def conv_product(
    ctx: Context, node: RealNode, op: Conv, x: Real, weights: IntConst, x_scale: float | None = None
) -> Linear:
    """The product, without bias.  `x_scale` overrides the input's scale (1.0 for bare integers)."""
    refuse_empty(node, weights)
    outputs = len(weights.ints)
    layout = Layout(ctx.shape(x), op.channel_axis, op.groups)
    p = plane(layout, op.windows, outputs, x.quant.zero_point)

    def make(requant: Requant | None, dtype: DType, quant: Quant | None) -> Op:
        return Conv2D(p.h, p.w, op.groups, x.quant.zero_point, requant, dtype, quant)

    return Linear(
        x=x.value,
        x_scale=x.quant.scale if x_scale is None else x_scale,
        x_zero_point=x.quant.zero_point,
        weights=kernel_of(weights.ints.astype(np.int64) - weights.zero),
        scales=output_scales(node, weights.scale.reshape(outputs, -1)),
        bias_int=np.zeros(outputs, np.int64),
        bias_real=np.zeros(outputs, np.float64),
        axis=1,
        make=make,
        pre=p.pre,
        post=p.post,
        bits=weights.bits,
    )


def refuse_empty(node: RealNode, weights: IntConst) -> None:
    """Refuse weights without elements."""
    if not weights.ints.size:
        raise ShapeMismatch(f"weights of shape {list(weights.ints.shape)}", where=node.where)


def output_scales(node: RealNode, scales: Array) -> Array:
    """One scale per output; `scales` has a row for each output."""
    if (scales != scales[:, :1]).any():
        raise QuantAxisBad("the weights' scale varies along another axis than their outputs", where=node.where)
    return scales[:, 0].astype(np.float32)


def with_bias(ctx: Context, node: RealNode, index: int, linear: Linear, factor: float = 1.0) -> Linear:
    """The product plus an optional constant input, [O] or with axes of size 1 around it."""
    state = ctx.optional(node, index)
    if state is None:
        return linear
    if not isinstance(state, Const | IntConst):
        raise ParameterDynamic(f"bias '{node.inputs[index]}' is computed by the network", where=node.where)
    shape = ctx.shape(state)
    outputs = len(linear.scales)
    rank = max(len(shape), 1)
    vector = channel_vector(numbers(state), (*(1,) * (rank - 1), outputs), rank - 1, outputs)
    if vector is None:
        raise ShapeMismatch(f"a bias of shape {list(shape)} for {outputs} outputs", where=node.where)
    return add_bias(ctx, linear, state, vector, node, factor)


RULES: Family = (Rule(Conv, conv, ("Conv", "QLinearConv")),)
