"""Transposed convolutions of real numbers.

Decides: that a stride of s makes s results of each place along an axis, each of them a convolution with every s-th tap,
whose outputs are channels beside each other and are put between each other then.  Where s does not divide the window,
the missing taps are weights of 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.ir.op import Op
from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.ir.shape import Shape, Window
from codegen.ops import Pad, Reshape, Slice, Transpose
from codegen.ops.float32 import FloatConv2D
from codegen.real.window import ConvTranspose
from codegen.records import record
from codegen.settle.context import Context
from codegen.settle.float32 import unfold
from codegen.settle.float32.conv import bias_of, parameters_known
from codegen.settle.float32.inputs import real_numbers, real_value
from codegen.settle.float32.products import product
from codegen.settle.float32.products import writer as writer_of
from codegen.settle.float32.writer import Writer
from codegen.settle.plane import Layout, kernel_of, plane
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Float, Product, Route, State, Trail


@record
class _Phases:
    """One axis: results of each place, the window of each result, and which taps it has, -1 for none."""

    stride: int
    window: Window
    taps: tuple[tuple[int, ...], ...]


def conv_transpose(ctx: Context, node: RealNode, op: ConvTranspose) -> Sequence[State]:
    """ConvTranspose; by a product of matrices where its weights are computed."""
    shape = ctx.real(node.inputs[0]).shape
    if min(v.pad_before for v in op.windows) < 0:
        raise FormUnsupported("a result that begins before the windows", where=node.where)
    if not parameters_known(ctx, node):
        return _computed(Writer(ctx, node), op)
    x, weights = real_value(ctx, node, 0), real_numbers(ctx, node, 1)
    if not weights.size:
        raise ShapeMismatch(f"weights of shape {list(weights.shape)}", where=node.where)
    spatial = Layout(shape, op.channel_axis).spatial
    phases = [_phases(v, n, m) for v, n, m in zip(op.windows, spatial, op.out_spatial, strict=True)]
    kernel = _by_output(weights, op.groups)
    bias = bias_of(ctx, node, len(kernel))

    def write(kernel: Array, bias: Array, trail: Trail) -> Float:
        each = math.prod(p.stride for p in phases)
        route = _route(shape, op, phases, len(kernel))
        return writer_of(ctx, x, route)(kernel_of(_split(kernel, phases)), np.repeat(bias, each), trail)

    return [product(ctx, Product(kernel, bias, op.channel_axis, (node,), write))]


def _by_output(weights: Array, groups: int) -> Array:
    """[C, O/g, spatial...] as [O, C/g, spatial...]."""
    channels, share, *kernel = weights.shape
    split = weights.reshape(groups, channels // groups, share, *kernel)
    return np.moveaxis(split, 2, 1).reshape(groups * share, channels // groups, *kernel)


def _phases(window: Window, length: int, result: int) -> _Phases:
    """Result p of place q stands at q * stride + p, before the padding is cut off."""
    stride, extent = window.stride, window.extent
    count = -(-extent // stride)
    steps = [[p + stride * (count - 1 - t) for t in range(count)] for p in range(stride)]
    taps = tuple(
        tuple(s // window.dilation if s < extent and s % window.dilation == 0 else -1 for s in row) for row in steps
    )
    places = -(-(window.pad_before + result) // stride)
    return _Phases(stride, Window(count, 1, 1, count - 1, max(places - length, 0)), taps)


def _split(kernel: Array, phases: Sequence[_Phases]) -> Array:
    """[O, C/g, spatial...] as [O and results of each axis, C/g, taps of each axis]."""
    for i, phase in enumerate(phases):
        axis = 2 + i
        wide = np.concatenate([kernel, np.zeros_like(kernel.take([0], axis))], axis)
        picked = wide.take(np.array(phase.taps).reshape(-1), axis)
        sizes = (*kernel.shape[:axis], phase.stride, phase.window.size, *kernel.shape[axis + 1 :])
        kernel = np.moveaxis(picked.reshape(sizes), axis, 1)
        kernel = kernel.reshape(kernel.shape[0] * kernel.shape[1], *kernel.shape[2:])
    return kernel


def _route(shape: Shape, op: ConvTranspose, phases: Sequence[_Phases], outputs: int) -> Route:
    """The convolution to all results, and what puts them between each other."""
    layout = Layout(shape, op.channel_axis, op.groups)
    windows = [p.window for p in phases]
    p = plane(layout, windows, outputs * math.prod(v.stride for v in phases))
    places = [v.window.out_len(n) for v, n in zip(phases, layout.spatial, strict=True)]
    post = (*p.post, *_between(layout, op, phases, places, outputs))
    return Route(FloatConv2D(p.h, p.w, op.groups), p.pre, post)


def _between(
    layout: Layout, op: ConvTranspose, phases: Sequence[_Phases], places: Sequence[int], outputs: int
) -> tuple[Op, ...]:
    """From [N, channels and results, places...], or channels last, to the map of the stated sizes."""
    n, axes, strides = layout.shape[0], len(phases), [p.stride for p in phases]
    first = op.channel_axis == 1
    sizes = (n, outputs, *strides, *places) if first else (n, *places, outputs, *strides)
    place, result = (2 + axes, 2) if first else (1, 2 + axes)
    pairs = [a for i in range(axes) for a in (place + i, result + i)]
    order = (0, 1, *pairs) if first else (0, *pairs, 1 + axes)
    wide = [p * s for p, s in zip(places, strides, strict=True)]
    cut, full = (0, *(v.pad_before for v in op.windows)), (n, *op.out_spatial)
    starts = (0, *cut) if first else (*cut, 0)
    kept = (n, outputs, *op.out_spatial) if first else (*full, outputs)
    grown = (n, outputs, *wide) if first else (n, *wide, outputs)
    movement: list[Op] = []
    if max(strides) > 1:
        movement += [Reshape(sizes), Transpose(order), Reshape(grown)]
    if grown != kept:
        movement += [Slice(starts, kept, (1,) * len(kept))]
    return tuple(movement)


def _computed(w: Writer, op: ConvTranspose) -> Sequence[State]:
    """A convolution of the map with zeros between its elements, with taps from last to first."""
    x, weights, axes = w.input(0), w.input(1), len(op.windows)
    if op.channel_axis != 1:
        raise w.ctx.unknown(w.node)
    windows = []
    for axis, (v, result) in enumerate(zip(op.windows, op.out_spatial, strict=True)):
        x = _apart(w, x, axis + 2, v.stride)
        before = v.extent - 1 - v.pad_before
        after = result - (w.shape(x)[axis + 2] + before - v.extent + 1)
        x = _trimmed(w, x, axis + 2, min(before, 0), min(after, 0))
        windows.append(replace(v, stride=1, pad_before=max(before, 0), pad_after=max(after, 0)))
    channels, share, *kernel = w.shape(weights)
    groups = op.groups
    turned = w.reshaped(weights, (groups, channels // groups, share, *kernel))
    for axis, size in enumerate(kernel):
        turned = w.picked(turned, axis + 3, range(size - 1, -1, -1))
    turned = w.moved(turned, 2, 1)
    turned = w.reshaped(turned, (groups * share, channels // groups, *kernel))
    y = unfold.convolved(w, x, turned, windows, groups)
    assert len(w.shape(y)) == axes + 2, "a map"
    return w.done(unfold.biased(w, y, 2, 1))


def _apart(w: Writer, x: str, axis: int, stride: int) -> str:
    """Zeros between the elements along an axis, none behind the last."""
    if stride == 1:
        return x
    shape = w.shape(x)
    spread = w.reshaped(x, (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    after = tuple(stride - 1 if a == axis + 1 else 0 for a in range(len(shape) + 1))
    spread = w.apply(Pad((0,) * len(after), after, "constant", 0.0), spread)
    wide = w.reshaped(spread, (*shape[:axis], shape[axis] * stride, *shape[axis + 1 :]))
    return _trimmed(w, wide, axis, 0, 1 - stride)


def _trimmed(w: Writer, x: str, axis: int, before: int, after: int) -> str:
    """Without some elements at the ends of an axis; counts are negative."""
    if not before and not after:
        return x
    shape = w.shape(x)
    starts = tuple(-before if a == axis else 0 for a in range(len(shape)))
    sizes = tuple(n + before + after if a == axis else n for a, n in enumerate(shape))
    return w.apply(Slice(starts, sizes, (1,) * len(shape)), x)


RULES: Family = (Rule(ConvTranspose, conv_transpose),)
