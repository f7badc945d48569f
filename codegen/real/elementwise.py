"""Operators that take each element by itself: functions, arithmetic, comparisons, logic, choices, changes of type.

Functions of one variable are computed in float64 and rounded once; arithmetic is that of the tensors' own type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.float32.storage import as_bfloat16
from codegen.ir.element import element_name, element_type, is_bfloat16
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ops.functions import FUNCTIONS
from codegen.ops.whole import whole_power
from codegen.real.broadcast import broadcast
from codegen.real.images import of_aligned, of_first
from codegen.records import record


@record
class Function:
    """A function of `ops.FUNCTIONS` with its attributes, as pairs."""

    name: str
    attributes: tuple[tuple[str, float], ...] = ()

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As the input."""
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Each element's own."""
        x = ins[0]
        if x.dtype.kind != "f":
            return (FUNCTIONS[self.name](x, **dict(self.attributes)).astype(x.dtype),)
        return (np.asarray(FUNCTIONS[self.name](x.astype(np.float64), **dict(self.attributes))).astype(x.dtype),)

    one_image = of_first


@record
class Clip:
    """Numbers held within bounds; NaN stays."""

    low: float = -np.inf
    high: float = np.inf

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As the input."""
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The upper bound wins where the two cross."""
        (x,) = ins
        y = x if self.low == -np.inf else np.maximum(x, x.dtype.type(self.low))
        return (np.asarray(y if self.high == np.inf else np.minimum(y, x.dtype.type(self.high))),)

    one_image = of_first


def _whole_or_real(whole: Callable[..., Any], real: Callable[..., Any]) -> Callable[[Array, Array], Any]:
    return lambda a, b: (real if a.dtype.kind == "f" else whole)(a, b)


def _towards_zero(a: Array, b: Array) -> Array:
    return np.asarray((np.sign(a) * np.sign(b) * (np.abs(a) // np.where(b == 0, 1, np.abs(b)))).astype(a.dtype))


def _power(a: Array, b: Array) -> Array:
    """Of whole numbers what wraps around, and quotients towards zero."""
    kind = np.result_type(a, b)
    power = np.power if kind.kind == "f" else whole_power
    return np.asarray(power(a.astype(kind), b.astype(kind))).astype(a.dtype)


ARITHMETIC: Mapping[str, Callable[[Array, Array], Any]] = {
    "Add": np.add,
    "And": np.logical_and,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "Div": _whole_or_real(_towards_zero, np.divide),
    "Equal": np.equal,
    "FloorDiv": _whole_or_real(np.floor_divide, lambda a, b: np.floor(a / b)),
    "Fmod": np.fmod,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Max": np.maximum,
    "Min": np.minimum,
    "Mod": np.mod,
    "Mul": np.multiply,
    "NotEqual": np.not_equal,
    "Or": np.logical_or,
    "Pow": _power,
    "ShiftLeft": np.left_shift,
    "ShiftRight": np.right_shift,
    "SquaredDifference": lambda a, b: np.square(a - b),
    "Sub": np.subtract,
    "Xor": np.logical_xor,
}
_ANSWERS = frozenset(("And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "NotEqual", "Or", "Xor"))


@record
class Binary:
    """An entry of `ARITHMETIC` on two tensors that broadcast against each other."""

    kind: str

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The first input's elements, or truth values."""
        dtype = np.dtype(bool) if self.kind in _ANSWERS else ins[0].dtype
        return (RealType(broadcast(ins[0].shape, ins[1].shape), dtype),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Each pair's own; whole numbers wrap around and divide towards zero."""
        return (np.asarray(ARITHMETIC[self.kind](*ins)),)

    one_image = of_aligned


@record
class AddN:
    """The sum of tensors of one shape, from the first to the last."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As each of them."""
        if len(ins) < 2 or any(t != ins[0] for t in ins):
            raise ShapeMismatch(f"a sum of {[list(t.shape) for t in ins]}")
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Added one by one."""
        total = ins[0]
        for term in ins[1:]:
            total = total + term
        return (np.asarray(total),)

    one_image = of_aligned


@record
class Not:
    """The other truth value."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As the input."""
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Each element's own."""
        return (np.logical_not(ins[0]),)

    one_image = of_first


@record
class PRelu:
    """x where it is not below zero, slope * x elsewhere; the slope stretches to x."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As x."""
        if broadcast(ins[0].shape, ins[1].shape) != ins[0].shape:
            raise ShapeMismatch(f"slopes {list(ins[1].shape)} for a tensor {list(ins[0].shape)}")
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Each element's own."""
        x, slope = ins
        return (np.where(x < 0, slope * x, x).astype(x.dtype),)

    one_image = of_aligned


@record
class Where:
    """The second input where the first is true, the third elsewhere."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The chosen tensors' type."""
        return (ins[1].shaped(broadcast(*(t.shape for t in ins))),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Each element's own."""
        return (np.where(*ins),)

    one_image = of_aligned


_HALVES = ("bfloat16", "float16")
_HELD_BY_HALVES = ("bool", "int8", "uint8")


@record
class Cast:
    """The numbers in another type: to whole ones towards zero, to narrower floats halves to even.

    Those of bfloat16 are the nearest to the number as float32.
    """

    to: str

    def rounds(self, given: np.dtype[Any]) -> bool:
        """Whether it is to a float of 16 bits, of a type with numbers that this does not hold."""
        return self.to in _HALVES and element_name(given) not in (self.to, *_HELD_BY_HALVES)

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The same shape."""
        return (RealType(ins[0].shape, element_type(self.to)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Each element's own."""
        to = element_type(self.to)
        with np.errstate(invalid="ignore", over="ignore"):
            return (as_bfloat16(ins[0].astype(np.float32)) if is_bfloat16(to) else ins[0].astype(to),)

    one_image = of_first
