"""What an SSD detector finds: boxes decoded from anchors, the best of those that overlap, and their best classes.

Source: tensorflow/lite/kernels/detection_postprocess.cc, which decodes boxes in float64.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.float32.anchors import decoded
from codegen.float32.boxes import suppressed, suppressed_by_class
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.records import record

Found = tuple[Array, Array, Array]
"""Numbers of boxes, and [detections, classes of each]: classes and scores."""


@record
class Detections:
    """Boxes, classes, scores and their count, of codes [1, B, 4 or more], scores [1, B, K] and anchors [B, 4].

    A box is decoded from y, x, h, w and its anchor's, each divided by its one of `scales`, to two corners:

        centre = yx / scale * anchor_hw + anchor_yx;  half = 0.5 * exp(hw / scale) * anchor_hw;  centre -+ half

    in float64, but for the last difference and sum.

    Scores are those of the last `classes` of K.  Without `regular` boxes are selected by the best of their scores, and
    each has its best `each` classes.  With it they are selected class by class, at most `per_class` of one, and the
    best of all are taken, of equal scores the first.  Either way there are at most `most`, with a score of `least` or
    more, that overlap no better one by more than `limit`.  Rows that are left over of the `most * each` are 0.
    """

    most: int
    classes: int
    least: float
    limit: float
    scales: tuple[float, float, float, float]
    each: int = 1
    per_class: int = 100
    regular: bool = False

    @property
    def passed(self) -> float:
        """The greatest score that is too low."""
        return float(np.nextafter(np.float32(self.least), np.float32(-np.inf)))

    @property
    def kept(self) -> int:
        """Boxes of one class at most, where they are selected class by class: all may be those that are taken."""
        return min(self.most, self.per_class)

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Boxes, classes, scores, and the count."""
        boxes, scores, anchors = (t.shape for t in ins)
        fits = len(boxes) == 3 and boxes[0] == 1 and boxes[1] >= 1 and boxes[2] >= 4
        fits = fits and scores in {(*boxes[:2], self.classes + i) for i in range(2)} and anchors == (boxes[1], 4)
        if not fits:
            told = f"scores {list(scores)} of {self.classes} classes and anchors {list(anchors)}"
            raise ShapeMismatch(f"{told} for boxes {list(boxes)}")
        rows = self.most * self.each
        return tuple(RealType(shape) for shape in ((1, rows, 4), (1, rows), (1, rows), (1,)))

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """In float32, but for the decoding."""
        boxes, ranks = self.decoded(ins[0][0], ins[2]), ins[1][0, :, -self.classes :]
        places, classes, scores = (self._by_class if self.regular else self._by_best)(boxes, ranks)
        found = np.repeat(boxes[places][:, None], classes.shape[1], 1)
        parts = [self._filled(part) for part in (found, classes, scores)]
        return (*parts, np.array([len(places)], np.float32))

    def decoded(self, codes: Array, anchors: Array) -> Array:
        """Corners [B, 4]."""
        return decoded(codes, anchors, np.array(self.scales, np.float32))

    def _by_best(self, boxes: Array, ranks: Array) -> Found:
        places = suppressed(boxes, ranks.max(1), self.passed, self.limit, self.most)
        classes = np.argsort(-ranks[places], 1, kind="stable")[:, : self.each]
        return places, classes, np.take_along_axis(ranks[places], classes, 1)

    def _by_class(self, boxes: Array, ranks: Array) -> Found:
        rows = suppressed_by_class(boxes[None], ranks.T[None], self.passed, self.limit, self.kept)
        scores = ranks[rows[:, 2], rows[:, 1]]
        best = np.argsort(-scores, kind="stable")[: self.most]
        return rows[best, 2], rows[best, 1:2], scores[best, None]

    def _filled(self, part: Array) -> Array:
        """Numbers [detections, classes of each, ...] in their rows, the others 0."""
        wide = np.pad(
            part, ((0, 0), (0, (1 if self.regular else self.each) - part.shape[1]), *((0, 0),) * (part.ndim - 2))
        )
        flat = wide.reshape(-1, *part.shape[2:]).astype(np.float32)
        return np.pad(flat, ((0, self.most * self.each - len(flat)), *((0, 0),) * (flat.ndim - 1)))[None]
