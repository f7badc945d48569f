"""FloatPoses: keypoints that poses may begin with are put in order, and poses are followed one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.float32.poses import KEYPOINTS
from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.kernels.common import constant_fields
from codegen.kernels.float32.common import HEADER
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sides import sides
from codegen.ops.float32 import FloatPoses
from codegen.ops.float32.poses import COLUMNS
from codegen.records import record

_NAMES = ("scores", "offsets", "edges")
_WORD = DType.F32.bytes


@record
class PosesContext:
    """C expressions of the maps; rows, columns, poses at most, and numbers of each."""

    scores: str
    offsets: str
    edges: str
    height: int
    width: int
    most: int
    columns: int

    @property
    def means_at(self) -> int:
        """Numbers of all poses in the scratch, behind which are their means."""
        return self.most * 3 * KEYPOINTS

    @property
    def order_at(self) -> int:
        """Numbers of poses and means, behind which are indexes."""
        return self.means_at + self.most


def _fit(node: NodeOf[FloatPoses]) -> Fit | None:
    if not node.dynamic:
        return None
    op, (_, height, width, _) = node.op, node.ins[0].shape
    scores, offsets, edges = sides(node, _NAMES)
    context = PosesContext(scores, offsets, edges, height, width, op.most, COLUMNS)
    numbers = np.array([op.begin, op.least, op.near, op.stride], np.float32)
    known = Field("limits", numbers, about="scores to begin with and of a pose, a squared distance, pixels of a place")
    indexes = max(node.ins[0].elements, op.most)
    scratch = Scratch("poses", (context.order_at + indexes) * _WORD)
    return Fit(context, (known, *constant_fields(node, _NAMES)), (scratch,))


POSES = Kernel("poses", "float32/poses.c.j2", "whole", (FloatPoses,), _fit, headers=(HEADER, "lam_poses.h"))

KERNELS: tuple[Kernel[Any], ...] = (POSES,)
