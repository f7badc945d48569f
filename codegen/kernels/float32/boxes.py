"""FloatNonMaxSuppression: of each image and class boxes are put in order, and each is compared with those kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.kernels.common import constant_fields
from codegen.kernels.float32.common import HEADER
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sides import sides
from codegen.ops.float32 import FloatNonMaxSuppression
from codegen.records import record

_NAMES = ("boxes", "scores")


@record
class SuppressionContext:
    """C expressions of boxes and scores; images, classes, boxes; how many are kept, numbers of the output."""

    boxes: str
    scores: str
    images: int
    classes: int
    count: int
    most: int
    numbers: int
    centred: int
    above: bool

    @property
    def image_numbers(self) -> int:
        """Numbers of one image's boxes, four each."""
        return 4 * self.count


def _fit(node: NodeOf[FloatNonMaxSuppression]) -> Fit | None:
    if not node.dynamic:
        return None
    op, scores = node.op, node.ins[1].shape
    boxes, ranks = sides(node, _NAMES)
    numbers, centred, above = node.outs[0].elements, int(op.centred), op.least is not None
    images, classes, count = scores
    most = min(op.most, count)
    context = SuppressionContext(boxes, ranks, images, classes, count, most, numbers, centred, above)
    limits = np.array([op.limit] if op.least is None else [op.limit, op.least], np.float32)
    known = Field("limits", limits, about="of overlaps, and of scores where they have one")
    return Fit(context, (known, *constant_fields(node, _NAMES)), (Scratch("order", count * DType.S32.bytes),))


SUPPRESSION = Kernel(
    "non_max_suppression",
    "float32/non_max_suppression.c.j2",
    "whole",
    (FloatNonMaxSuppression,),
    _fit,
    headers=(HEADER, "lam_nms.h"),
)

KERNELS: tuple[Kernel[Any], ...] = (SUPPRESSION,)
