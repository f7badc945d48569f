"""Operators that only move elements.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.frontends.onnx.writer.writing import Place, Table
from codegen.real.movement import (
    Concat,
    DepthToSpace,
    Expand,
    Gather,
    Pad,
    Pick,
    Reshape,
    Slice,
    SpaceToDepth,
    Tile,
    Transpose,
)
from codegen.real.resize import Resize
from codegen.real.taps import Stretch


def reshape(place: Place, op: Reshape) -> None:
    """Reshape; a size of 0 is one."""
    place.write("Reshape", [place.inputs[0], place.const(op.shape, "shape")], allowzero=1 if 0 in op.shape else None)


def transpose(place: Place, op: Transpose) -> None:
    """Transpose."""
    place.write("Transpose", perm=list(op.perm))


def concat(place: Place, op: Concat) -> None:
    """Concat."""
    place.write("Concat", axis=op.axis)


def slice_of(place: Place, op: Slice) -> None:
    """Slice along the axes of which a part is taken."""
    shape = place.type(0).shape
    cut = [
        (i, start, _end(start, count, step, shape[i]), step)
        for i, (start, count, step) in enumerate(zip(op.starts, op.counts, op.steps, strict=True))
        if (start, count, step) != (0, shape[i], 1)
    ]
    axes, starts, ends, steps = zip(*cut, strict=True) if cut else ((0,), (0,), (shape[0],), (1,))
    parts = (("starts", starts), ("ends", ends), ("axes", axes), ("steps", steps))
    place.write("Slice", [place.inputs[0], *(place.const(numbers, what) for what, numbers in parts)])


def _end(start: int, count: int, step: int, size: int) -> int:
    """Where a slice ends; before the first element is far below."""
    if not count:
        return start
    end = start + (count - 1) * step + (1 if step > 0 else -1)
    return end if end >= 0 else -size - 1


def pad(place: Place, op: Pad) -> None:
    """Pad; elements mirrored with the edge among them, of which ONNX has no mode, are picked again."""
    if op.mode == "symmetric":
        sizes = zip(place.type(0).shape, op.before, op.after, strict=True)
        again = (np.pad(np.arange(size), ends, mode="symmetric") for size, *ends in sizes)
        pick(place, Pick(tuple(tuple(places.tolist()) for places in again)))
        return
    pads = place.const((*op.before, *op.after), "pads")
    if op.mode == "wrap":
        place.writing.since(19)
    value = [place.const(np.array(op.value, place.type(0).dtype), "value")] if op.mode == "constant" else []
    place.write("Pad", [place.inputs[0], pads, *value], mode=op.mode)


def expand(place: Place, op: Expand) -> None:
    """Expand."""
    place.write("Expand", [place.inputs[0], place.const(op.shape, "shape")])


def tile(place: Place, op: Tile) -> None:
    """Tile."""
    place.write("Tile", [place.inputs[0], place.const(op.counts, "repeats")])


def gather(place: Place, op: Gather) -> None:
    """Gather."""
    place.write("Gather", axis=op.axis)


def pick(place: Place, op: Pick) -> None:
    """Gather along each axis of which some elements are picked."""
    axes = [axis for axis, places in enumerate(op.places) if places is not None]
    value = place.inputs[0]
    for axis in axes[:-1]:
        value = place.inner("Gather", [value, place.const(op.places[axis] or (), "places")], f"axis{axis}", axis=axis)
    if not axes:
        place.write("Identity")
        return
    place.write("Gather", [value, place.const(op.places[axes[-1]] or (), "places")], axis=axes[-1])


def depth_to_space(place: Place, op: DepthToSpace) -> None:
    """DepthToSpace."""
    place.write("DepthToSpace", blocksize=op.block, mode=op.mode)


def space_to_depth(place: Place, op: SpaceToDepth) -> None:
    """SpaceToDepth; with the channel first in the result's channels, what it is made of."""
    if op.mode == "DCR":
        place.write("SpaceToDepth", blocksize=op.block)
        return
    n, c, h, w = place.shape
    b = op.block
    apart = place.const((n, c, h // b, b, w // b, b), "apart")
    blocks = place.inner("Reshape", [place.inputs[0], apart], "blocks")
    moved = place.inner("Transpose", [blocks], "moved", perm=[0, 1, 3, 5, 2, 4])
    place.write("Reshape", [moved, place.const((n, c * b * b, h // b, w // b), "shape")])


def resize(place: Place, op: Resize) -> None:
    """Resize by factors where they give the sizes, else by sizes."""
    shape = place.type(0).shape
    crops = op.coordinates == "tf_crop_and_resize"
    axes = [i for i, s in enumerate(op.stretches) if s is not None] if crops else list(range(len(shape)))
    made = [op.stretches[i] for i in axes]
    place.writing.since(18)
    inputs = [place.inputs[0], "", "", ""]
    if crops:
        ends = [0.0 if s is None else s.start for s in made], [1.0 if s is None else s.end for s in made]
        inputs[1] = place.const(np.array([*ends[0], *ends[1]], np.float32), "roi")
    sizes = [shape[i] if s is None else s.size for i, s in zip(axes, made, strict=True)]
    whole = [shape[i] for i in axes]
    if _gives(made, whole, sizes):
        inputs[2:] = [place.const(np.array([1.0 if s is None else s.scale for s in made], np.float32), "scales")]
    else:
        inputs[3] = place.const(sizes, "sizes")
    place.write("Resize", inputs, axes=axes if len(axes) < len(shape) else None, **_manner(op))


def _gives(made: Sequence[Stretch | None], whole: Sequence[int], sizes: Sequence[int]) -> bool:
    """Whether factors as float32 give the sizes."""
    known = [s or Stretch(n, 1.0) for s, n in zip(made, whole, strict=True)]
    exact = all(float(np.float32(s.scale)) == s.scale for s in known)
    return exact and [math.floor(n * (s.end - s.start) * s.scale) for s, n in zip(known, whole, strict=True)] == sizes


def _manner(op: Resize) -> dict[str, object]:
    manner: dict[str, object] = {"mode": op.mode, "coordinate_transformation_mode": op.coordinates}
    if op.mode == "nearest":
        manner["nearest_mode"] = op.rounding
    if op.mode == "cubic":
        manner["cubic_coeff_a"] = float(op.cubic_a)
    if op.inside:
        manner["exclude_outside"] = 1
    if op.smooth:
        manner["antialias"] = 1
    return manner | ({"extrapolation_value": float(op.outside)} if op.coordinates == "tf_crop_and_resize" else {})


SPELLINGS: Table = {
    Concat: concat,
    DepthToSpace: depth_to_space,
    Expand: expand,
    Gather: gather,
    Pad: pad,
    Pick: pick,
    Reshape: reshape,
    Resize: resize,
    Slice: slice_of,
    SpaceToDepth: space_to_depth,
    Tile: tile,
    Transpose: transpose,
}
