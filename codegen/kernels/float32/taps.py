"""FloatTaps: weighted sums along an axis, of the whole tensor or of one row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.float32.common import HEADER
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops.float32 import FloatTaps
from codegen.records import record


@record
class TapsContext:
    """Elements before the axis, along it before and after, behind it; the taps of each output; the numbers' C type."""

    outer: int
    length: int
    places: int
    inner: int
    taps: int
    type: str

    @property
    def is_real(self) -> bool:
        """Whether they are real numbers."""
        return self.type == "float"

    @property
    def slice(self) -> int:
        """Elements from one place before the axis to the next."""
        return self.length * self.inner


def _fit_row(node: NodeOf[FloatTaps]) -> Fit | None:
    """One row, where rows are made one by one."""
    lead = len(node.ins[0].shape) - 2
    return _fitted(node, lead) if lead > 0 and node.op.axis >= lead else None


def _fit_whole(node: NodeOf[FloatTaps]) -> Fit:
    return _fitted(node, 0)


def _fitted(node: NodeOf[FloatTaps], lead: int) -> Fit:
    op, shape = node.op, node.ins[0].shape
    outer, inner = math.prod(shape[lead : op.axis]), math.prod(shape[op.axis + 1 :])
    kind = node.ins[0].dtype
    context = TapsContext(outer, shape[op.axis], len(op.places), inner, len(op.places[0]), kind.ctype)
    at = Field("place", np.array(op.places, np.int32).reshape(-1))
    weights = Field("weight", np.array(op.weights, kind.numpy).reshape(-1))
    return Fit(context, (at, weights), headers=(HEADER,) if kind.is_float else ("lam_wrap.h",))


TEMPLATE = "float32/taps.c.j2"
KERNELS: tuple[Kernel[Any], ...] = (
    Kernel("float_taps_row", TEMPLATE, "row", (FloatTaps,), _fit_row, one_input=True),
    Kernel("float_taps", TEMPLATE, "whole", (FloatTaps,), _fit_whole, one_input=True),
)
