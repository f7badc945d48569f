"""PiecewiseLinear: element by element, the piece found by halving."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.common import channels, only_dynamic
from codegen.kernels.kernel import adapted
from codegen.ops import PiecewiseLinear


@dataclass(frozen=True, slots=True)
class PiecesContext:
    """Elements per pixel."""

    channels: int


def _accepts(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, PiecewiseLinear) and only_dynamic(node)


def _context(node: NodeView) -> PiecesContext:
    return PiecesContext(channels(node.ins[0].shape))


def _params(node: NodeView) -> tuple[Field, ...]:
    """`value`, `slope` and `knot`, one of each per piece, and `range` = [pieces, low, high]."""
    op = node.op
    assert isinstance(op, PiecewiseLinear)
    knots, values, slopes = np.array(op.pieces, np.int32).T
    return (
        Field("value", values),
        Field("slope", slopes),
        Field("range", np.array([len(knots), op.y_dtype.low, op.y_dtype.high], np.int32)),
        Field("knot", knots.astype(np.int16)),
    )


PIECEWISE_LINEAR = adapted("piecewise_linear", "piecewise_linear.c.j2", "pixels", _accepts, _context, _params)
