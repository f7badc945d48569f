"""Transposed convolutions of real numbers, as the convolutions of settle/phases.py.

Decides: that one whose weights are computed is a convolution of the map with zeros between its elements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.ir.op import Op
from codegen.ir.phases import split
from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.ops import Pad, Slice
from codegen.ops.float32 import FloatConv2D
from codegen.real.window import ConvTranspose
from codegen.settle.context import Context
from codegen.settle.float32 import unfold
from codegen.settle.float32.conv import bias_of, parameters_known
from codegen.settle.float32.inputs import real_numbers, real_value
from codegen.settle.float32.products import product
from codegen.settle.float32.products import writer as writer_of
from codegen.settle.float32.writer import Writer
from codegen.settle.phases import by_output, phased, phases_of
from codegen.settle.plane import Layout, kernel_of
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Float, Product, Route, State, Trail


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
    phases = phases_of(op, spatial)
    kernel = by_output(weights, op.groups)
    bias = bias_of(ctx, node, len(kernel))

    def write(kernel: Array, bias: Array, trail: Trail, moved: Sequence[Op]) -> Float:
        each = math.prod(p.stride for p in phases)
        p = phased(shape, op, phases, len(kernel))
        route = Route(FloatConv2D(p.h, p.w, op.groups), p.pre, p.post)
        return writer_of(ctx, x, route)(kernel_of(split(kernel, phases)), np.repeat(bias, each), trail, moved)

    return [product(ctx, Product(kernel, bias, op.channel_axis, (node,), write))]


def _computed(w: Writer, op: ConvTranspose) -> Sequence[State]:
    """A convolution of the map with zeros between its elements, with taps from last to first."""
    axes = len(op.windows)
    channel_axis = op.channel_axis % (axes + 2)
    x, weights = w.moved(w.input(0), channel_axis, 1), w.input(1)
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
    return w.done(w.moved(unfold.biased(w, y, 2, 1), 1, channel_axis))


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
