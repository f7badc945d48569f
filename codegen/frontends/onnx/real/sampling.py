"""AffineGrid, GridSample, RoiAlign and DeformConv.  Source: onnx/docs/Operators.md.

Decides: that AffineGrid is a product by a constant, as the function that ONNX gives for it fails on one image.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table
from codegen.frontends.onnx.real.scatter import check_positions
from codegen.frontends.onnx.real.window import conv_windows
from codegen.ir.quant import Array
from codegen.real.movement import Reshape, Transpose
from codegen.real.product import MatMul
from codegen.real.sampling import DeformConv, GridSample, RoiAlign
from codegen.settle.builder import MAX_ELEMENTS

_MODES = {"bilinear": "linear", "linear": "linear", "bicubic": "cubic", "cubic": "cubic", "nearest": "nearest"}
_LARGEST = 1 << 16


def affine_grid(r: Reading, node: OnnxNode) -> Sequence[str]:
    """AffineGrid: each point of a regular grid from -1 to 1, turned and moved by the image's matrix."""
    theta, size = r.value(node, 0), r.int_list(node, 1)
    images, sizes = size[:1], size[2:]
    axes, kind = len(sizes), r.type(theta)
    fits = axes in (2, 3) and min(size) > 0 and math.prod(size) <= MAX_ELEMENTS
    if not fits or kind.shape != (*images, axes, axes + 1):
        raise ShapeMismatch(f"matrices {list(kind.shape)} for a grid of size {list(size)}", where=node.where)
    along = [_regular(n, kind.dtype, node.flag("align_corners")) for n in sizes]
    points = [*np.meshgrid(*along, indexing="ij")[::-1], np.ones(sizes, kind.dtype)]
    grid = r.constant(f"{node.outputs[0]}:grid", np.stack(points).reshape(axes + 1, -1))
    moved = r.apply(MatMul(), [theta, grid], node, "moved")
    turned = r.apply(Transpose((0, 2, 1)), [moved], node, "turned")
    return [r.apply(Reshape((*images, *sizes, axes)), [turned], node)]


def _regular(count: int, dtype: np.dtype, corners: bool) -> Array:
    """Points from -1 to 1: both ends, or the middles of `count` cells."""
    two, steps = dtype.type(2), dtype.type(count - corners)
    step = two / steps if steps else dtype.type(0)
    start = dtype.type(-1) if corners else dtype.type(-1) + step / two
    return np.asarray(start + np.arange(count).astype(dtype) * step)


def grid_sample(r: Reading, node: OnnxNode) -> Sequence[str]:
    """GridSample."""
    mode = _MODES[node.string("mode", "linear", tuple(_MODES))]
    outside = node.string("padding_mode", "zeros", ("zeros", "border", "reflection"))
    op = GridSample(mode, outside, node.flag("align_corners"))  # type: ignore[arg-type]
    return [r.apply(op, [r.value(node, 0), r.value(node, 1)], node)]


def roi_align(r: Reading, node: OnnxNode) -> Sequence[str]:
    """RoiAlign; before operator set 16 boxes are not shifted by half a pixel."""
    default = "half_pixel" if r.opset >= 16 else "output_half_pixel"
    half = node.string("coordinate_transformation_mode", default, ("half_pixel", "output_half_pixel")) == "half_pixel"
    op = RoiAlign(
        node.integer("output_height", 1, low=1, high=_LARGEST),
        node.integer("output_width", 1, low=1, high=_LARGEST),
        node.real("spatial_scale", 1.0),
        node.integer("sampling_ratio", 0, low=0, high=_LARGEST),
        node.string("mode", "avg", ("avg", "max")) == "max",
        half,
    )
    x, boxes, images = (r.value(node, i) for i in range(3))
    made = r.apply(op, [x, boxes, images], node)
    check_positions(r, node, images, r.type(x).shape[:1])
    return [made]


def deform_conv(r: Reading, node: OnnxNode) -> Sequence[str]:
    """DeformConv over two axes: a bias and factors of 1 where they are left out."""
    _, windows = conv_windows(r, node)
    if len(windows) != 2:
        raise FormUnsupported(f"a deformable convolution over {len(windows)} axes", where=node.where)
    a, b = windows
    op = DeformConv(
        (a.size, b.size),
        (a.stride, b.stride),
        (a.dilation, b.dilation),
        (a.pad_before, b.pad_before, a.pad_after, b.pad_after),
        node.integer("group", 1, low=1),
        node.integer("offset_group", 1, low=1),
    )
    x, w, moved = (r.value(node, i) for i in range(3))
    dtype = r.type(x).dtype
    bias = r.optional(node, 3) or r.constant(f"{node.outputs[0]}:bias", np.zeros(r.type(w).shape[:1], dtype))
    shape = list(r.type(moved).shape)
    shape[1:2] = [n // 2 for n in shape[1:2]]
    factors = r.optional(node, 4) or r.constant(f"{node.outputs[0]}:factors", np.ones(shape, dtype))
    return [r.apply(op, [x, w, moved, bias, factors], node)]


TRANSLATORS: Table = {
    ("", "AffineGrid"): affine_grid,
    ("", "DeformConv"): deform_conv,
    ("", "GridSample"): grid_sample,
    ("", "RoiAlign"): roi_align,
    (MICROSOFT, "GridSample"): grid_sample,
}
