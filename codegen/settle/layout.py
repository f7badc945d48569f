"""The two orders of a feature map's axes, as permutations; and what brings axes to the end and back."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.ir.op import Op
from codegen.ops import Reshape, Transpose

TO_NHWC = (0, 2, 3, 1)
TO_NCHW = (0, 3, 1, 2)


def axes_last(shape: Sequence[int], axes: Sequence[int]) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """What makes one axis the last one, or one of all from an axis on; and what undoes that."""
    rank, axis = len(shape), axes[0]
    if len(axes) > 1:
        rows = (math.prod(shape[:axis]), math.prod(shape[axis:]))
        return (Reshape(rows),), (Reshape(tuple(shape)),)
    if axis == rank - 1:
        return (), ()
    perm = (*(i for i in range(rank) if i != axis), axis)
    return (Transpose(perm),), (Transpose(tuple(int(i) for i in np.argsort(perm))),)
