"""ResizeBilinear, one output row per call from two input rows.  ResizeNearest is data movement (move.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels.average import is_wide, mean_fields, mean_fits, mean_headers, mean_mode
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import ResizeBilinear
from codegen.ops.resize import WEIGHT_ONE, Tap
from codegen.records import record


@record
class BilinearContext:
    """Literals of one bilinear resize; `one` is the sum of the two weights of a pair, `acc_t` the type of sums."""

    mode: str
    acc_t: str
    w_out: int
    channels: int
    one: int

    @property
    def whole(self) -> int:
        """The sum of a pixel's four weights."""
        return self.one * self.one


def _fit(node: NodeOf[ResizeBilinear]) -> Fit | None:
    op, x, y = node.op, node.ins[0], node.outs[0]
    how = op.averaging(x.dtype)
    mode, counts = mean_mode(how, pool=True), [WEIGHT_ONE**2]
    if not mean_fits(how, mode, counts, x.dtype):
        return None
    context = BilinearContext(mode, "int64_t" if is_wide(how) else "int32_t", y.shape[2], y.shape[3], WEIGHT_ONE)
    taps = (
        Field("position", np.array([j0 for j0, _, _ in op.w], np.int32)),
        Field("row_weight", _second_weights(op.h)),
        Field("column_weight", _second_weights(op.w)),
    )
    return Fit(context, (*mean_fields(how, mode, counts), *taps), headers=mean_headers(mode))


def _second_weights(taps: Sequence[Tap]) -> Array:
    """Weight of the second tap; 0, which the kernel takes for absent, where both are the same."""
    return np.array([weight if i1 > i0 else 0 for i0, i1, weight in taps], np.int16)


BILINEAR = Kernel("resize_bilinear", "resize_bilinear.c.j2", "row", (ResizeBilinear,), _fit, one_input=True)

KERNELS: tuple[Kernel[Any], ...] = (BILINEAR,)
