"""A factor and an offset per channel: BatchNormalization alone, and constants that nothing has quantized.

Decides: that y = x * factor + offset is a convolution of one tap per channel.  Each tap is a power of two and the
factor lies in the scale, so that only the offset is rounded, to 1/128 of what one step of the input becomes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import ScaleBad, ShapeMismatch
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant, Requant, is_pot
from codegen.ir.real import RealNode
from codegen.ir.shape import Window
from codegen.ops import Broadcast, Conv2D, Reshape, Transpose
from codegen.real.normal import BatchNorm
from codegen.records import record
from codegen.settle.context import Context
from codegen.settle.layout import TO_NCHW, TO_NHWC
from codegen.settle.linear import pending, scaled, with_linear
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Linear, Pending, Real, Route, State
from codegen.settle.tables import exact

_TAP_BITS = 6
_OFFSET_BITS = 30
"""Taps are 2^6, or less where an offset would not stay below 2^30 steps of the product."""


def batch_norm(ctx: Context, node: RealNode, op: BatchNorm) -> Sequence[State]:
    """BatchNormalization at inference: part of the product before it, or a factor and an offset per channel."""
    x = ctx.state(node, 0)
    scale, bias, mean, variance = (ctx.const(node, i).astype(np.float64) for i in range(1, 5))
    shape = ctx.shape(x)
    channels = shape[1] if len(shape) > 1 else 1
    if any(v.shape != (channels,) for v in (scale, bias, mean, variance)):
        raise ShapeMismatch(f"parameters for other than {channels} channels", where=node.where)
    with np.errstate(all="ignore"):
        factor = scale / np.sqrt(variance + op.epsilon)
        offset = bias - mean * factor
    if isinstance(x, Pending) and x.linear is not None and not x.bounded and len(x.linear.scales) == channels:
        linear = scaled(x.linear, factor, node)
        return [with_linear(ctx, x, replace(linear, bias_real=linear.bias_real + offset), node)]
    along = (channels, *(1,) * (len(shape) - 2))
    return [affine(ctx, node, exact(ctx, node, 0), factor.reshape(along), offset.reshape(along))]


def affine(ctx: Context, node: RealNode, x: Real, factor: Array, offset: Array) -> Pending:
    """X * factor + offset, both constants and broadcast with the tensor as numpy does."""
    if not (np.isfinite(factor).all() and np.isfinite(offset).all()):
        raise ScaleBad("a factor or an offset is infinite or not a number", where=node.where)
    grid = _Grid.of(node, ctx.shape(x), np.broadcast_shapes(factor.shape, offset.shape))
    factors, offsets = (grid.vector(array) for array in (factor, offset))
    taps, scales = _taps(x.quant.scale, factors, offsets, pot=is_pot(ctx.mode))
    one, channels = Window(1), len(taps)

    def make(requant: Requant | None, dtype: DType, quant: Quant | None) -> Op:
        return Conv2D(one, one, channels, x.quant.zero_point, requant, dtype, quant)

    route = grid.route()
    linear = Linear(
        x=x.value,
        x_scale=x.quant.scale,
        x_zero_point=x.quant.zero_point,
        weights=taps.reshape(channels, 1, 1, 1),
        scales=scales,
        bias_int=np.zeros(channels, np.int64),
        bias_real=offsets,
        axis=grid.axes[-1],
        make=make,
        pre=route.pre,
        post=route.post,
    )
    return pending(ctx, node, linear)


def _taps(x_scale: float, factor: Array, offset: Array, *, pot: bool) -> tuple[Array, Array]:
    """Integer weights and scales whose product is the factor; zero where the input's part is below 2^-14 of the offset.

    The scale of a zero weight is the one in which its offset has many digits.  With `pot` scales are powers of two, and
    what they are less than the factor's is in the weights, of 7 bits at most.
    """
    with np.errstate(all="ignore"):
        steps = np.abs(offset) / (x_scale * np.abs(factor))
        bits = np.minimum(_TAP_BITS, _OFFSET_BITS - np.ceil(np.log2(np.maximum(steps, 1.0))))
        unit = np.abs(factor) / 2.0**bits
        empty = ~((bits >= 0) & (unit >= np.finfo(np.float32).tiny))
        alone = np.where(offset == 0, 1.0, np.abs(offset) / (x_scale * 2.0**24))
    taps = np.where(empty, 0, np.sign(factor) * 2.0 ** np.where(empty, 0, bits))
    units = np.maximum(np.where(empty, alone, unit), np.finfo(np.float32).tiny)
    if pot:
        powers = 2.0 ** np.floor(np.log2(units))
        units, taps = powers, np.rint(taps * (units / powers))
    return taps.astype(np.int64), units.astype(np.float32)


@record
class _Grid:
    """A tensor as pixels and channels: `axes` are those along which the parameters differ.

    `shape` is the result's, `given` the tensor's own, which may have to be repeated first.
    """

    given: tuple[int, ...]
    shape: tuple[int, ...]
    axes: tuple[int, ...]

    @classmethod
    def of(cls, node: RealNode, given: tuple[int, ...], parameters: tuple[int, ...]) -> _Grid:
        """The grid of a tensor and of parameters that are broadcast with it."""
        try:
            shape = np.broadcast_shapes(given, parameters)
        except ValueError as error:
            found = f"a tensor of shape {list(given)} and a constant of shape {list(parameters)}"
            raise ShapeMismatch(found, where=node.where) from error
        full = (*(1,) * (len(shape) - len(parameters)), *parameters)
        return cls(given, shape, tuple(i for i, n in enumerate(full) if n != 1) or (len(shape) - 1,))

    def vector(self, array: Array) -> Array:
        """One number per channel."""
        full = (*(1,) * (len(self.shape) - array.ndim), *array.shape)
        wanted = tuple(n if i in self.axes else 1 for i, n in enumerate(self.shape))
        return np.broadcast_to(array.reshape(full), wanted).reshape(-1).astype(np.float64)

    def route(self) -> Route:
        """What brings the tensor to NHWC with these channels, and back."""
        repeated: tuple[Op, ...] = () if self.shape == self.given else (Broadcast(self.shape),)
        if len(self.shape) == 4 and self.axes == (1,) and self.shape[0] == 1:
            return Route(None, (*repeated, Transpose(TO_NHWC)), (Transpose(TO_NCHW),))
        order = (*(i for i in range(len(self.shape)) if i not in self.axes), *self.axes)
        moved = tuple(self.shape[i] for i in order)
        channels = math.prod(self.shape[i] for i in self.axes)
        flat = Reshape((1, 1, math.prod(self.shape) // channels, channels))
        if [i for i in order if self.shape[i] > 1] == [i for i, n in enumerate(self.shape) if n > 1]:
            return Route(None, (*repeated, flat), (Reshape(self.shape),))
        back = tuple(int(i) for i in np.argsort(order))
        return Route(None, (*repeated, Transpose(order), flat), (Reshape(moved), Transpose(back)))


RULES: Family = (Rule(BatchNorm, batch_norm, ("BatchNormalization",)),)
