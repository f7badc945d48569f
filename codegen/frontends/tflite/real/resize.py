"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR.

Decides: that the nearest element is the one that TFLite finds in float32: where a Resize would take another one, the
elements are picked by their positions.
"""

from __future__ import annotations

import numpy as np

from codegen.errors import FormUnsupported
from codegen.frontends.tflite.extents import nearest_positions
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext, Table, Versions
from codegen.frontends.tflite.windows import feature_map
from codegen.real import taps
from codegen.real.movement import Pick
from codegen.real.resize import Resize
from codegen.real.taps import Coordinates, Rounding, Stretch

Stretches = tuple[Stretch | None, ...]


def resize_bilinear(ctx: RealContext, node: TfliteNode) -> None:
    """RESIZE_BILINEAR."""
    ctx.of_one_kind(node, 0, "f")
    corners, centres = _places(node, "ResizeBilinearOptions")
    coordinates: Coordinates = "align_corners" if corners else "half_pixel" if centres else "asymmetric"
    ctx.write(node, Resize(_stretches(ctx, node), "linear", coordinates), [ctx.value(node, 0)])


def resize_nearest(ctx: RealContext, node: TfliteNode) -> None:
    """RESIZE_NEAREST_NEIGHBOR."""
    corners, centres = _places(node, "ResizeNearestNeighborOptions")
    coordinates: Coordinates = "align_corners" if corners else "tf_half_pixel_for_nn" if centres else "asymmetric"
    rounding: Rounding = "round_prefer_ceil" if corners else "floor"
    stretches, shape = _stretches(ctx, node), ctx.shape(node, 0)
    picks: list[tuple[int, ...] | None] = [None] * len(shape)
    same = True
    for axis, stretch in enumerate(stretches):
        if stretch is not None:
            picks[axis] = wanted = nearest_positions(shape[axis], stretch.size, corners, centres)
            found = taps.nearest(taps.places(stretch, shape[axis], coordinates), shape[axis], rounding)
            same &= np.array_equal(found, wanted)
    op = Resize(stretches, "nearest", coordinates, rounding) if same else Pick(tuple(picks))
    ctx.write(node, op, [ctx.value(node, 0)])


def _places(node: TfliteNode, name: str) -> tuple[bool, bool]:
    """Whether the corners lie on each other, and whether positions are those of the elements' centres."""
    options = node.options_of(name)
    corners, centres = bool(options.AlignCorners()), bool(options.HalfPixelCenters())
    if corners and centres:
        raise FormUnsupported("aligned corners of half-pixel centres", where=node.where)
    return corners, centres


def _stretches(ctx: RealContext, node: TfliteNode) -> Stretches:
    """How far rows and columns are stretched, from the shapes that the file gives."""
    shape, result = feature_map(node, ctx.shape(node, 0)), feature_map(node, ctx.result(node).shape)
    return (None, *(Stretch(m, m / n) for n, m in zip(shape[1:3], result[1:3], strict=True)), None)


TRANSLATORS: Table = {
    "RESIZE_BILINEAR": resize_bilinear,
    "RESIZE_NEAREST_NEIGHBOR": resize_nearest,
}
NEWEST: Versions = {"RESIZE_BILINEAR": 4, "RESIZE_NEAREST_NEIGHBOR": 4}
