"""Convolutions and pools: kernels, strides, dilations and padding.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from codegen.errors import AttributeBad, ModelTooLarge, ShapeMismatch
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.frontends.onnx.windows import AUTO_PADS, auto_padded, with_ceiling
from codegen.ir.shape import Shape, Window
from codegen.real.movement import Slice
from codegen.real.reduce import Reduce
from codegen.real.window import AveragePool, Conv, ConvTranspose
from codegen.settle.builder import MAX_ELEMENTS

_LARGEST = 2**20


def conv(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Conv."""
    x, windows = conv_windows(r, node)
    op = Conv(windows, node.integer("group", 1, low=1))
    return [r.apply(op, [x, *r.given(node, 2)[1:]], node)]


def conv_windows(r: Reading, node: OnnxNode) -> tuple[str, tuple[Window, ...]]:
    """The map of a convolution of inputs 0 and 1, and its windows there."""
    x = r.value(node, 0)
    kernel = node.integers("kernel_shape", r.type(r.value(node, 1)).shape[2:], count=len(spatial_of(r, node, x)), low=1)
    return _from_the_first(r, node, x, read_windows(node, r.type(x).shape, kernel, sums=True))


def _from_the_first(r: Reading, node: OnnxNode, x: str, windows: Sequence[Window]) -> tuple[str, tuple[Window, ...]]:
    """The map without what negative padding leaves out before the first windows, and the windows there."""
    left_out = tuple(max(-w.pad_before, 0) for w in windows)
    if any(left_out):
        starts, shape = (0, 0, *left_out), r.type(x).shape
        counts = tuple(n - first for n, first in zip(shape, starts, strict=True))
        x = r.apply(Slice(starts, counts, (1,) * len(shape)), [x], node, "from the first window")
    return x, tuple(replace(w, pad_before=max(w.pad_before, 0), pad_after=max(w.pad_after, 0)) for w in windows)


