"""L2Norm: the length of each pixel, then its channels divided by it."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.common import channels
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import L2Norm
from codegen.ops.l2_norm import OUTPUT_BITS
from codegen.records import record


@record
class NormContext:
    """Elements per pixel, and the fractional bits of the output."""

    channels: int
    bits: int


def _fit(node: NodeOf[L2Norm]) -> Fit:
    zero = Field("zero", np.array([node.op.x_zero_point], np.int32))
    return Fit(NormContext(channels(node.ins[0].shape), OUTPUT_BITS), (zero,))


L2_NORM = Kernel(
    "l2_norm", "l2_norm.c.j2", "pixels", (L2Norm,), _fit, one_input=True, headers=("lam_fixed.h", "lam_requant.h")
)

KERNELS: tuple[Kernel[Any], ...] = (L2_NORM,)
