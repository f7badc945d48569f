"""PiecewiseLinear: element by element, the piece found by halving."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.common import channels
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import PiecewiseLinear
from codegen.records import record


@record
class PiecesContext:
    """Elements per pixel."""

    channels: int


def _fit(node: NodeOf[PiecewiseLinear]) -> Fit:
    return Fit(PiecesContext(channels(node.ins[0].shape)), _params(node.op))


def _params(op: PiecewiseLinear) -> tuple[Field, ...]:
    """`value`, `slope` and `knot`, one of each per piece, the number of `pieces`, and the `bounds` of the output."""
    knots, values, slopes = np.array(op.pieces, np.int32).T
    return (
        Field("value", values),
        Field("slope", slopes),
        Field("pieces", np.array([len(knots)], np.int32)),
        Field("bounds", np.array([op.y_dtype.low, op.y_dtype.high], np.int32)),
        Field("knot", knots.astype(np.int16)),
    )


PIECEWISE_LINEAR = Kernel(
    "piecewise_linear",
    "piecewise_linear.c.j2",
    "pixels",
    (PiecewiseLinear,),
    _fit,
    one_input=True,
    headers=("lam_pieces.h",),
)

KERNELS: tuple[Kernel[Any], ...] = (PIECEWISE_LINEAR,)
