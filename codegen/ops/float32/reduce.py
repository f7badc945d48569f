"""FloatReduce and FloatCumulative: many numbers to one, along axes.

x: f32 -> y: f32; terms are taken one by one, in row order of the axes, by one accumulator per output.

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
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from codegen.ir.op import SAME_ROW, WHOLE, Limit, Op, RowRule
from codegen.ir.permutation import Perm
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, moved_axis, never_in_place, no_macs, whole
from codegen.ops.float32.binary import OPERATIONS
from codegen.ops.limits import infer_f32, only_input, require

ReductionName = Literal["sum", "mean", "l1", "squares", "product", "maximum", "minimum"]
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


@dataclass(frozen=True, slots=True)
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
        require(x.dtype is DType.F32, self, f"takes f32, got {x.dtype.value}")
        fits = sorted(set(self.axes)) == list(self.axes) and all(0 <= a < len(x.shape) for a in self.axes)
        require(fits and bool(self.axes), self, f"{list(x.shape)} has no axes {list(self.axes)} in that order")
        return (TensorType(tuple(1 if i in self.axes else n for i, n in enumerate(x.shape)), DType.F32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        count = math.prod(x.shape[a] for a in self.axes)
        terms = np.moveaxis(x, self.axes, range(len(self.axes))).reshape(
            count, *(n for i, n in enumerate(x.shape) if i not in self.axes)
        )
        step = TERMS[self.name]
        with np.errstate(all="ignore"):
            acc = first_of(self.name, terms)
            for term in terms:
                acc = step(acc, term)
            acc = acc / np.float32(count) if self.name == "mean" else acc
        return (np.asarray(np.expand_dims(acc, self.axes), np.float32),)

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
        kept = axes == tuple(sorted(axes)) or self.name in ("maximum", "minimum")
        return replace(self, axes=tuple(sorted(axes))) if kept else None


def first_of(name: str, terms: Array) -> Array:
    """The accumulator before the first term."""
    if name in ("maximum", "minimum"):
        return np.asarray(terms[0])
    return np.full(terms.shape[1:], 1 if name == "product" else 0, np.float32)


@dataclass(frozen=True, slots=True)
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

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        terms = np.moveaxis(ins[0], self.axis, 0)
        y, acc = np.empty_like(terms), first_of(self.name, terms)
        with np.errstate(all="ignore"):
            for i in range(len(terms))[:: -1 if self.reverse else 1]:
                more = TERMS[self.name](acc, terms[i])
                y[i] = acc if self.exclusive else more
                acc = more
        return (np.ascontiguousarray(np.moveaxis(y, 0, self.axis)),)

    infer = infer_f32
    rows = whole
    macs = no_macs
    in_place = never_in_place
    in_layout = moved_axis
