"""Sigmoid16: logistic and tanh of 16-bit numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.common import channels
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import Sigmoid16
from codegen.ops.sigmoid16 import sigmoid_table
from codegen.records import record


@record
class SigmoidContext:
    """Elements per pixel, and the function's name."""

    channels: int
    function: str


def _fit(node: NodeOf[Sigmoid16]) -> Fit:
    return Fit(SigmoidContext(channels(node.ins[0].shape), node.op.function), curve_fields(node.op))


def curve_fields(op: Sigmoid16) -> tuple[Field, ...]:
    """Params `steps` = [factor, half, shift] and `table`, as lam_logistic_s16 and lam_tanh_s16 take them."""
    return (
        Field("steps", np.array([op.multiplier, (1 << op.shift) >> 1, op.shift], np.int32)),
        Field("table", np.array(sigmoid_table(), np.uint16)),
    )


SIGMOID16 = Kernel(
    "sigmoid16", "sigmoid16.c.j2", "pixels", (Sigmoid16,), _fit, one_input=True, headers=("lam_fixed.h",)
)

KERNELS: tuple[Kernel[Any], ...] = (SIGMOID16,)
