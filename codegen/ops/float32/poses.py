"""FloatPoses: poses of people from maps of keypoints.

scores: f32[1, H, W, 17] before their sigmoid;  offsets: f32[1, H, W, 34] to the keypoints, along y, then along x;
edges: f32[1, H, W, 64] along 16 edges between keypoints: forward along y, along x, backward along y, along x
->  y: f32[most, 53]: y and x of 17 keypoints, their scores, the pose's score, and 1; rows that are left over are 0

The best keypoint that no pose has begins a pose, whose others are found along the edges, the better ones first, and
moved by their offsets `STEPS` times.  A pose's score is the mean of its keypoints' behind their sigmoid, without those
that a better pose has nearby (codegen/float32/poses.py, which states every sum).
Source: google-coral/libcoral, coral/posenet/posenet_decoder.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.float32.poses import EDGES, KEYPOINTS, Limits, Maps, found
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs, whole
from codegen.ops.float32.types import require_real
from codegen.ops.limits import require
from codegen.records import record

CHANNELS = (KEYPOINTS, 2 * KEYPOINTS, 4 * EDGES)
"""Of each input."""
COLUMNS = 3 * KEYPOINTS + 2


@record
class FloatPoses:
    """Poses of people: keypoints in pixels, their scores and the pose's, the best first, then rows of zeros.

    `most` of them; `begin`: the least score, before its sigmoid, that a pose begins with; `least`: of a pose; `near`:
    the square of the distance, in places, at which two keypoints are one; `stride`: pixels of a place.
    """

    most: int
    begin: float
    least: float
    near: float
    stride: int

    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == len(CHANNELS), self, f"takes scores, offsets and edges, got {len(ins)} inputs")
        require_real(self, ins)
        shapes = [t.shape for t in ins]
        size = shapes[0][:3]
        fits = len(size) == 3 and size[0] == 1 and shapes == [(*size, count) for count in CHANNELS]
        require(fits and self.most >= 1, self, f"maps {[list(s) for s in shapes]}, {self.most} poses at most")
        return (TensorType((self.most, COLUMNS), DType.F32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        y = np.zeros((self.most, COLUMNS), np.float32)
        limits = Limits(self.begin, self.least, self.near)
        for row, (pose, score) in zip(y, found(Maps(*(x[0] for x in ins)), limits, self.most), strict=False):
            row[: 2 * KEYPOINTS] = (pose.places * np.float32(self.stride)).reshape(-1)
            row[2 * KEYPOINTS :] = (*pose.scores, score, 1)
        return (y,)

    def work(self, ins: Types, outs: Types) -> int:
        """Each score is compared with its neighbours."""
        return 9 * ins[0].elements

    rows = whole
    macs = no_macs
    in_place = never_in_place
