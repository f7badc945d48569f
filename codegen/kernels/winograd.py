"""Two neighbouring outputs of a window of three columns from 4 products for 6 (Winograd's F(2, 3)): what kernels share.

Of inputs d0 to d3 and weights g0 to g2, for each input channel and kernel row,

    p0 = (d0 - d2) * g0                    p2 = (d1 + d2) * (g0 + g1 + g2)
    p1 = (d3 - d1) * g2                    p3 = (d2 - d1) * (g0 - g1 + g2)

are summed over both, each by itself; the outputs are p0 + (p2 + p3) / 2 and p1 + (p2 - p3) / 2.  What is halved is even
whatever the inputs are, so that they are the very sums of the plain form.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.kernels.weighted import Weighted
from codegen.ops import Conv2D

MOST_ROWS = 32
COLUMNS, OUTPUTS, PLANES = 3, 2, 4


def is_in_pairs(op: Conv2D) -> bool:
    """Whether outputs read three columns, and neighbours neighbouring ones."""
    return op.groups == op.w.stride == op.w.dilation == 1 and op.w.size == COLUMNS and op.h.size <= MOST_ROWS


def plane_weights(sums: Weighted) -> tuple[Array, Array]:
    """Weights of p0 and p1, which are bytes, and of p2 and p3, int16: [outputs, plane, rows, inputs]."""
    g0, g1, g2 = np.moveaxis(sums.weights.astype(np.int16), 2, 0)
    return np.stack([g0, g2], 1).astype(np.int8), np.stack([g0 + g1 + g2, g0 - g1 + g2], 1)


def planes_reach(sums: Weighted) -> Array:
    """For each output the most that its four planes' sums come to in size, one after another and in any order."""
    low, high = sums.x.low, sums.x.high
    differ, both = high - low, 2 * max(abs(low), high)
    outer, inner = (np.abs(part.astype(np.int64)).reshape(len(part), 2, -1).sum(2) for part in plane_weights(sums))
    reach: Array = outer.sum(1) * differ + inner[:, 0] * both + inner[:, 1] * differ
    return reach
