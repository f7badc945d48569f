"""Sums of many: several tensors of one scale, and the elements so far along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.kernels.common import constant_fields, range_field
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import AddN, CumulativeSum
from codegen.ops.add_n import LEFT


@dataclass(frozen=True, slots=True)
class AddNContext:
    """Expressions of the computed inputs and of the constants, and how many elements each has."""

    rows: tuple[str, ...]
    constants: tuple[str, ...]
    count: int
    left: int


@dataclass(frozen=True, slots=True)
class CumulativeContext:
    """Elements before, along and behind the axis; what the walk along it does."""

    outer: int
    depth: int
    inner: int
    left: int
    exclusive: bool
    reverse: bool

    @property
    def last(self) -> int:
        """The last place along the axis."""
        return self.depth - 1

    @property
    def slice(self) -> int:
        """Elements from one place before the axis to the next."""
        return self.depth * self.inner


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
    outer, inner = (int(np.prod(part)) for part in (shape[: op.axis], shape[op.axis + 1 :]))
    context = CumulativeContext(outer, shape[op.axis], inner, 1 << LEFT, op.exclusive, op.reverse)
    total = Field("sum", np.array([op.x.zero_point, *op.scaling()], np.int32))
    return Fit(context, (total, range_field(op.y_quant.zero_point, op.low, op.high)))


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
