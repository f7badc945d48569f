"""What heads of detectors say, as scores and boxes in float32; bit-exact twin of runtime_c/include/lam_detect.h.

Numbers of n boxes are [n, numbers]; boxes are corners x, y, x, y in pixels of the network's picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from codegen.float32.arrays import Float32Array
from codegen.float32.exponential import exp, sigmoid, tanh
from codegen.float32.powers import power
from codegen.records import record

BINS = 16
"""Numbers that say how far a side of a box of YOLOv8 is."""
_HALF = np.float32(0.5)


@record(eq=False)
class Places:
    """Where n boxes are proposed: column and row of the cell, pixels of a cell, and a size; each [n, 2], x first."""

    cell: Float32Array
    step: Float32Array
    size: Float32Array


def clip(x: npt.NDArray[Any]) -> Float32Array:
    """Limited to 0 .. 1; 0 for a NaN."""
    one = np.float32(1)
    return np.where(x > 0, np.where(x < one, x, one), np.float32(0)).astype(np.float32)


def softmax(x: Float32Array) -> Float32Array:
    """Along the last axis: e^(x - greatest), divided by their sum from the first to the last."""
    with np.errstate(all="ignore"):
        grown = exp(x - greatest(x)[..., None])
        return np.asarray(grown / np.add.accumulate(grown, axis=-1, dtype=np.float32)[..., -1:])


def greatest(x: Float32Array) -> Float32Array:
    """Along the last axis; a NaN is less than every number."""
    return np.asarray(np.where(np.isnan(x), -np.inf, x).astype(np.float32).max(axis=-1))


def place_of_greatest(x: Float32Array) -> npt.NDArray[np.int64]:
    """Of equal ones the first."""
    return np.asarray(np.where(np.isnan(x), -np.inf, x).argmax(axis=-1), np.int64)


def _label(objects: Float32Array, labels: Float32Array) -> Float32Array:
    return labels


def _product(objects: Float32Array, labels: Float32Array) -> Float32Array:
    return np.asarray(objects * labels)


def _root(objects: Float32Array, labels: Float32Array) -> Float32Array:
    return np.asarray(np.sqrt(objects * labels))


def _powers(objects: Float32Array, labels: Float32Array) -> Float32Array:
    return np.asarray(power(objects, np.array(0.6, np.float32)) * power(labels, np.array(0.4, np.float32)))


SCORES: Mapping[str, Callable[[Float32Array, Float32Array], Float32Array]] = MappingProxyType(
    {"label": _label, "product": _product, "root": _root, "powers": _powers}
)
"""Of an object's and a label's number; C has them as lam_score_<name>."""


def _corners(middle: Float32Array, size: Float32Array) -> Float32Array:
    half = size / np.float32(2)
    return np.concatenate([middle - half, middle + half], axis=1)


def _middle(raw: Float32Array, at: Places) -> Float32Array:
    return _corners(raw[:, :2] * at.step, raw[:, 2:] * at.step)


def _fastestdet(raw: Float32Array, at: Places) -> Float32Array:
    return _corners((at.cell + tanh(raw[:, :2])) * at.step, sigmoid(raw[:, 2:]) * at.size)


def _yunet(raw: Float32Array, at: Places) -> Float32Array:
    return _corners((at.cell + raw[:, :2]) * at.step, exp(raw[:, 2:]) * at.step)


def _yolov3(raw: Float32Array, at: Places) -> Float32Array:
    return _corners((at.cell + sigmoid(raw[:, :2])) * at.step, exp(raw[:, 2:]) * at.size)


def _yolov5(raw: Float32Array, at: Places) -> Float32Array:
    once = sigmoid(raw)
    twice = once + once
    return _corners(((twice[:, :2] - _HALF) + at.cell) * at.step, (twice[:, 2:] * twice[:, 2:]) * at.size)


def _mean(raw: Float32Array) -> Float32Array:
    """Of 0 .. 15 along the last axis, each as likely as the softmax says; sums from the first to the last."""
    grown = exp(raw - greatest(raw)[..., None])
    means = np.add.accumulate(grown * np.arange(BINS, dtype=np.float32), axis=-1, dtype=np.float32)
    return np.asarray(means[..., -1] / np.add.accumulate(grown, axis=-1, dtype=np.float32)[..., -1])


def _yolov8(raw: Float32Array, at: Places) -> Float32Array:
    sides = _mean(raw.reshape(-1, 4, BINS))
    middle = at.cell + _HALF
    return np.concatenate([(middle - sides[:, :2]) * at.step, (middle + sides[:, 2:]) * at.step], axis=1)


def _ssd(raw: Float32Array, at: Places) -> Float32Array:
    return _corners(at.cell + raw[:, :2] * at.size, exp(raw[:, 2:]) * at.size)


BOXES: Mapping[str, Callable[[Float32Array, Places], Float32Array]] = MappingProxyType(
    {
        "middle": _middle,
        "fastestdet": _fastestdet,
        "yunet": _yunet,
        "yolov3": _yolov3,
        "yolov5": _yolov5,
        "yolov8": _yolov8,
        "ssd": _ssd,
    }
)
"""Corners of a box's raw numbers; C has them as lam_box_<name>."""
