"""Normalizations of real numbers.

Decides: which steps they are, in the order of their definitions; a batch normalization of known numbers is a product
and a sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.ir.real import RealNode
from codegen.ops import Compare
from codegen.ops.float32 import FloatBinary, FloatNormalize, FloatReduce, FloatTaps, FloatUnary
from codegen.real import normal as real
from codegen.settle.context import Context
from codegen.settle.float32 import normal
from codegen.settle.float32.elementwise import chosen
from codegen.settle.float32.reduction import held_above
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State


def batch_norm(ctx: Context, node: RealNode, op: real.BatchNorm) -> Sequence[State]:
    """By channel."""
    w = Writer(ctx, node)
    x = w.input(0)
    shape = w.shape(x)
    along = [1] * len(shape)
    along[op.channel_axis if len(shape) > 1 else 0] = -1
    if all(w.known(i) is not None for i in range(1, 5)):
        return normal.batch_norm(ctx, node, op)
    sizes = [1 if n == 1 else shape[i] for i, n in enumerate(along)]
    scale_v, offset_v, mean_v, variance_v = (w.reshaped(w.input(i), sizes) for i in range(1, 5))
    root = w.apply(FloatUnary("sqrt"), w.apply(FloatBinary("add"), variance_v, w.real(op.epsilon)))
    y = w.apply(FloatBinary("div"), w.apply(FloatBinary("sub"), x, mean_v), root)
    return w.done(_scaled(w, y, scale_v, offset_v))


def _scaled(w: Writer, x: str, scale: str, offset: str | None) -> str:
    y = w.apply(FloatBinary("mul"), x, scale)
    return y if offset is None else w.apply(FloatBinary("add"), y, offset)


def instance_norm(ctx: Context, node: RealNode, op: real.InstanceNorm) -> Sequence[State]:
    """Each image's channel by itself."""
    w = Writer(ctx, node)
    x = w.input(0)
    shape = w.shape(x)
    channels = op.channel_axis % len(shape)
    space = tuple(i for i in range(1, len(shape)) if i != channels)
    away = w.apply(FloatBinary("sub"), x, w.apply(FloatReduce("mean", space), x))
    squares = w.apply(FloatReduce("squares", space), away)
    count = w.real(math.prod(shape[i] for i in space))
    variance = w.apply(FloatBinary("div"), squares, count)
    root = w.apply(FloatUnary("sqrt"), w.apply(FloatBinary("add"), variance, w.real(op.epsilon)))
    y = w.apply(FloatBinary("div"), away, root)
    sizes = [shape[i] if i == channels else 1 for i in range(len(shape))]
    return w.done(_scaled(w, y, w.reshaped(w.input(1), sizes), w.reshaped(w.input(2), sizes)))


def layer_norm(ctx: Context, node: RealNode, op: real.LayerNorm) -> Sequence[State]:
    """The axes from one on as the last."""
    w = Writer(ctx, node)
    x = w.input(0)
    shape = w.shape(x)
    flat = w.reshaped(x, (*shape[: op.axis], math.prod(shape[op.axis :])))
    y = w.reshaped(w.apply(FloatNormalize(op.epsilon, op.centred), flat), shape)
    return w.done(_scaled(w, y, w.input(1), w.input(2) if len(node.inputs) > 2 else None))


def lp_norm(ctx: Context, node: RealNode, op: real.LpNorm) -> Sequence[State]:
    """Divided by the sizes' sum, or the root of the squares'; 0 where that is 0."""
    w = Writer(ctx, node)
    x = w.input(0)
    size = w.apply(FloatReduce("l1" if op.p == 1 else "squares", (op.axis,)), x)
    size = size if op.p == 1 else w.apply(FloatUnary("sqrt"), size)
    size = held_above(w, size, op.least) if op.least > 0 else size
    nothing = w.apply(Compare("==", None, None), size, w.real(0.0))
    divided = w.apply(FloatBinary("div"), x, chosen(w, nothing, w.real(1.0), size))
    return w.done(chosen(w, nothing, w.real(0.0), divided))


def local_response(ctx: Context, node: RealNode, op: real.LocalResponseNorm) -> Sequence[State]:
    """Divided by a power of the squares of neighbouring channels."""
    w = Writer(ctx, node)
    x = w.input(0)
    shape = w.shape(x)
    axis = op.channel_axis % len(shape)
    before, channels = (op.size - 1) // 2, shape[axis]
    at = np.arange(channels)[:, None] + np.arange(op.size) - before
    inside = (at >= 0) & (at < channels)
    places = tuple(tuple(int(i) for i in row) for row in np.clip(at, 0, channels - 1))
    weights = tuple(tuple(float(i) for i in row) for row in inside)
    sums = w.apply(FloatTaps(axis, places, weights), w.apply(FloatUnary("squared"), x))
    scaled = w.apply(FloatBinary("mul"), sums, w.real(op.alpha / op.size))
    base = w.apply(FloatBinary("add"), scaled, w.real(op.bias))
    return w.done(w.apply(FloatBinary("div"), x, w.apply(FloatBinary("power"), base, w.real(op.beta))))


RULES: Family = (
    Rule(real.BatchNorm, batch_norm),
    Rule(real.InstanceNorm, instance_norm),
    Rule(real.LayerNorm, layer_norm),
    Rule(real.LocalResponseNorm, local_response),
    Rule(real.LpNorm, lp_norm),
)
