"""What has a size that depends on numbers: of constants only, for a network has fixed shapes.

Source: onnx/docs/Operators.md, NonMaxSuppression, Unique and MelWeightMatrix.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array


def unique(x: Array, axis: int | None, *, ordered: bool) -> tuple[Array, Array, Array, Array]:
    """Different elements, or slices along `axis`, sorted unless `ordered` as they first occur.

    Behind them where each first occurs, which of them each element is, and how often it occurs.
    """
    values, first, back, counts = np.unique(x, True, True, True, axis=axis)
    back = back.reshape(-1)
    if ordered:
        order = np.argsort(first)
        values, first, counts = np.take(values, order, axis or 0), first[order], counts[order]
        back = np.argsort(order)[back]
    return values, first.astype(np.int64), back.astype(np.int64), counts.astype(np.int64)


def non_max_suppression(
    boxes: Array, scores: Array, most: int, overlap: float, least: float | None, *, centred: bool
) -> Array:
    """For each image and class the places of the best boxes, those left out that overlap a better one by more.

    Args:
        boxes: [N, boxes, 4] as two corners (y, x), or as the centre and sizes (x, y, w, h) where `centred`.
        scores: [N, classes, boxes].
        most: boxes of one class at most.
        overlap: the greatest intersection over union.
        least: the score that must be passed, if any.
        centred: see `boxes`.
    """
    chosen = []
    for n, c in np.ndindex(scores.shape[:2]):
        corners, kept = _corners(boxes[n], centred=centred), list[int]()
        for i in np.argsort(-scores[n, c], kind="stable"):
            if len(kept) >= most or (least is not None and not scores[n, c, i] > least):
                break
            if all(_shared(corners[i], corners[k]) <= overlap for k in kept):
                kept.append(int(i))
        chosen += [(n, c, i) for i in kept]
    return np.array(chosen, np.int64).reshape(-1, 3)


def mel_weights(bands: int, length: int, rate: int, low: float, high: float) -> Array:
    """Triangles [spectrum, bands] over the bins of a transform of `length`, evenly spaced in mel between two Hz."""
    ends = 2595 * np.log10(1 + np.array([low, high], np.float64) / 700)
    mel = ends[0] + np.arange(bands + 2) * (ends[1] - ends[0]) / (bands + 2)
    edges = np.floor((length + 1) * 700 * (10 ** (mel / 2595) - 1) / rate)
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    bins = np.arange(length // 2 + 1)[:, None]
    rising = np.where(centre == left, 1.0, (bins - left) / np.maximum(centre - left, 1))
    falling = (right - bins) / np.maximum(right - centre, 1)
    rises, falls = (bins >= left) & (bins <= centre), (bins >= centre) & (bins < right)
    return np.where(falls, falling, np.where(rises, rising, 0.0))


def _corners(boxes: Array, *, centred: bool) -> Array:
    """Lower and upper corner of each box."""
    a, b = boxes[:, :2], boxes[:, 2:]
    if centred:
        return np.concatenate([a - b / 2, a + b / 2], 1)
    return np.concatenate([np.minimum(a, b), np.maximum(a, b)], 1)


def _shared(a: Array, b: Array) -> float:
    """Intersection over union; 0 where one of the boxes is empty."""
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    areas = [float(np.prod(box[2:] - box[:2])) for box in (a, b)]
    if min(sides) <= 0 or min(areas) <= 0:
        return 0.0
    shared = float(np.prod(sides))
    return shared / (sum(areas) - shared)
