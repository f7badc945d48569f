"""Layer and instance normalization, and division by a length.

Decides: that an instance's channels are pixels of one row each; that those of 8 bits are brought to 16 which hold any
deviation, and then have their factors and offsets as any tensor has (`affine.py`), and those of 16 bits, of whose
results a step may be less than one of these, have factors and offsets within the operator, a group's likewise; and that
a length is a deviation from zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, ScaleBad
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ir.real import RealNode
from codegen.ops import LayerNorm, Reshape, Transpose, scaled_layer_norm
from codegen.real.normal import InstanceNorm, LpNorm
from codegen.real.normal import LayerNorm as RealLayerNorm
from codegen.records import record
from codegen.settle.affine import affine
from codegen.settle.context import Context, story
from codegen.settle.join import clamped
from codegen.settle.move import move
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Pending, Real, Request, Route, State
from codegen.settle.tables import EIGHT_BIT, as_dtype, exact


@record
class _Normed:
    """A tensor brought to a variance of 1 over the axes from one on, times a gain and plus an offset."""

    x: Real
    axis: int
    epsilon: float
    factors: tuple[Array, Array]
    centred: bool = True


def layer_norm(ctx: Context, node: RealNode, op: RealLayerNorm) -> Sequence[State]:
    """LayerNormalization over the last axes, with constant scale and bias."""
    x = _input(ctx, node)
    shape = ctx.shape(x)
    normal = shape[op.axis :]
    scale = ctx.const(node, 1)
    bias = ctx.optional_const(node, 2)
    normed = _Normed(x, op.axis, op.epsilon, (_flat(scale, normal), _flat(bias, normal)), op.centred)
    return [_pending(ctx, node, normed)]


def lp_norm(ctx: Context, node: RealNode, op: LpNorm) -> Sequence[State]:
    """Division by the root of the squares along an axis."""
    x = _input(ctx, node)
    if op.p != 2 or op.least > x.quant.scale:
        raise ctx.real_only(node)
    last = len(ctx.shape(x)) - 1
    perm = (*(i for i in range(last + 1) if i != op.axis), op.axis)
    if op.axis != last:
        x = Real(ctx.builder.apply(Transpose(perm), (x.value,), f"{x.value}:last"), x.quant)
    gain = np.array([1 / math.sqrt(ctx.shape(x)[last])])
    made = _pending(ctx, node, _Normed(x, last, 0.0, (gain, np.zeros(1)), False))
    if op.axis == last:
        return [made]
    back = tuple(int(i) for i in np.argsort(perm))
    return [move(ctx, node, made, lambda kind: Route(Transpose(back)))]


def instance_norm(ctx: Context, node: RealNode, op: InstanceNorm) -> Sequence[State]:
    """InstanceNormalization with constant scale and bias."""
    x = _input(ctx, node)
    shape = ctx.shape(x)
    if op.channel_axis != 1:
        raise FormUnsupported(f"{node.op_type} of channels along axis {op.channel_axis}", where=node.where)
    scale, bias = (ctx.const(node, i).astype(np.float64) for i in (1, 2))
    plain = _Normed(x, 2, op.epsilon, (np.ones(1), np.zeros(1)))
    along = (-1, *(1,) * (len(shape) - 2))
    if ctx.type(x.value).dtype is DType.S16:
        return [_with_factors(ctx, node, plain, scale.reshape(along), bias.reshape(along))]
    if _is_one(scale) and _is_one(bias):
        made = _pending(ctx, node, replace(plain, factors=(scale[:1], bias[:1])))
        only = scale[0] == 1 and bias[0] == 0
        return [replace(made, wide=lambda: _wide(ctx, node, plain)) if only else made]
    return [affine(ctx, node, _wide(ctx, node, plain), scale.reshape(along), bias.reshape(along))]


def _with_factors(ctx: Context, node: RealNode, plain: _Normed, factor: Array, offset: Array) -> Pending:
    """Times the factor and plus the offset, which broadcast with the tensor; more of them may follow."""
    shape = ctx.shape(plain.x)
    pixels = (math.prod(shape[: plain.axis]), math.prod(shape[plain.axis :]))
    parts = [np.broadcast_to(part, shape).reshape(pixels) for part in (factor, offset)]
    made = _pending(ctx, node, replace(plain, factors=(parts[0], parts[1])))

    def more(times: Array, plus: Array) -> Pending:
        return _with_factors(ctx, node, plain, factor * times, offset * times + plus)

    return replace(made, factors=more)


def _wide(ctx: Context, node: RealNode, normed: _Normed) -> Real:
    """In 16 bits that hold any deviation."""
    shape = ctx.shape(normed.x)
    wide = Quant(float(np.float32(math.sqrt(math.prod(shape[normed.axis :])) / DType.S16.high)))
    route = _route(_scaled(ctx, node, normed, (DType.S16, wide)), shape, normed.axis)
    note = f"{node.op_type} -> LayerNorm by channel"
    return Real(ctx.run(normed.x.value, route, f"{node.outputs[0]}:normal", (node,), note), wide)


def _input(ctx: Context, node: RealNode) -> Real:
    x = exact(ctx, node, 0)
    return as_dtype(ctx, x, DType.S8) if ctx.type(x.value).dtype in EIGHT_BIT else x


def _pending(ctx: Context, node: RealNode, normed: _Normed) -> Pending:
    """The normalized tensor, which waits for its scale."""
    x, shape = normed.x, ctx.shape(normed.x)

    def emit(request: Request) -> str:
        route = _route(_scaled(ctx, node, normed, (request.dtype, request.quant)), shape, normed.axis)
        note = f"{story(request.trail)} -> LayerNorm"
        return clamped(ctx, request, lambda r: ctx.run(x.value, route, r.name, r.trail, note))

    return Pending(shape, emit, (node,), kind=ctx.type(x.value).dtype)


def _scaled(ctx: Context, node: RealNode, normed: _Normed, y: tuple[DType, Quant]) -> LayerNorm:
    if not all(np.isfinite(part).all() for part in normed.factors):
        raise ScaleBad(f"a factor of {node.op_type} is infinite or not a number", where=node.where)
    kind = ctx.type(normed.x.value)
    flat = TensorType((*kind.shape[: normed.axis], math.prod(kind.shape[normed.axis :])), kind.dtype, normed.x.quant)
    try:
        return scaled_layer_norm(flat, normed.factors, normed.epsilon, y, centred=normed.centred)
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
    Rule(LpNorm, lp_norm, ("LpNormalization",)),
    Rule(RealLayerNorm, layer_norm, ("LayerNormalization", "MeanVarianceNormalization", "RMSNormalization")),
)
