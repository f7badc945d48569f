"""What has a size that depends on numbers: of constants only, for a network has fixed shapes.

NonMaxSuppression of computed boxes has as many rows as it may have at most.

Source: onnx/docs/Operators.md, NonMaxSuppression, Unique and MelWeightMatrix.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.float32.boxes import suppressed_by_class
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ops.float32 import boxes as selection
from codegen.records import record

UNUSED = selection.UNUSED
"""In rows of NonMaxSuppression that are left over."""


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


@record
class NonMaxSuppression:
    """Rows [image, class, box] of the best boxes of each class that overlap no better one, then rows of -1.

    Boxes [N, boxes, 4] are two corners, or the middle and the sizes where `centred`; scores are [N, classes, boxes].
    `most` boxes of one class; `limit`: the greatest intersection over union; `least`: the score that must be passed.
    `filled`: whether what follows counts on the rows of -1, which ONNX's operator has not.
    """

    most: int
    limit: float
    least: float | None = None
    centred: bool = False
    filled: bool = False

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Rows for as many as there may be."""
        boxes, scores = (t.shape for t in ins)
        if len(boxes) != 3 or boxes[2] != 4 or len(scores) != 3 or scores[::2] != boxes[:2]:
            raise ShapeMismatch(f"scores {list(scores)} of boxes {list(boxes)}")
        return (RealType((selection.selected_rows(boxes, scores, self.most), 3), np.dtype(np.int64)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """In float32."""
        found = self.selected(ins)
        rows = selection.selected_rows(ins[0].shape, ins[1].shape, self.most)
        return (np.pad(found, ((0, rows - len(found)), (0, 0)), constant_values=UNUSED),)

    def selected(self, ins: Sequence[Array]) -> Array:
        """The rows that are used."""
        return suppressed_by_class(ins[0], ins[1], self.least, self.limit, self.most, centred=self.centred)


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
