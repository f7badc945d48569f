"""Triangle: a matrix, with one number beyond a diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.common import row_shape
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import Triangle
from codegen.records import record


@record
class TriangleContext:
    """Size of a matrix, and the C comparison of c - r that keeps an element."""

    rows: int
    columns: int
    keeps: str
    offset: int


def _fit(node: NodeOf[Triangle]) -> Fit:
    op, (rows, columns) = node.op, row_shape(node.ins[0])
    offset = max(-rows, min(op.offset, columns))  # beyond these nothing changes
    context = TriangleContext(rows, columns, ">=" if op.upper else "<=", offset)
    return Fit(context, (Field("value", np.array([op.value], node.ins[0].dtype.numpy)),))


TRIANGLE = Kernel("triangle", "triangle.c.j2", "row", (Triangle,), _fit, one_input=True)

KERNELS: tuple[Kernel[Any], ...] = (TRIANGLE,)
