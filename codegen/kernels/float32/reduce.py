"""FloatReduce and FloatCumulative: an accumulator for each output, over the whole tensor or one row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from codegen.ir.op import NodeOf
from codegen.kernels.float32.common import HEADER
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.move import strides
from codegen.kernels.sizes import AlongSizes
from codegen.kernels.sums import along_sizes
from codegen.ops.float32 import FloatCumulative, FloatReduce

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
_HEADERS = {
    "l1": ("lam_f32_elementwise.h",),
    "squares": ("lam_f32.h",),
    "maximum": ("lam_f32.h",),
    "minimum": ("lam_f32.h",),
}


@dataclass(frozen=True, slots=True)
class ReduceContext:
    """Loops over the outputs and over the terms of each; what an accumulator is first, and behind one more term."""

    outputs: Walk
    terms: Walk
    first: str
    step: str
    divisor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatCumulativeContext(AlongSizes):
    """What an accumulator is first, and behind one more element."""

    first: str
    step: str


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
    return _reduced(node.op, node.ins[0].shape, node.op.axes)


def _fit_row(node: NodeOf[FloatReduce]) -> Fit | None:
    """One row, where each output row is made of one input row."""
    lead = len(node.ins[0].shape) - 2
    if lead <= 0 or not node.op.rows(0, node.ins, node.outs).is_same:
        return None
    return _reduced(node.op, node.ins[0].shape[lead:], [a - lead for a in node.op.axes])


def _reduced(op: FloatReduce, shape: tuple[int, ...], axes: Sequence[int]) -> Fit:
    steps, kept = strides(shape), [i for i in range(len(shape)) if i not in axes]
    outputs = walk([shape[i] for i in kept], [steps[i] for i in kept])
    terms = walk([shape[i] for i in axes], [steps[i] for i in axes])
    divisor = math.prod(shape[i] for i in axes) if op.name == "mean" else 0
    context = ReduceContext(outputs, terms, _FIRST.get(op.name, "0.0f"), _STEPS[op.name], divisor)
    return Fit(context, headers=_HEADERS.get(op.name, ()))


def _fit_cumulative(node: NodeOf[FloatCumulative]) -> Fit:
    op, shape = node.op, node.ins[0].shape
    along = along_sizes(shape, op.axis, exclusive=op.exclusive, reverse=op.reverse)
    return Fit(FloatCumulativeContext(**along, first=_FIRST.get(op.name, "0.0f"), step=_STEPS[op.name]))


REDUCE = Kernel(
    "float_reduce", "float32/reduce.c.j2", "whole", (FloatReduce,), _fit_whole, one_input=True, headers=(HEADER,)
)
REDUCE_ROW = Kernel(
    "float_reduce_row", "float32/reduce.c.j2", "row", (FloatReduce,), _fit_row, one_input=True, headers=(HEADER,)
)
CUMULATIVE = Kernel(
    "float_cumulative",
    "float32/cumulative.c.j2",
    "whole",
    (FloatCumulative,),
    _fit_cumulative,
    one_input=True,
    headers=(HEADER,),
)

KERNELS: tuple[Kernel[Any], ...] = (REDUCE_ROW, REDUCE, CUMULATIVE)
