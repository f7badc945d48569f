"""FloatAnchorBoxes: boxes from what a detector says of its anchors.

codes: f32[B, 4 or more], y, x, h, w first;  anchors: f32[B, 4], y, x, h, w  ->  y: f32[B, 4], two corners y, x.

    centre = float32(code_yx / scale_yx * anchor_hw + anchor_yx)
    half = float32(0.5 * e^(code_hw / scale_hw) * anchor_hw)          each in float64 until it is rounded
    y = centre - half, centre + half

Source: tensorflow/lite/kernels/detection_postprocess.cc (codegen/float32/anchors.py states e^x).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.float32.anchors import decoded
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs, whole
from codegen.ops.float32.types import require_real
from codegen.ops.limits import require
from codegen.records import record


@record
class FloatAnchorBoxes:
    """Two corners of each box, of codes and anchors; `scales` of y, x, h and w divide the codes."""

    scales: tuple[float, float, float, float]

    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 2, self, f"takes codes and anchors, got {len(ins)} inputs")
        require_real(self, ins)
        codes, anchors = (t.shape for t in ins)
        fits = len(codes) == 2 and codes[1] >= 4 and anchors == (codes[0], 4)
        require(fits, self, f"codes {list(codes)} of anchors {list(anchors)}")
        return (TensorType(anchors, DType.F32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (decoded(ins[0], ins[1], np.array(self.scales, np.float32)),)

    rows = whole
    macs = no_macs
    in_place = never_in_place
