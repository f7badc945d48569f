"""Interpolation along one axis: which elements each position reads, and by which weights.

Decides: the coordinates of ONNX's Resize and the kernels of its modes.  A position between two elements reads those on
both sides, one that is exactly on an element reads that one as the right one; outside, the edge is repeated.
Source: onnx/docs/Operators.md, Resize.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from codegen.ir.quant import Array
from codegen.records import record

Coordinates = Literal[
    "align_corners",
    "asymmetric",
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "tf_crop_and_resize",
    "tf_half_pixel_for_nn",
]
Rounding = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]

_NEXT_TO = 1e-6
"""How far from a whole number, or the middle of two, float32 may put one: ONNX Runtime takes such places for it."""


@record
class Stretch:
    """One axis of a Resize: how many elements it gets, by which factor, of which part of the tensor."""

    size: int
    scale: float
    start: float = 0.0
    end: float = 1.0


def places(stretch: Stretch, length: int, coordinates: str) -> Array:
    """Where each output element lies among the inputs, in float64: float32 numbers, rounded as in ONNX Runtime."""
    half, scale = np.float32(0.5), np.float32(stretch.scale)
    i, last = np.arange(stretch.size, dtype=np.float32), np.float32(length - 1)
    at: Array
    if coordinates == "align_corners":
        at = i * last / np.float32(last_place(stretch, length) or 1)
    elif coordinates == "asymmetric":
        at = i / scale
    elif coordinates == "tf_crop_and_resize":
        at = _of_a_part(i, last, last_place(stretch, length), stretch)
    elif coordinates == "tf_half_pixel_for_nn":
        at = (i + half) / scale
    elif coordinates == "half_pixel_symmetric":
        cut_off = np.float32(length / 2) * (np.float32(1) - np.float32(stretch.size) / (scale * np.float32(length)))
        at = (np.float64(cut_off) + (i + half) / np.float64(scale) - 0.5).astype(np.float32)
    elif coordinates == "pytorch_half_pixel" and stretch.size == 1:
        at = i
    else:
        at = (i + half) / scale - half
    return at.astype(np.float64)


def last_place(stretch: Stretch, length: int) -> float:
    """From the first result to the last, which a factor may put between two: its length need not be whole."""
    exact = stretch.scale * length
    return (stretch.size if abs(exact - stretch.size) < _NEXT_TO * exact else exact) - 1


def _of_a_part(i: Array, last: np.float32, by: float, stretch: Stretch) -> Array:
    """From its first element to its last; a single place is in the middle."""
    start, end = np.float32(stretch.start), np.float32(stretch.end)
    if by == 0:
        return np.asarray(i + np.float32(0.5) * (start + end) * last)
    return np.asarray(start * last + i * (end - start) * last / np.float32(by))


def nearest(x: Array, length: int, rounding: str) -> Array:
    """The element that each place takes; within `_NEXT_TO` of the middle of two it is in the middle."""
    at = {
        "round_prefer_floor": lambda: np.ceil(x - 0.5 - _NEXT_TO),
        "round_prefer_ceil": lambda: np.floor(x + 0.5 + _NEXT_TO),
        "floor": lambda: np.floor(x),
        "ceil": lambda: np.ceil(x),
    }[rounding]()
    return np.asarray(np.clip(at, 0, length - 1).astype(np.int64))


def linear(x: Array, length: int, squeeze: float, *, inside: bool) -> tuple[Array, Array]:
    """Elements and weights [places, taps] of the triangle, which is `squeeze` <= 1 times as steep."""
    start = int(np.floor(-1 / squeeze)) + 1
    return _weighted(
        x, length, start, lambda t: np.clip(1 - np.abs(t * squeeze), 0, 1), inside=inside, even=squeeze == 1
    )


def cubic(x: Array, length: int, squeeze: float, a: float, *, inside: bool) -> tuple[Array, Array]:
    """Elements and weights [places, taps] of Keys' cubic kernel with the factor `a`."""
    start = int(np.floor(-2 / squeeze)) + 1
    return _weighted(x, length, start, lambda t: keys(t * squeeze, a), inside=inside, even=squeeze == 1)


def keys(t: Array, a: float) -> Array:
    """Keys' kernel at distances t."""
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.asarray(np.where(t <= 1, near, np.where(t < 2, far, 0.0)))


def _weighted(
    x: Array, length: int, start: int, kernel: Callable[[Array], Array], *, inside: bool, even: bool
) -> tuple[Array, Array]:
    """Elements from `start` to 1 - start around each place, weights 0 beyond the edges where `inside`.

    Weights are divided by their sum, but for those of the plain kernel, which is `even`.
    """
    left = np.ceil(x) - 1
    offsets = np.arange(start, 2 - start)
    at = (left[:, None] + offsets).astype(np.int64)
    weights = kernel(offsets - (x - left)[:, None])
    if inside:
        weights = np.where((at >= 0) & (at < length), weights, 0.0)
    if inside or not even:
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / np.where(total == 0, 1, total)  # of places beyond a part of the tensor nothing is read
    return np.clip(at, 0, length - 1), np.asarray(weights)
