"""FloatAnchorBoxes: box by box."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.common import constant_fields
from codegen.kernels.float32.common import HEADER
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sides import sides
from codegen.ops.float32 import FloatAnchorBoxes
from codegen.records import record

_NAMES = ("codes", "anchors")


@record
class AnchorsContext:
    """C expressions of codes and anchors; boxes, and numbers of a code."""

    codes: str
    anchors: str
    count: int
    columns: int


def _fit(node: NodeOf[FloatAnchorBoxes]) -> Fit | None:
    if not node.dynamic:
        return None
    codes, anchors = sides(node, _NAMES)
    count, columns = node.ins[0].shape
    known = Field("scales", np.array(node.op.scales, np.float32), about="of y, x, h, w")
    return Fit(AnchorsContext(codes, anchors, count, columns), (known, *constant_fields(node, _NAMES)))


ANCHORS = Kernel(
    "anchor_boxes",
    "float32/anchor_boxes.c.j2",
    "whole",
    (FloatAnchorBoxes,),
    _fit,
    headers=(HEADER, "lam_anchors.h"),
)

KERNELS: tuple[Kernel[Any], ...] = (ANCHORS,)
