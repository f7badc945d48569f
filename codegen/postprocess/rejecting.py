"""Below which number of an output a box cannot be found, so that the C need not look at the rest of it.

Decides: nothing that is found.  A bar is passed by every number with which some score is above the least one; whether
a box is found is decided by its score alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from codegen.fixedpoint import dequantize_linear
from codegen.float32 import Float32Array, sigmoid
from codegen.float32.detections import SCORES, clip
from codegen.ir.postprocess import Boxes, Level, Numbers

_DOUBT = np.float32(1 + 1e-4)
"""Scores that are so much less than one that counts are looked at: functions of float32 rise, but for last places."""
_ROOM = 1e-2
"""The same of a softmax's exponents, whose sum is rounded at each label."""
_MOST_SUMMED = 1 << 16
_LARGEST = int(np.float32(1e30).view(np.int32))
_Function = Callable[[Float32Array], Float32Array]
_ACTIVATIONS: dict[str, _Function] = {"none": lambda x: x, "clip": clip, "sigmoid": sigmoid}


def with_bars(task: Boxes, outputs: Sequence[Numbers], least: float) -> Boxes:
    """The same detector, and what it need not look at when only scores above `least` are found."""
    if least < 0:
        return task
    if task.activation == "softmax":
        return replace(task, gap=_gap(task, outputs[task.levels[0].labels.output], least))
    return replace(task, levels=tuple(replace(level, bar=_bar(task, level, outputs, least)) for level in task.levels))


def _bar(task: Boxes, level: Level, outputs: Sequence[Numbers], least: float) -> float | None:
    """Of the number of an object; of the greatest of the labels where there are no objects."""
    activated, labels = _ACTIVATIONS[task.activation], outputs[level.labels.output]
    if level.objects is None:
        return _greatest_below(labels, lambda x: SCORES[task.score](activated(x), activated(x)), least)
    ends = _ends(task, labels)
    return _greatest_below(outputs[level.objects.output], lambda x: _best(task, activated(x), ends), least)


def _ends(task: Boxes, labels: Numbers) -> Float32Array:
    """The least and the greatest that a label's number may become; 0 and 1 behind an activation, of floats."""
    if labels.scale is None:
        return np.array([-np.inf, np.inf] if task.activation == "none" else [0, 1], np.float32)
    found = _ACTIVATIONS[task.activation](_every(labels)[1])
    return np.array([found.min(), found.max()], np.float32)


def _best(task: Boxes, objects: Float32Array, ends: Float32Array) -> Float32Array:
    """The greatest score that objects may have with any label."""
    scores = [SCORES[task.score](objects, np.full_like(objects, end)) for end in ends]
    return np.asarray(np.fmax(*scores))


def _greatest_below(of: Numbers, best: _Function, least: float) -> float | None:
    """The greatest number that neither itself nor any below it can have a score above `least`; None without one."""
    with np.errstate(all="ignore"):
        if of.scale is not None:
            held, real = _every(of)
            count = int(np.argmax([*_may(best(real), least), True]))
            return float(held[count - 1]) if count else None
        return _halved(lambda x: bool(_may(best(np.array([x], np.float32)), least)[0]))


def _every(of: Numbers) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], Float32Array]:
    """All numbers that an output may hold, and what they stand for."""
    assert of.scale is not None, "floats stand for themselves"
    held = np.arange(of.dtype.low, of.dtype.high + 1)
    return held, np.asarray(dequantize_linear(held, of.scale, of.zero_point), np.float32)


def _may(scores: Float32Array, least: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.asarray(~(scores * _DOUBT <= np.float32(least)))


def _halved(may: Callable[[np.float32], bool]) -> float | None:
    """The same of floats, which are tried by halves of their order: at and below it nothing may."""
    low, high = -_LARGEST, _LARGEST
    if may(_float(low)) or not may(_float(high)):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if may(_float(middle)) else (middle, high)
    return float(_float(low))


def _float(place: int) -> np.float32:
    """A float32 by its place among all, 0 at 0."""
    size = np.array(abs(place), np.int32).view(np.float32)[()]
    return np.float32(-size if place < 0 else size)


def _gap(task: Boxes, labels: Numbers, least: float) -> float | None:
    """By how much a label that is found may be less than the greatest number of its box; whole steps of integers.

    With s = e^-gap a share is s / (1 + s) at most, since the greatest number has a part of the sum as well.
    """
    if not 0 < least < 1 or task.background + task.labels > _MOST_SUMMED:
        return None
    gap = max(math.log(1 / least - 1), 0.0) + _ROOM
    if labels.scale is None:
        return float(np.float32(gap))
    reach = float(np.abs(_every(labels)[1]).max())
    return float(math.ceil((gap + 1e-6 * reach) / labels.scale))
