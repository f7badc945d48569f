"""GridSample, RoiAlign and DeformConv.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.frontends.onnx.real.window import conv_windows
from codegen.real.sampling import DeformConv, GridSample, RoiAlign

_MODES = {"bilinear": "linear", "linear": "linear", "bicubic": "cubic", "cubic": "cubic", "nearest": "nearest"}
_LARGEST = 1 << 16


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
    return [r.apply(op, [r.value(node, i) for i in range(3)], node)]


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
    ("", "DeformConv"): deform_conv,
    ("", "GridSample"): grid_sample,
    ("", "RoiAlign"): roi_align,
}
