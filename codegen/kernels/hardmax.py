"""Which channel of each pixel is the largest."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.common import channels
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import Hardmax
from codegen.records import record


@record
class HardmaxContext:
    """Elements per pixel."""

    channels: int


def _fit(node: NodeOf[Hardmax]) -> Fit:
    op = node.op
    params = (Field("value", np.array([op.chosen, op.other], op.y_dtype.numpy)),)
    return Fit(HardmaxContext(channels(node.ins[0].shape)), params)


HARDMAX = Kernel("hardmax", "hardmax.c.j2", "pixels", (Hardmax,), _fit, one_input=True)

KERNELS: tuple[Kernel[Any], ...] = (HARDMAX,)
