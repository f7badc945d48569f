"""Tensors with a scale per channel, between the product that makes them and the depthwise convolution that reads them.

Decides: that such a tensor is held with one scale, a power of two, and the ratios of its channels' scales to that one
go into the per-channel factors of the two layers: nothing is rounded but these factors, to float32.  Zero points must
be one for the tensor, and so must the bounds of an activation be, in its integers; no other operator may read it.
"""

from __future__ import annotations

import math

import numpy as np

from codegen.errors import QuantAxisBad
from codegen.ir.quant import Array, DType, Quant
from codegen.ir.real import RealNode, Stored
from codegen.ops.requantize import quantize_real
from codegen.settle.context import Context
from codegen.settle.float32.inputs import or_float
from codegen.settle.linear import scaled, with_linear
from codegen.settle.states import Channelled, Linear, Pending, Request, State


def varies(scale: Array) -> bool:
    """Whether there is more than one scale."""
    return bool((scale != scale.reshape(-1)[0]).any())


def quantize_channels(ctx: Context, node: RealNode, x: State, stored: Stored, dtype: DType) -> Channelled:
    """QuantizeLinear with a scale per channel, of a product that still waits for its scale."""
    scale, zeros = stored.scale, stored.zero_point
    if not isinstance(x, Pending) or x.linear is None or stored.axis != x.linear.axis:
        raise _refusal(node, "which no convolution or matrix product makes")
    if scale.size != len(x.linear.scales) or varies(zeros):
        raise _refusal(node, f"{scale.size} channels, or zero points that differ")
    quant = Quant(2.0 ** math.floor(math.log2(float(scale.max()))), int(zeros.reshape(-1)[0]))
    low, high = (_bound(node, bound, scale, quant, dtype) for bound in (x.low, x.high))
    product = with_linear(ctx, x, scaled(x.linear, quant.scale / scale.astype(np.float64), node), node)
    with or_float(x.trail):
        value = product.emit(Request(quant, dtype, node.outputs[0], product.trail, low, high))
    return Channelled(value, quant, scale)


def dequantize_channels(node: RealNode, x: Channelled, stored: Stored) -> Channelled:
    """DequantizeLinear with the very scales and zero points of the QuantizeLinear before."""
    scale, zeros = stored.scale, stored.zero_point
    same = x.scales.shape == scale.shape and (x.scales == scale).all() and (zeros == x.quant.zero_point).all()
    if not same:
        raise _refusal(node, "dequantized by other numbers than it was quantized with")
    return x


def of_channels(node: RealNode, x: Channelled, linear: Linear, depth: int) -> Linear:
    """The product of a depthwise convolution, each output times its channel's scale."""
    if depth != 1:
        raise _refusal(node, "which a convolution sums over")
    ratios = x.scales.astype(np.float64) / x.quant.scale
    return scaled(linear, np.repeat(ratios, len(linear.scales) // len(ratios)), node)


def _bound(node: RealNode, bound: float, scale: Array, quant: Quant, dtype: DType) -> float:
    """An activation's bound as the real number of the one integer that it is in every channel."""
    if math.isinf(bound):
        return bound
    found = {quantize_real(bound, Quant(float(s), quant.zero_point), dtype) for s in scale}
    if len(found) > 1:
        raise _refusal(node, f"and the bound {bound:g} is another number in each")
    return (found.pop() - quant.zero_point) * quant.scale


def _refusal(node: RealNode, found: str) -> QuantAxisBad:
    hint = "only what a convolution makes and a depthwise convolution alone reads may have a scale per channel"
    return QuantAxisBad(f"a computed tensor with a scale per channel, {found}", where=node.where, hint=hint)
