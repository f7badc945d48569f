"""WholeArithmetic: sums, products, quotients, powers, roots and logarithms of numbers that are counts, without a scale.

a, b: s32 -> y: s32, broadcast as numpy does.

    +  -  *   the low 32 bits in two's complement: what leaves 32 bits wraps around
    /         the quotient towards zero
    //        the largest number that is not above the quotient
    %         a - b * (a // b): it has the sign of b
    fmod      a - b * (a / b): it has the sign of a
    & | ^     bit by bit
    << >>>    by b bits, zeros come in; 0 where b is below 0 or above 31
    >>        by b bits, the sign comes in; only signs where b is below 0 or above 31
    power     a to the power of b, as + and * have it; where b is below 0 the quotient, as in /, of 1 by that to the -b
    root      the square root of a * 2^b, rounded down; 0 where a is below 0, or b below 0 or above 30
    log       the natural logarithm of a in units of 2^-24, within 2^-22, plus b as in +; -2^31 where a is not above 0

TFLite leaves two things open.  Here a quotient by 0 is the highest number, the lowest one, or 0 where a is 0 as well,
and a remainder by 0 is 0; -2^31 divided by -1 wraps around to itself.
Source: tensorflow/lite/kernels/internal/reference/{add,sub,mul,div}.h, tensorflow/lite/kernels/floor_div.cc and
floor_mod.cc.  Twins: lam_quotient, lam_floor_quotient, lam_floor_remainder, lam_power, lam_root, lam_log and their kin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, any_layout, broadcast_rows, in_place_when_equal, no_macs
from codegen.ops.fixed_functions import logarithm
from codegen.ops.limits import broadcast_type, limit
from codegen.records import record


def _divided(f: Callable[[Any, Any], Any], by_zero: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: np.where(b == 0, by_zero(a), f(a, np.where(b == 0, 1, b)))


def _end(a: Any) -> Any:
    """The highest number above 0, the lowest one below it."""
    return np.clip(np.sign(a) << 40, DType.S32.low, DType.S32.high)


_BITS = (1 << 32) - 1


def whole_power(a: Any, b: Any) -> Any:
    """What leaves 64 bits wraps around."""
    quotient = np.where(a == 0, DType.S32.high, np.where(a == 1, 1, np.where(a == -1, 1 - 2 * (b & 1), 0)))
    return np.where(b < 0, quotient, np.power(a, np.maximum(b, 0)))


def _root(a: Any, b: Any) -> Any:
    """Float64 is one off at most, where a number of 61 bits is near a square."""
    square = np.where((a >= 0) & (b >= 0) & (b <= 30), a, 0) << np.clip(b, 0, 30)
    near = np.sqrt(square.astype(np.float64)).astype(np.int64)
    near -= near * near > square
    return near + ((near + 1) * (near + 1) <= square)


LOG_BITS = 24
"""Behind the point of a logarithm, which has 7 before it."""


def _log(a: Any, b: Any) -> Any:
    """A whole number has 31 integer bits; small ones have 16 zeros behind the point, as `logarithm` cuts bits off."""
    a, b = np.broadcast_arrays(a, b)
    zeros = np.where(a < 1 << 16 - 1, 16, 0)
    found = logarithm(np.maximum(a, 1) << zeros, 31 - zeros, 31 - LOG_BITS) + b
    return np.where(a > 0, found, DType.S32.low)


OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": _divided(lambda a, b: np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b)), _end),
    "//": _divided(np.floor_divide, _end),
    "%": _divided(np.mod, np.zeros_like),
    "fmod": _divided(np.fmod, np.zeros_like),
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    ">>": lambda a, b: a >> np.where((b >= 0) & (b < 32), b, 31),
    "<<": lambda a, b: np.where((b >= 0) & (b < 32), (a & _BITS) << np.clip(b, 0, 31), 0),
    ">>>": lambda a, b: np.where((b >= 0) & (b < 32), (a & _BITS) >> np.clip(b, 0, 31), 0),
    "power": whole_power,
    "root": _root,
    "log": _log,
}


@record
class WholeArithmetic:
    """An operation on pairs of plain numbers."""

    operation: str

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        limit(
            "LAM-OPS-ELEMENTWISE-19", "both inputs must be s32", lambda op, ins: all(t.dtype is DType.S32 for t in ins)
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (broadcast_type(self, ins, DType.S32, None),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        a, b = (x.astype(np.int64) for x in ins)
        return (np.asarray(OPERATIONS[self.operation](a, b)).astype(np.int32),)

    rows = broadcast_rows
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
