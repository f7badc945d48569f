"""ConvTranspose: weights [C, O/g, H, W] become [O, H, W, C/g], and output_shape or auto_pad become pads.

Source: onnx/docs/Operators.md, ConvTranspose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import AttributeBad, FormUnsupported, ModelTooLarge, ShapeMismatch
from codegen.frontends.builder import MAX_ELEMENTS
from codegen.frontends.onnx.context import Context
from codegen.frontends.onnx.conv import output_scales, refuse_empty, with_bias, with_kernel
from codegen.frontends.onnx.linear import pending
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.states import IntConst, Linear, Real, State
from codegen.frontends.onnx.tables import exact
from codegen.frontends.onnx.weights import read_weights
from codegen.frontends.onnx.windows import spatial_route, spatial_sizes
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant, Requant
from codegen.ir.shape import Window
from codegen.ops import ConvTranspose2D

_AUTO_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
_LIMIT = 2**20


def conv_transpose(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """ConvTranspose on dequantized tensors."""
    x = exact(ctx, node, 0)
    kernel, groups = with_kernel(ctx, node, 1), node.integer("group", 1, low=1)
    channels = ctx.shape(ctx.state(node, 1))[0]
    if channels % groups:
        raise ShapeMismatch(f"weights of {channels} channels in {groups} group(s)", where=node.where)
    weights = read_weights(ctx, node, 1, lambda w: _by_output(w, groups, kernel[-1]))
    linear = _product(ctx, node, x, weights, kernel)
    return [pending(ctx, node, with_bias(ctx, node, 2, linear))]


def _product(ctx: Context, node: OnnxNode, x: Real, weights: IntConst, kernel: tuple[int, ...]) -> Linear:
    """The product, without bias."""
    shape = ctx.shape(x)
    spatial = spatial_sizes(node, shape)
    refuse_empty(node, weights)
    channels, share = weights.ints.shape[:2]
    groups = node.integer("group", 1, low=1)
    if len(spatial) != len(kernel) or shape[1] != channels or channels % groups:
        found = f"input of shape {list(shape)} in {groups} group(s), weights of shape {list(weights.ints.shape)}"
        raise ShapeMismatch(found, where=node.where)
    axes = _axes(node, spatial, kernel)
    sizes = [_length(window, extra, n) for (window, extra), n in zip(axes, spatial, strict=True)]
    if min(sizes) <= 0:
        raise ShapeMismatch(f"pads leave nothing: the result has {sizes} rows and columns", where=node.where)
    if share * groups * math.prod(sizes) > MAX_ELEMENTS:
        raise ModelTooLarge(f"a result of {[share * groups, *sizes]}", where=node.where)
    (h, top), (w, left) = axes if len(axes) == 2 else ((Window(1), 0), axes[0])

    def make(requant: Requant | None, dtype: DType, quant: Quant | None) -> Op:
        return ConvTranspose2D(h, w, (top, left), groups, x.quant.zero_point, requant, dtype, quant)

    outputs = share * groups
    route = spatial_route(make(None, DType.S32, None), shape, outputs, sizes[-1:])
    return Linear(
        x=x.value,
        x_scale=x.quant.scale,
        x_zero_point=x.quant.zero_point,
        weights=_by_output(weights.ints.astype(np.int64) - weights.zero, groups, kernel[-1]).transpose(0, 2, 3, 1),
        scales=output_scales(node, _by_output(weights.scale, groups, kernel[-1]).reshape(outputs, -1)),
        bias_int=np.zeros(outputs, np.int64),
        bias_real=np.zeros(outputs, np.float64),
        axis=1,
        make=make,
        pre=route.pre,
        post=route.post,
    )


def _by_output(array: Array, groups: int, width: int) -> Array:
    """[C, O/g, H, W] or [C, O/g, W] as [O, C/g, H, W]."""
    channels, share = array.shape[:2]
    split = array.reshape(groups, channels // groups, share, -1, width)
    return split.transpose(0, 2, 1, 3, 4).reshape(groups * share, channels // groups, -1, width)


def _length(window: Window, extra: int, length: int) -> int:
    return (length - 1) * window.stride + window.extent - window.pad_before - window.pad_after + extra


def _axes(node: OnnxNode, spatial: Sequence[int], kernel: Sequence[int]) -> list[tuple[Window, int]]:
    """Window and output padding of each axis."""
    axes = len(spatial)
    strides = node.integers("strides", (1,) * axes, count=axes, low=1)
    dilations = node.integers("dilations", (1,) * axes, count=axes, low=1)
    pads = node.integers("pads", (0,) * (2 * axes), count=2 * axes, low=0)
    extras = node.integers("output_padding", (0,) * axes, count=axes, low=0)
    auto_pad = node.string("auto_pad", "NOTSET", _AUTO_PADS)
    if max((*strides, *dilations, *pads, *extras, *kernel)) > _LIMIT:
        raise AttributeBad(f"a window attribute is larger than {_LIMIT}", where=node.where)
    wanted = _wanted(node, [n * s for n, s in zip(spatial, strides, strict=True)], auto_pad)
    found = []
    for i in range(axes):
        window = Window(kernel[i], strides[i], dilations[i])
        if wanted is None:
            ends = (0, 0) if auto_pad == "VALID" else (pads[i], pads[i + axes])
            found.append((Window(kernel[i], strides[i], dilations[i], *ends), extras[i]))
        else:
            total = _length(window, extras[i], spatial[i]) - wanted[i]
            found.append(_fitted(node, window, extras[i], total, upper=auto_pad == "SAME_UPPER"))
    return found


def _wanted(node: OnnxNode, same: Sequence[int], auto_pad: str) -> Sequence[int] | None:
    """The result's rows and columns when they are given, and not the pads."""
    if not node.has("output_shape"):
        return same if auto_pad.startswith("SAME") else None
    sizes = node.integers("output_shape", low=1)[-len(same) :]
    if len(sizes) != len(same):
        raise AttributeBad(f"attribute output_shape has {len(sizes)} entries", where=node.where)
    return sizes


def _fitted(node: OnnxNode, window: Window, extra: int, total: int, *, upper: bool) -> tuple[Window, int]:
    """The window that cuts `total` positions off, or adds some at the end when it is negative and a size is given."""
    if total < 0:
        extra -= total
        if extra >= max(window.stride, window.dilation) or not node.has("output_shape"):
            found = f"windows that cover {-total} rows or columns less than the result has"
            raise FormUnsupported(found, where=node.where)
        return window, extra
    small = total // 2
    before = small if upper else total - small
    return Window(window.size, window.stride, window.dilation, before, total - before), extra
