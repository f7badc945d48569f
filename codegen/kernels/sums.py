"""Sums of many: several tensors of one scale, and the elements so far along an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.shape import Shape
from codegen.kernels.common import constant_fields, range_field
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sizes import AlongSizes
from codegen.ops import AddN, CumulativeSum
from codegen.ops.add_n import LEFT
from codegen.records import record


@record
class AddNContext:
    """Expressions of the computed inputs and of the constants, and how many elements each has."""

    rows: tuple[str, ...]
    constants: tuple[str, ...]
    count: int
    left: int


@record(kw_only=True)
class CumulativeContext(AlongSizes):
    """Sizes of one running sum."""

    left: int


def along_sizes(shape: Shape, axis: int, *, exclusive: bool, reverse: bool) -> dict[str, Any]:
    """The fields of AlongSizes, by name, for an axis of a tensor."""
    return {
        "outer": math.prod(shape[:axis]),
        "depth": shape[axis],
        "inner": math.prod(shape[axis + 1 :]),
        "exclusive": exclusive,
        "reverse": reverse,
    }


def _fit_add_n(node: NodeOf[AddN]) -> Fit | None:
    if not node.dynamic:
        return None
    op, constants = node.op, constant_fields(node, [f"known{i}" for i in range(len(node.ins))])
    rows = tuple(f"rows[{place}]" for place in range(len(node.dynamic)))
    context = AddNContext(rows, tuple(field.name for field in constants), node.outs[0].elements, 1 << LEFT)
    total = Field("sum", np.array([op.offset(len(node.ins)), *op.scaling()], np.int32))
    return Fit(context, (total, range_field(op.y_quant.zero_point, op.low, op.high), *constants))


def _fit_cumulative(node: NodeOf[CumulativeSum]) -> Fit:
    op, shape = node.op, node.ins[0].shape
    along = along_sizes(shape, op.axis, exclusive=op.exclusive, reverse=op.reverse)
    total = Field("sum", np.array([op.x.zero_point, *op.scaling()], np.int32))
    return Fit(CumulativeContext(**along, left=1 << LEFT), (total, range_field(op.y_quant.zero_point, op.low, op.high)))


ADD_N = Kernel("add_n", "add_n.c.j2", "whole", (AddN,), _fit_add_n, headers=("lam_requant.h",))
CUMULATIVE = Kernel(
    "cumulative_sum",
    "cumulative_sum.c.j2",
    "whole",
    (CumulativeSum,),
    _fit_cumulative,
    one_input=True,
    headers=("lam_requant.h", "lam_wrap.h"),
)

KERNELS: tuple[Kernel[Any], ...] = (ADD_N, CUMULATIVE)
