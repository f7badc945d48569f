"""FloatNonMaxSuppression: which boxes are the best of those that overlap, class by class.

boxes: f32[N, B, 4];  scores: f32[N, C, B]  ->  y: s32[N * C * min(most, B), 3].

    of each image and class, boxes by their scores, the best first, of equal ones the first:
    one is taken where its score > least, and no box taken before has with it
          intersection / ((area + area) - intersection) > limit
    at most `most` of them; y has their [image, class, box], then -1 in rows that are left over

A score that is NaN is none; boxes without an area overlap nothing.  Source: onnx/docs/Operators.md, NonMaxSuppression,
in ONNX Runtime's order of operations (codegen/float32/boxes.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.float32.boxes import suppressed_by_class
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs, whole
from codegen.ops.float32.types import require_real
from codegen.ops.limits import require
from codegen.records import record

UNUSED = -1
"""What rows are filled with that no box is left for."""


@record
class FloatNonMaxSuppression:
    """Rows [image, class, box] of the best boxes that overlap no better one of their class, then rows of -1.

    `most` of each image and class; `limit` of intersection over union; `least` score to pass, if any; boxes are two
    corners, or `centred`: a middle and two sizes.
    """

    most: int
    limit: float
    least: float | None = None
    centred: bool = False

    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 2, self, f"takes boxes and scores, got {len(ins)} inputs")
        require_real(self, ins)
        boxes, scores = (t.shape for t in ins)
        fits = len(boxes) == 3 and boxes[2] == 4 and len(scores) == 3 and scores[::2] == boxes[:2]
        require(fits and self.most >= 1, self, f"scores {list(scores)} of boxes {list(boxes)}, {self.most} at most")
        return (TensorType((selected_rows(boxes, scores, self.most), 3), DType.S32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        boxes, scores = ins
        found = suppressed_by_class(boxes, scores, self.least, self.limit, self.most, centred=self.centred)
        y = np.full((selected_rows(boxes.shape, scores.shape, self.most), 3), UNUSED, np.int32)
        y[: len(found)] = found
        return (y,)

    def work(self, ins: Types, outs: Types) -> int:
        """Each box is compared with each that may be taken."""
        return ins[1].elements * min(self.most, ins[0].shape[1])

    rows = whole
    macs = no_macs
    in_place = never_in_place


def selected_rows(boxes: Sequence[int], scores: Sequence[int], most: int) -> int:
    """Rows for all that may be selected, of boxes and scores of these shapes."""
    return scores[0] * scores[1] * min(most, boxes[1])
