"""Which boxes overlap, and the best of those that do, in float32; bit-exact twin of runtime_c/include/lam_nms.h.

Boxes are [n, 4]: two opposite corners y, x, y, x (or x, y, x, y), or `centred`: the middle and the two sizes.
Source: ONNX operator NonMaxSuppression, in ONNX Runtime's order of operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from codegen.float32.arrays import Float32Array

Indexes = npt.NDArray[np.int64]


def extents(boxes: npt.NDArray[Any], centred: bool = False) -> tuple[Float32Array, Float32Array]:
    """Where boxes begin and end along both axes, each [n, 2]."""
    first, second = boxes[:, :2].astype(np.float32), boxes[:, 2:].astype(np.float32)
    if centred:
        half = second / np.float32(2)
        return first - half, first + half
    turned = first >= second
    return np.where(turned, second, first), np.where(turned, first, second)


def overlapping(box: npt.NDArray[Any], boxes: npt.NDArray[Any], limit: float, centred: bool = False) -> Any:
    """Whether intersection over union of one box with each of others is more than `limit`: bool [n].

    Boxes without an area overlap nothing.
    """
    with np.errstate(all="ignore"):
        (a_low, a_high), (b_low, b_high) = extents(box[None], centred), extents(boxes, centred)
        low, high = np.where(a_low < b_low, b_low, a_low), np.where(b_high < a_high, b_high, a_high)
        both, area, areas = _area(low, high), _area(a_low, a_high), _area(b_low, b_high)
        joined = (area + areas) - both
        fine = ~(high <= low).any(axis=1) & ~(both <= 0) & ~(area <= 0) & ~(areas <= 0) & ~(joined <= 0)
        return fine & (both / joined > np.float32(limit))


def _area(low: Float32Array, high: Float32Array) -> Float32Array:
    sides = high - low
    return np.asarray(sides[:, 1] * sides[:, 0])


def ranked(scores: npt.NDArray[Any]) -> Indexes:
    """Indexes, the highest score first, of equal ones the lowest index."""
    return np.argsort(-scores.astype(np.float32), kind="stable")


def kept(
    boxes: npt.NDArray[Any], order: npt.NDArray[Any], limit: float, most: int, *, centred: bool = False
) -> Indexes:
    """Of sorted boxes those that overlap none kept before them, at most `most`, in their order."""
    found: list[int] = []
    left = np.asarray(order, np.int64)
    while len(left) and len(found) < most:
        best, left = int(left[0]), left[1:]
        found.append(best)
        left = left[~overlapping(boxes[best], boxes[left], limit, centred)]
    return np.array(found, np.int64)


def suppressed(
    boxes: npt.NDArray[Any],
    scores: npt.NDArray[Any],
    least: float | None,
    limit: float,
    most: int,
    *,
    centred: bool = False,
) -> Indexes:
    """Boxes with a score above `least` that none with a better score overlaps by more than `limit`, best first.

    Without a least score all have one but those whose score is NaN.
    """
    order = ranked(scores)
    ranks = scores.astype(np.float32)[order]
    order = order[~np.isnan(ranks) if least is None else ranks > np.float32(least)]
    return kept(boxes, order, limit, most, centred=centred)


def suppressed_by_class(
    boxes: npt.NDArray[Any],
    scores: npt.NDArray[Any],
    least: float | None,
    limit: float,
    most: int,
    *,
    centred: bool = False,
) -> Indexes:
    """Rows [image, class, box] of what is selected of boxes [N, boxes, 4] with scores [N, classes, boxes]."""
    rows = [
        (n, c, i)
        for n, c in np.ndindex(scores.shape[:2])
        for i in suppressed(boxes[n], scores[n, c], least, limit, most, centred=centred)
    ]
    return np.array(rows, np.int64).reshape(-1, 3)
