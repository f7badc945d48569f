"""Poses of people from maps of keypoints.  Source: google-coral/libcoral, coral/posenet, PosenetDecoderOp."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.float32.poses import EDGES, KEYPOINTS
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ops.float32.poses import CHANNELS, FloatPoses
from codegen.records import record

COORDINATES = 2 * KEYPOINTS
"""Of a pose."""


@record
class Poses:
    """Keypoints in pixels, their scores, those of poses, and how many there are, of scores, offsets and edges.

    At most `most` poses with a score of `least` or more; keypoints less than `radius` pixels apart are one.  A place of
    the maps has `stride` pixels, in which offsets are.  What is left over is 0.
    """

    most: int
    least: float
    radius: float
    stride: int

    @property
    def begin(self) -> float:
        """The score of a keypoint before its sigmoid that is `least` behind it; NaN where there is none."""
        odds = 1.0 / (self.least + 1e-6) - 1.0
        return float(np.float32(-math.log(odds))) if odds > 0 else math.nan

    @property
    def share(self) -> np.float32:
        """Places of one pixel."""
        return np.float32(1.0 / self.stride)

    @property
    def decoder(self) -> FloatPoses:
        """The operator on offsets in places."""
        reach = np.float32(self.radius) / np.float32(self.stride)
        return FloatPoses(self.most, self.begin, self.least, float(reach * reach), self.stride)

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Keypoints, their scores, scores, and the count."""
        shapes = [t.shape for t in ins]
        size = shapes[0][:3]
        if len(size) != 3 or size[0] != 1 or 0 in size or shapes != [(*size, count) for count in CHANNELS]:
            told = f"maps of {KEYPOINTS} keypoints and {EDGES} edges have {', '.join(map(str, CHANNELS))} channels"
            raise ShapeMismatch(f"{[list(s) for s in shapes]}: {told}")
        found = ((1, self.most, KEYPOINTS, 2), (1, self.most, KEYPOINTS), (1, self.most), (1,))
        return tuple(RealType(shape) for shape in found)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """In float32."""
        (rows,) = self.decoder.golden([ins[0], *(x * self.share for x in ins[1:])])
        places, scores, own, there = np.split(rows, (COORDINATES, COORDINATES + KEYPOINTS, rows.shape[1] - 1), 1)
        return (
            places.reshape(1, self.most, KEYPOINTS, 2),
            scores[None],
            own.reshape(1, self.most),
            there.sum(dtype=np.float32).reshape(1),
        )
