"""Compare: a flag for each pair of numbers, broadcast as numpy does.

a, b: one type -> y: u8, 1 where the relation holds and 0 elsewhere.

    without scales   y = a relation b, of the numbers as they are; NaN is in no relation but !=
    with scales      y = a' relation b',  a' = ((a - za) << 8) scaled by sa with two roundings, b' alike: TFLite
    exact            y = a' relation b',  a' = (a - za) * sa rounded once to a float32, b' alike, in integers:
                     sa = m * 2^e with m of 24 bits, (a - za) * m rounded to 24 significant bits, half to even,
                     times 2^(e - the lesser e)

Source: tensorflow/lite/micro/kernels/comparisons.cc, tensorflow/lite/kernels/internal/reference/comparisons.h.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, broadcast_rows, in_place_when_equal, no_macs
from codegen.ops.limits import EIGHT_BIT, broadcast_type, limit
from codegen.ops.tflite_tables import scaled
from codegen.records import record

LEFT = 8
"""Bits by which both sides are shifted up before they are brought to real numbers."""

_MANTISSA = 24
_MOST_PLACES = 20
"""Of 63 bits those that a product of 17 by 24 leaves, but for a carry."""

RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": np.equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "<": np.less,
    "<=": np.less_equal,
    "!=": np.not_equal,
}


@record
class Compare:
    """Whether a relation holds between numbers of two tensors."""

    relation: str
    a: Quant | None
    b: Quant | None
    exact: bool = False

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        limit(
            "LAM-OPS-LOGIC-01",
            "both inputs must have one type, with scales s8, u8 or s16",
            lambda op, ins: _fit(op, ins),
        ),
        limit(
            "LAM-OPS-LOGIC-02",
            "scales must be below 2^14, those of s16 below 2^7",
            lambda op, ins: op.exact or all(q.scale < 2.0 ** (30 - LEFT - 8 * ins[0].dtype.bytes) for q in _quants(op)),
        ),
        limit(
            "LAM-OPS-LOGIC-10",
            f"scales of numbers that are compared exactly must lie within 2^{_MOST_PLACES} of each other",
            lambda op, ins: not op.exact or is_near(*_quants(op)),
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (broadcast_type(self, ins, DType.U8, None),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        taken = reals if self.exact else comparable
        sides = (taken(x, quant) for x, quant in zip(ins, (self.a, self.b), strict=True))
        return (np.asarray(RELATIONS[self.relation](*sides)).astype(np.uint8),)

    def scalings(self) -> tuple[tuple[int, int], ...]:
        """Multiplier and exponent of a and of b; none without scales.  Exact ones are mantissa and places."""
        if self.exact:
            parts = [math.frexp(q.scale) for q in _quants(self)]
            least = min(exponent for _, exponent in parts)
            return tuple((int(mantissa * 2.0**_MANTISSA), exponent - least) for mantissa, exponent in parts)
        pairs = (fixedpoint.quantize_multiplier_tflite(q.scale) for q in _quants(self))
        return tuple((int(multiplier), int(exponent)) for multiplier, exponent in pairs)

    rows = broadcast_rows
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout


def comparable(x: Array, quant: Quant | None) -> Any:
    """Integers in the steps in which both sides are compared."""
    return x if quant is None else scaled((x.astype(np.int64) - quant.zero_point) << LEFT, quant.scale)


def reals(x: Array, quant: Quant | None) -> Array:
    """The float32 numbers that integers stand for."""
    return x if quant is None else fixedpoint.dequantize_linear(x, quant.scale, quant.zero_point)


def is_near(a: Quant, b: Quant) -> bool:
    """Whether numbers of both scales can be compared exactly."""
    return abs(math.frexp(a.scale)[1] - math.frexp(b.scale)[1]) <= _MOST_PLACES


def _quants(op: Compare) -> tuple[Quant, ...]:
    return () if op.a is None or op.b is None else (op.a, op.b)


def _fit(op: Compare, ins: Types) -> bool:
    plain = tuple(DType)
    return ins[0].dtype is ins[1].dtype and ins[0].dtype in ((*EIGHT_BIT, DType.S16) if _quants(op) else plain)
