"""Means and maxima of real numbers: over a sliding window, one output row per call; means over the whole map."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Scratch
from codegen.ir.op import NodeOf
from codegen.kernels.float32.common import HEADER, Bounds, block_of, bound_fields, bounds_of, flat_field
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.pool import PoolContext, pool_sizes
from codegen.kernels.sizes import InBlocks, MapSizes
from codegen.ops import MaxPool2D
from codegen.ops.float32 import FloatAveragePool2D, FloatGlobalAveragePool
from codegen.records import record


@record(kw_only=True)
class FloatPoolContext(InBlocks, PoolContext):
    """Sizes of one pool."""

    bounds: Bounds

    @property
    def parted(self) -> tuple[int, int]:
        """All channels."""
        return self.channels, block_of(self.channels)


@record(kw_only=True)
class FloatGlobalContext(MapSizes):
    """Sizes of one global mean."""

    bounds: Bounds


def _fit_mean(node: NodeOf[FloatAveragePool2D]) -> Fit:
    op = node.op
    rows, columns = op.counts(node.ins[0].shape)
    context = FloatPoolContext(**pool_sizes(node, op.h, op.w), bounds=bounds_of(op))
    return Fit(context, (flat_field("row_taps", rows), flat_field("column_taps", columns), *bound_fields(op)))


def _fit_global(node: NodeOf[FloatGlobalAveragePool]) -> Fit:
    x, op = node.ins[0].shape, node.op
    context = FloatGlobalContext(rows=x[1], columns=x[2], channels=x[3], bounds=bounds_of(op))
    sums = Scratch("sums", x[3] * np.dtype(np.float32).itemsize)
    return Fit(context, (flat_field("pixels", [x[1] * x[2]]), *bound_fields(op)), (sums,))


def _fit_max(node: NodeOf[MaxPool2D]) -> Fit | None:
    if not node.ins[0].dtype.is_float:
        return None
    return Fit(FloatPoolContext(**pool_sizes(node, node.op.h, node.op.w), bounds=Bounds(low=False, high=False)))


MAX = Kernel("max_pool_f32", "float32/max_pool.c.j2", "row", (MaxPool2D,), _fit_max, one_input=True, headers=(HEADER,))
MEAN = Kernel(
    "average_pool_f32",
    "float32/average_pool.c.j2",
    "row",
    (FloatAveragePool2D,),
    _fit_mean,
    one_input=True,
    headers=(HEADER,),
)
GLOBAL_MEAN = Kernel(
    "global_average_f32",
    "float32/global_average.c.j2",
    "accumulate",
    (FloatGlobalAveragePool,),
    _fit_global,
    one_input=True,
    headers=(HEADER,),
)

KERNELS: tuple[Kernel[Any], ...] = (MAX, MEAN, GLOBAL_MEAN)
