"""FloatReduce and FloatCumulative: an accumulator for each output, over the whole tensor or one row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from codegen.ir.op import NodeOf
from codegen.kernels.float32.common import HEADER
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.move import strides
from codegen.kernels.sizes import AlongSizes
from codegen.kernels.sums import along_sizes
from codegen.ops.float32 import FloatCumulative, FloatReduce
from codegen.records import record

Walk = tuple[tuple[int, int], ...]
"""Loops, outermost first: how often, and the elements from one place to the next."""
_FIRST = {"product": "1.0f", "maximum": "x[0]", "minimum": "x[0]"}
_STEPS = {
    "sum": "acc + v",
    "mean": "acc + v",
    "l1": "acc + lam_f32_abs(v)",
    "squares": "acc + lam_f32_product(v, v)",
    "product": "acc * v",
    "maximum": "lam_f32_maximum(acc, v)",
    "minimum": "lam_f32_minimum(acc, v)",
}
"""The accumulator behind one more term v."""
_WHOLE_STEPS = {
    "sum": "lam_wrap_i32((uint32_t)acc + (uint32_t)v)",
    "l1": "lam_wrap_i32((uint32_t)acc + ((v < 0) ? (0u - (uint32_t)v) : (uint32_t)v))",
    "squares": "lam_wrap_i32((uint32_t)acc + ((uint32_t)v * (uint32_t)v))",
    "product": "lam_wrap_i32((uint32_t)acc * (uint32_t)v)",
    "maximum": "(v > acc) ? v : acc",
    "minimum": "(v < acc) ? v : acc",
}
"""The same of whole numbers."""
_HEADERS = {
    "l1": ("lam_f32_elementwise.h",),
}
"""Beside the one of every kernel."""


@record
class Steps:
    """The C type of an accumulator, what it is first, and what it is behind one more term."""

    type: str
    first: str
    step: str


def _steps(name: str, node: NodeOf[Any]) -> tuple[Steps, tuple[str, ...]]:
    """Those of a reduction, and the headers that they need."""
    if node.ins[0].dtype.is_float:
        return Steps("float", _FIRST.get(name, "0.0f"), _STEPS[name]), (HEADER, *_HEADERS.get(name, ()))
    first = _FIRST.get(name, "0.0f").replace(".0f", "")
    step = _WHOLE_STEPS[name]
    return Steps(node.ins[0].dtype.ctype, first, step), ("lam_wrap.h",) if "lam_wrap" in step else ()


@record
class ReduceContext:
    """Loops over the outputs and over the terms of each."""

    outputs: Walk
    terms: Walk
    acc: Steps
    divisor: int


@record(kw_only=True)
class FloatCumulativeContext(AlongSizes):
    """The accumulator that runs along an axis."""

    acc: Steps


def walk(sizes: Sequence[int], steps: Sequence[int]) -> Walk:
    """The fewest loops over axes."""
    found: list[tuple[int, int]] = []
    for size, step in zip(sizes, steps, strict=True):
        if size == 1:
            continue
        if found and found[-1][1] == size * step:
            size *= found.pop()[0]
        found.append((size, step))
    return tuple(found)


def _fit_whole(node: NodeOf[FloatReduce]) -> Fit:
    return _reduced(node, node.ins[0].shape, node.op.axes)


def _fit_row(node: NodeOf[FloatReduce]) -> Fit | None:
    """One row, where each output row is made of one input row."""
    lead = len(node.ins[0].shape) - 2
    if lead <= 0 or not node.op.rows(0, node.ins, node.outs).is_same:
        return None
    return _reduced(node, node.ins[0].shape[lead:], [a - lead for a in node.op.axes])


def _reduced(node: NodeOf[FloatReduce], shape: tuple[int, ...], axes: Sequence[int]) -> Fit:
    steps, kept = strides(shape), [i for i in range(len(shape)) if i not in axes]
    outputs = walk([shape[i] for i in kept], [steps[i] for i in kept])
    terms = walk([shape[i] for i in axes], [steps[i] for i in axes])
    divisor = math.prod(shape[i] for i in axes) if node.op.name == "mean" else 0
    acc, headers = _steps(node.op.name, node)
    return Fit(ReduceContext(outputs, terms, acc, divisor), headers=headers)


def _fit_cumulative(node: NodeOf[FloatCumulative]) -> Fit:
    op, shape = node.op, node.ins[0].shape
    along = along_sizes(shape, op.axis, exclusive=op.exclusive, reverse=op.reverse)
    acc, headers = _steps(op.name, node)
    return Fit(FloatCumulativeContext(**along, acc=acc), headers=headers)


REDUCE = Kernel("float_reduce", "float32/reduce.c.j2", "whole", (FloatReduce,), _fit_whole, one_input=True)
REDUCE_ROW = Kernel("float_reduce_row", "float32/reduce.c.j2", "row", (FloatReduce,), _fit_row, one_input=True)
CUMULATIVE = Kernel(
    "float_cumulative", "float32/cumulative.c.j2", "whole", (FloatCumulative,), _fit_cumulative, one_input=True
)

KERNELS: tuple[Kernel[Any], ...] = (REDUCE_ROW, REDUCE, CUMULATIVE)
