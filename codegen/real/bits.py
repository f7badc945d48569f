"""Questions about single numbers, and their bits.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import TypeUnsupported
from codegen.ir.element import element_name, element_type, is_bfloat16
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.real.images import of_first
from codegen.records import record


@record
class IsNaN:
    """Whether an element is not a number."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Truth values."""
        return (RealType(ins[0].shape, np.dtype(bool)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Each element's own."""
        return (np.isnan(ins[0]),)

    one_image = of_first


@record
class IsInf:
    """Whether an element is infinite, of the signs that count."""

    negative: bool = True
    positive: bool = True

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Truth values."""
        return (RealType(ins[0].shape, np.dtype(bool)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Each element's own."""
        (x,) = ins
        return (((x == np.inf) & self.positive) | ((x == -np.inf) & self.negative),)

    one_image = of_first


@record
class BitwiseNot:
    """All bits turned."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As the input."""
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Each element's own."""
        return (np.bitwise_not(ins[0]),)

    one_image = of_first


@record
class BitCast:
    """The same bits as numbers of another type."""

    to: str

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The same shape."""
        given, to = ins[0].dtype, element_type(self.to)
        if given.itemsize != to.itemsize or is_bfloat16(given) or is_bfloat16(to):
            raise TypeUnsupported(f"the bits of {element_name(given)} as {self.to}")
        return (RealType(ins[0].shape, to),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Each element's own."""
        return (np.ascontiguousarray(ins[0]).view(self.to).reshape(ins[0].shape),)

    one_image = of_first


@record
class CastNarrow:
    """The numbers as integers of a few bits, cut towards zero, the upper bits left out; held in a type of eight."""

    to: str
    bits: int

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The same shape."""
        return (RealType(ins[0].shape, np.dtype(self.to)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Each element's own."""
        span = 1 << self.bits
        least = span // 2 if np.dtype(self.to).kind == "i" else 0
        with np.errstate(invalid="ignore"):
            whole = ins[0].astype(np.int64)
        return (((whole + least) % span - least).astype(self.to),)

    one_image = of_first
