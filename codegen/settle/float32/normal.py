"""Normalizations of real numbers.

Decides: that BatchNormalization is part of the product before it, or a factor and an offset per channel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.ops.float32 import FloatBinary
from codegen.real.normal import BatchNorm
from codegen.settle.context import Context
from codegen.settle.float32.inputs import real_numbers, real_value
from codegen.settle.float32.products import scaled
from codegen.settle.float32.writing import applied
from codegen.settle.states import State


def batch_norm(ctx: Context, node: RealNode, op: BatchNorm) -> Sequence[State]:
    """X * factor + offset, both computed in float64."""
    x = real_value(ctx, node, 0)
    scale, bias, mean, variance = (real_numbers(ctx, node, i).astype(np.float64) for i in range(1, 5))
    with np.errstate(all="ignore"):
        factor = scale / np.sqrt(variance + op.epsilon)
        offset = bias - mean * factor
    rank = len(ctx.type(x).shape)
    along = [1] * rank
    along[op.channel_axis if rank > 1 else 0] = -1
    factor, offset = factor.reshape(along), offset.reshape(along)
    folded = scaled(ctx, node, 0, factor, offset)
    return [folded or _affine(ctx, node, x, factor, offset)]


def _affine(ctx: Context, node: RealNode, x: str, factor: Array, offset: Array) -> State:
    name = node.outputs[0]
    arrays = (("factor", factor), ("offset", offset))
    factors, offsets = (ctx.builder.const(f"{name}:{what}", a.astype(np.float32)) for what, a in arrays)
    times = ctx.builder.apply(FloatBinary("mul"), (x, factors), f"{name}:times", note=f"{node.op_type}, its factor")
    return applied(ctx, node, FloatBinary("add"), times, offsets)
