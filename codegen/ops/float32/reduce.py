"""FloatReduce and FloatCumulative: many numbers to one, along axes.

x: f32 -> y: f32, or s32 -> s32; terms are taken one by one, in row order of the axes, by one accumulator per output.
Of whole numbers every step is exact, and what does not fit 32 bits wraps around; they have no mean.  A maximum or a
minimum may be of integers of any type, as they are.

    sum         acc = 0, then acc + x
    mean        the sum divided by the count
    l1          acc = 0, then acc + |x|
    squares     acc = 0, then acc + x * x, the product rounded
    product     acc = 1, then acc * x
    maximum     acc = the first x, then the maximum of acc and x (lam_f32_maximum); minimum likewise

FloatCumulative gives each accumulator on its way: behind element i, or before it where `exclusive`.
Source: onnx/docs/Operators.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from codegen.ir.op import SAME_ROW, WHOLE, Limit, Op, RowRule
from codegen.ir.permutation import Perm
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, moved_axis, never_in_place, no_macs, whole
from codegen.ops.float32.binary import OPERATIONS
from codegen.ops.limits import only_input, require
from codegen.records import record

ReductionName = Literal["sum", "mean", "l1", "squares", "product", "maximum", "minimum"]
EXTREMES = ("maximum", "minimum")
TERMS: Mapping[str, Callable[[Any, Any], Any]] = {
    "sum": lambda acc, x: acc + x,
    "mean": lambda acc, x: acc + x,
    "l1": lambda acc, x: acc + np.abs(x),
    "squares": lambda acc, x: acc + x * x,
    "product": lambda acc, x: acc * x,
    "maximum": OPERATIONS["maximum"],
    "minimum": OPERATIONS["minimum"],
}
"""The accumulator behind one more term."""
WHOLE_TERMS: Mapping[str, Callable[[Any, Any], Any]] = {**TERMS, "maximum": np.maximum, "minimum": np.minimum}
"""The same of whole numbers, which numpy wraps around."""


@record
class FloatReduce:
    """A reduction over `axes`, which stay with size 1; they ascend."""

    name: ReductionName
    axes: tuple[int, ...]

    limits: ClassVar[tuple[Limit, ...]] = ()

    @property
    def said(self) -> str:
        """What it computes."""
        return f"A reduction, {self.name}, over axes {', '.join(map(str, self.axes))}"

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        if self.name not in EXTREMES:
            _require_numbers(self, x)
        require(self.name != "mean" or x.dtype is DType.F32, self, "whole numbers have no mean")
        fits = sorted(set(self.axes)) == list(self.axes) and all(0 <= a < len(x.shape) for a in self.axes)
        require(fits and bool(self.axes), self, f"{list(x.shape)} has no axes {list(self.axes)} in that order")
        return (TensorType(tuple(1 if i in self.axes else n for i, n in enumerate(x.shape)), x.dtype, x.quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        count = math.prod(x.shape[a] for a in self.axes)
        terms = np.moveaxis(x, self.axes, range(len(self.axes))).reshape(
            count, *(n for i, n in enumerate(x.shape) if i not in self.axes)
        )
        step = step_of(self.name, terms)
        with np.errstate(all="ignore"):
            acc = first_of(self.name, terms)
            for term in terms:
                acc = step(acc, term)
            acc = acc / np.float32(count) if self.name == "mean" else acc
        return (np.asarray(np.expand_dims(acc, self.axes), x.dtype),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """Row by row where only pixels and channels are reduced."""
        return SAME_ROW if min(self.axes) >= len(ins[0].shape) - 2 else WHOLE

    def work(self, ins: Types, outs: Types) -> int:
        """A step for each term."""
        return ins[0].elements

    macs = no_macs
    in_place = never_in_place

    def in_layout(self, perm: Perm) -> Op | None:
        """Any in which the terms keep their order; of extremes any."""
        axes = tuple(perm.index(a) for a in self.axes)
        kept = axes == tuple(sorted(axes)) or self.name in EXTREMES
        return replace(self, axes=tuple(sorted(axes))) if kept else None


def first_of(name: str, terms: Array) -> Array:
    """The accumulator before the first term."""
    if name in EXTREMES:
        return np.asarray(terms[0])
    return np.full(terms.shape[1:], 1 if name == "product" else 0, terms.dtype)


def step_of(name: str, terms: Array) -> Callable[[Any, Any], Any]:
    """What one more term makes of the accumulator."""
    return (TERMS if terms.dtype == np.float32 else WHOLE_TERMS)[name]


def _require_numbers(op: object, x: TensorType) -> None:
    plain = x.dtype is DType.F32 or (x.dtype is DType.S32 and x.quant is None)
    require(plain, op, f"takes f32 or plain s32, got {x.dtype.value}")


@record
class FloatCumulative:
    """Sums or products of the elements so far along an axis, from its end where `reverse`."""

    name: Literal["sum", "product"]
    axis: int
    exclusive: bool = False
    reverse: bool = False

    limits: ClassVar[tuple[Limit, ...]] = ()

    @property
    def said(self) -> str:
        """What it computes."""
        return (
            f"The {self.name} of the elements so far along axis {self.axis}{', from its end' if self.reverse else ''}"
        )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The input's type."""
        x = only_input(self, ins)
        _require_numbers(self, x)
        return (x,)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        terms = np.moveaxis(ins[0], self.axis, 0)
        step = step_of(self.name, terms)
        y, acc = np.empty_like(terms), first_of(self.name, terms)
        with np.errstate(all="ignore"):
            for i in range(len(terms))[:: -1 if self.reverse else 1]:
                more = step(acc, terms[i])
                y[i] = acc if self.exclusive else more
                acc = more
        return (np.ascontiguousarray(np.moveaxis(y, 0, self.axis)),)

    rows = whole
    macs = no_macs
    in_place = never_in_place
    in_layout = moved_axis