def conv_transpose(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ConvTranspose: the output's size follows from the padding, or the padding from the output's size."""
    x, w = r.value(node, 0), r.value(node, 1)
    spatial = spatial_of(r, node, x)
    axes = len(spatial)
    kernel = node.integers("kernel_shape", r.type(w).shape[2:], count=axes, low=1)
    strides, dilations = _steps(node, axes)
    extra = node.integers("output_padding", (0,) * axes, count=axes, low=0)
    plain = [Window(k, s, d) for k, s, d in zip(kernel, strides, dilations, strict=True)]
    full = tuple((n - 1) * p.stride + p.extent + e for n, p, e in zip(spatial, plain, extra, strict=True))
    pads, out = _transposed_pads(node, spatial, plain, full)
    windows = tuple(replace(p, pad_before=pads[i], pad_after=pads[i + axes]) for i, p in enumerate(plain))
    return [r.apply(ConvTranspose(windows, out, node.integer("group", 1, low=1)), r.given(node, 2), node)]


def _transposed_pads(
    node: OnnxNode, spatial: Shape, plain: Sequence[Window], full: Shape
) -> tuple[tuple[int, ...], Shape]:
    """The padding before and after each axis, and the output's sizes."""
    axes, auto_pad = len(spatial), node.string("auto_pad", "NOTSET", AUTO_PADS)
    wanted = node.integers("output_shape", ()) if node.has("output_shape") else ()
    if auto_pad.startswith("SAME") and not wanted:
        # windows that leave a gap behind them cover less, as ONNX's shape inference and ONNX Runtime have it
        wanted = tuple(min(n * p.stride, most) for n, p, most in zip(spatial, plain, full, strict=True))
    if not wanted:
        none = (0,) * (2 * axes)
        pads = node.integers("pads", none, count=2 * axes, low=0) if auto_pad == "NOTSET" else none
        return pads, tuple(n - pads[i] - pads[i + axes] for i, n in enumerate(full))
    out = tuple(wanted[-axes:])
    if len(out) != axes or max(out) > _LARGEST:
        raise AttributeBad(f"output_shape {list(wanted)}", where=node.where)
    total = [max(n - m, 0) for n, m in zip(full, out, strict=True)]
    first = [t // 2 if auto_pad == "SAME_UPPER" else t - t // 2 for t in total]
    return (*first, *(t - f for t, f in zip(total, first, strict=True))), out


def average_pool(r: Reading, node: OnnxNode) -> Sequence[str]:
    """AveragePool; what rounding the size up adds is never counted."""
    x, windows = pool_windows(r, node)
    counted: tuple[tuple[int, int], ...] = ()
    if node.flag("count_include_pad"):
        plain = read_windows(node, r.type(r.value(node, 0)).shape, [w.size for w in windows])
        counted = tuple((max(w.pad_before, 0), max(w.pad_after, 0)) for w in plain)
    return [r.apply(AveragePool(windows, counted), [x], node)]


def global_average_pool(r: Reading, node: OnnxNode) -> Sequence[str]:
    """GlobalAveragePool: a mean over everything spatial."""
    return _over_space(r, node, "Mean")


def global_max_pool(r: Reading, node: OnnxNode) -> Sequence[str]:
    """GlobalMaxPool."""
    return _over_space(r, node, "Max")


def _over_space(r: Reading, node: OnnxNode, kind: str) -> Sequence[str]:
    x = r.value(node, 0)
    return [r.apply(Reduce(kind, tuple(range(2, 2 + len(spatial_of(r, node, x))))), [x], node)]


def spatial_of(r: Reading, node: OnnxNode, x: str) -> Shape:
    """Sizes behind batch and channels; LAM-IMPORT-014 when there are none."""
    shape = r.type(x).shape
    if len(shape) < 3:
        raise ShapeMismatch(f"a tensor of shape {list(shape)} has no spatial axes", where=node.where)
    return shape[2:]


def pool_windows(r: Reading, node: OnnxNode) -> tuple[str, tuple[Window, ...]]:
    """The map of a pool, and its windows there, rounded up where the node asks for it."""
    x = r.value(node, 0)
    spatial = spatial_of(r, node, x)
    windows = read_windows(node, r.type(x).shape, node.integers("kernel_shape", count=len(spatial), low=1))
    for window in windows:
        if max(window.pad_before, window.pad_after) >= window.extent:
            pads = f"{window.pad_before} and {window.pad_after}"
            raise ShapeMismatch(f"padding of {pads} hides a window of {window.extent}", where=node.where)
    if not node.string("auto_pad", "NOTSET", AUTO_PADS).startswith("SAME"):
        windows = tuple(with_ceiling(node, w, n) for w, n in zip(windows, spatial, strict=True))
    return _from_the_first(r, node, x, windows)


def _steps(node: OnnxNode, axes: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    strides = node.integers("strides", (1,) * axes, count=axes, low=1)
    dilations = node.integers("dilations", (1,) * axes, count=axes, low=1)
    return strides, dilations


def read_windows(node: OnnxNode, shape: Shape, kernel: Sequence[int], *, sums: bool = False) -> tuple[Window, ...]:
    """Windows of these sizes over a map [N, C, spatial...] with the node's strides, dilations and padding.

    `sums`: they are those of a convolution.
    """
    spatial = shape[2:]
    axes = len(spatial)
    strides, dilations = _steps(node, axes)
    auto_pad = node.string("auto_pad", "NOTSET", AUTO_PADS)
    pads = node.integers("pads", (0,) * (2 * axes), count=2 * axes, low=0)
    if max((*strides, *dilations, *pads, *kernel)) > _LARGEST:
        raise AttributeBad(f"a window attribute is larger than {_LARGEST}", where=node.where)
    if auto_pad == "NOTSET":
        windows = [Window(kernel[i], strides[i], dilations[i], pads[i], pads[i + axes]) for i in range(axes)]
    else:
        plain = [Window(kernel[i], strides[i], dilations[i]) for i in range(axes)]
        windows = [auto_padded(w, n, auto_pad, sums=sums) for w, n in zip(plain, spatial, strict=True)]
    padded = [n + w.pad_before + w.pad_after for n, w in zip(spatial, windows, strict=True)]
    if math.prod((*shape[:2], *padded)) > MAX_ELEMENTS:
        raise ModelTooLarge(f"a map padded to {[*shape[:2], *padded]}", where=node.where)
    return tuple(windows)


TRANSLATORS: Table = {
    ("", "AveragePool"): average_pool,
    ("", "Conv"): conv,
    ("", "ConvTranspose"): conv_transpose,
    ("", "GlobalAveragePool"): global_average_pool,
    ("", "GlobalMaxPool"): global_max_pool,
}
