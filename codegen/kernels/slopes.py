"""TwoSlopes: element by element, one factor above the zero point and one below."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.fixedpoint import INT32_MAX, INT32_MIN
from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.common import channels, range_field
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import TwoSlopes
from codegen.records import record


@record
class SlopesContext:
    """Elements per pixel; whether numbers below count by their size; whether one factor serves both sides."""

    channels: int
    mirrored: bool
    one: bool


def _fit(node: NodeOf[TwoSlopes]) -> Fit:
    op = node.op
    one = op.above == op.below and not op.mirrored
    return Fit(SlopesContext(channels(node.ins[0].shape), op.mirrored, one), _params(op))


def _params(op: TwoSlopes) -> tuple[Field, ...]:
    zero = op.y_quant.zero_point
    # bounds that 32 bits and the zero point keep anyway: less the zero point, which the C does first, they fit 32 bits
    low, high = max(op.low, INT32_MIN + zero), min(op.high, INT32_MAX + zero)
    return (
        Field("scaling", np.array([*op.above, *op.below], np.int32)),
        Field("zero", np.array([op.x_zero_point], np.int32)),
        range_field(zero, low, high),
    )


TWO_SLOPES = Kernel(
    "two_slopes", "two_slopes.c.j2", "pixels", (TwoSlopes,), _fit, one_input=True, headers=("lam_requant.h",)
)

KERNELS: tuple[Kernel[Any], ...] = (TWO_SLOPES,)
