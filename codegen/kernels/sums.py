"""Sums of many: several tensors of one scale, and the elements so far along an axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.common import only_dynamic, range_field
from codegen.kernels.kernel import adapted
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


def _accepts_add_n(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, AddN) and bool(node.dynamic)


def _add_n(node: NodeView) -> AddNContext:
    rows = tuple(f"rows[{place}]" for place in range(len(node.dynamic)))
    return AddNContext(rows, tuple(field.name for field in _constants(node)), node.outs[0].elements, 1 << LEFT)


def _add_n_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, AddN)
    sums = np.array([op.offset(len(node.ins)), *op.scaling()], np.int32)
    return (Field("sum", sums), range_field(op.y_quant.zero_point, op.low, op.high), *_constants(node))


def _constants(node: NodeView) -> tuple[Field, ...]:
    known = enumerate(node.consts)
    return tuple(Field(f"known{i}", np.ascontiguousarray(c).reshape(-1)) for i, c in known if c is not None)


def _accepts_cumulative(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, CumulativeSum) and only_dynamic(node)


def _cumulative(node: NodeView) -> CumulativeContext:
    op, shape = node.op, node.ins[0].shape
    assert isinstance(op, CumulativeSum)
    outer, inner = (int(np.prod(part)) for part in (shape[: op.axis], shape[op.axis + 1 :]))
    return CumulativeContext(outer, shape[op.axis], inner, 1 << LEFT, op.exclusive, op.reverse)


def _cumulative_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, CumulativeSum)
    sums = np.array([op.x.zero_point, *op.scaling()], np.int32)
    return (Field("sum", sums), range_field(op.y_quant.zero_point, op.low, op.high))


ADD_N = adapted("add_n", "add_n.c.j2", "whole", _accepts_add_n, _add_n, _add_n_params)
CUMULATIVE = adapted(
    "cumulative_sum", "cumulative_sum.c.j2", "whole", _accepts_cumulative, _cumulative, _cumulative_params
)
