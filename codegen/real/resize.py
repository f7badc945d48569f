"""Resize: a tensor interpolated along some of its axes.

Axes are taken one after the other, from the first; each result is the sum of weight times element from left to right.
Weights are computed in float64 and rounded to the elements' type.  Source: onnx/docs/Operators.md, Resize.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.real import taps
from codegen.real.images import Apart
from codegen.real.taps import Coordinates, Rounding, Stretch
from codegen.records import record

Mode = Literal["nearest", "linear", "cubic"]


@record
class Resize:
    """One `Stretch` per axis, None where nothing changes.

    `cubic_a` is the factor of the cubic kernel; `inside` drops weights beyond the edges; `smooth` widens the kernel
    where an axis shrinks; `outside` is what `tf_crop_and_resize` writes for places that are not in the tensor.
    """

    stretches: tuple[Stretch | None, ...]
    mode: Mode = "nearest"
    coordinates: Coordinates = "half_pixel"
    rounding: Rounding = "round_prefer_floor"
    cubic_a: float = -0.75
    inside: bool = False
    smooth: bool = False
    outside: float = 0.0

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The stated sizes."""
        shape = ins[0].shape
        if len(shape) != len(self.stretches):
            raise ShapeMismatch(f"a tensor {list(shape)} resized along {len(self.stretches)} axes")
        sizes = [n if s is None else s.size for n, s in zip(shape, self.stretches, strict=True)]
        if any(n < 1 for n in sizes) or any(n < 1 for n in shape):
            raise ShapeMismatch(f"a tensor {list(shape)} resized to {sizes}")
        return (ins[0].shaped(sizes),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> Resize | None:
        """Of every image."""
        return self if self.stretches[0] is None else None

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Axis by axis; whole numbers are interpolated in float32 and cut off."""
        (x,) = ins
        whole = x.dtype.kind != "f" and self.mode != "nearest"
        y = x.astype(np.float32) if whole else x
        for axis, stretch in enumerate(self.stretches):
            if stretch is not None:
                y = self._along(y, axis, stretch)
        return (self._cropped(y.astype(x.dtype), x.shape),)

    def _along(self, x: Array, axis: int, stretch: Stretch) -> Array:
        length = x.shape[axis]
        at = taps.places(stretch, length, self.coordinates)
        if self.mode == "nearest":
            return x.take(taps.nearest(at, length, self.rounding), axis)
        squeeze = min(stretch.scale, 1.0) if self.smooth else 1.0
        if self.mode == "linear":
            elements, weights = taps.linear(at, length, squeeze, inside=self.inside)
        else:
            elements, weights = taps.cubic(at, length, squeeze, self.cubic_a, inside=self.inside)
        along = [-1 if i == axis else 1 for i in range(x.ndim)]
        y = np.zeros((*x.shape[:axis], stretch.size, *x.shape[axis + 1 :]), x.dtype)
        for tap in range(elements.shape[1]):
            y += x.take(elements[:, tap], axis) * weights[:, tap].astype(x.dtype).reshape(along)
        return y

    def _cropped(self, y: Array, shape: Sequence[int]) -> Array:
        if self.coordinates != "tf_crop_and_resize":
            return y
        for axis, stretch in enumerate(self.stretches):
            if stretch is not None:
                at = taps.places(stretch, shape[axis], self.coordinates)
                beyond = ((at < 0) | (at > shape[axis] - 1)).reshape([-1 if i == axis else 1 for i in range(y.ndim)])
                y = np.where(beyond, y.dtype.type(self.outside), y)
        return y
