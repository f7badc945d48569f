"""Layer and instance normalization.

Decides: that an instance's channels are pixels of one row each, brought to 16 bits that hold any deviation, and then
have their factors and offsets as any tensor has (`affine.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ir.real import RealNode
from codegen.ops import LayerNorm, Reshape, scaled_layer_norm
from codegen.real.normal import InstanceNorm
from codegen.real.normal import LayerNorm as RealLayerNorm
from codegen.settle.affine import affine
from codegen.settle.context import Context, story
from codegen.settle.join import clamped
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Pending, Real, Request, Route, State
from codegen.settle.tables import EIGHT_BIT, as_dtype, exact

Factors = tuple[Array, Array]


def layer_norm(ctx: Context, node: RealNode, op: RealLayerNorm) -> Sequence[State]:
    """LayerNormalization over the last axes, with constant scale and bias."""
    x = _input(ctx, node)
    shape = ctx.shape(x)
    normal = shape[op.axis :]
    scale = ctx.const(node, 1)
    bias = ctx.optional_const(node, 2)
    return [_pending(ctx, node, x, op.axis, op.epsilon, (_flat(scale, normal), _flat(bias, normal)))]


def instance_norm(ctx: Context, node: RealNode, op: InstanceNorm) -> Sequence[State]:
    """InstanceNormalization with constant scale and bias."""
    x = _input(ctx, node)
    shape = ctx.shape(x)
    if op.channel_axis != 1:
        raise FormUnsupported(f"{node.op_type} of channels along axis {op.channel_axis}", where=node.where)
    scale, bias = (ctx.const(node, i).astype(np.float64) for i in (1, 2))
    if _is_one(scale) and _is_one(bias):
        return [_pending(ctx, node, x, 2, op.epsilon, (scale[:1], bias[:1]))]
    wide = Quant(float(np.float32(math.sqrt(math.prod(shape[2:])) / DType.S16.high)))
    main = _scaled(ctx, node, x, 2, op.epsilon, (np.ones(1), np.zeros(1)), (DType.S16, wide))
    route = _route(main, shape, 2)
    value = ctx.run(x.value, route, f"{node.outputs[0]}:normal", (node,), f"{node.op_type} -> LayerNorm by channel")
    along = (-1, *(1,) * (len(shape) - 2))
    return [affine(ctx, node, Real(value, wide), scale.reshape(along), bias.reshape(along))]


def _input(ctx: Context, node: RealNode) -> Real:
    x = exact(ctx, node, 0)
    return as_dtype(ctx, x, DType.S8) if ctx.type(x.value).dtype in EIGHT_BIT else x


def _pending(ctx: Context, node: RealNode, x: Real, axis: int, epsilon: float, factors: Factors) -> Pending:
    """The normalized tensor, which waits for its scale."""
    shape = ctx.shape(x)

    def emit(request: Request) -> str:
        main = _scaled(ctx, node, x, axis, epsilon, factors, (request.dtype, request.quant))
        route = _route(main, shape, axis)
        note = f"{story(request.trail)} -> LayerNorm"
        return clamped(ctx, request, lambda r: ctx.run(x.value, route, r.name, r.trail, note))

    return Pending(shape, emit, (node,), kind=ctx.type(x.value).dtype)


def _scaled(
    ctx: Context, node: RealNode, x: Real, axis: int, epsilon: float, factors: Factors, y: tuple[DType, Quant]
) -> LayerNorm:
    kind = ctx.type(x.value)
    flat = TensorType((*kind.shape[:axis], math.prod(kind.shape[axis:])), kind.dtype, x.quant)
    try:
        return scaled_layer_norm(flat, factors, epsilon, y)
    except OverflowError as error:
        raise FormUnsupported(f"{node.op_type} with {error} of its output", where=node.where) from error


def _route(main: LayerNorm, shape: tuple[int, ...], axis: int) -> Route:
    """The operator along the axes from `axis` on, as one."""
    if axis == len(shape) - 1:
        return Route(main)
    return Route(main, (Reshape((*shape[:axis], math.prod(shape[axis:]))),), (Reshape(shape),))


def _flat(part: Array | None, normal: tuple[int, ...]) -> Array:
    """One number for each element that is normalized together, or one for all; zero where there is none."""
    if part is None:
        return np.zeros(1)
    if part.size == 1:
        return part.reshape(1).astype(np.float64)
    return np.broadcast_to(part, normal).reshape(-1).astype(np.float64)


def _is_one(part: Array) -> bool:
    """Whether all channels have the same number."""
    return bool((part == part[0]).all())


RULES: Family = (
    Rule(InstanceNorm, instance_norm, ("GroupNormalization", "InstanceNormalization")),
    Rule(RealLayerNorm, layer_norm, ("LayerNormalization",)),
)
