"""InverseSqrt: 1 / sqrt(x) of a 16-bit tensor.

x: s16 -> y: s16, both of zero point 0.  One definition, TFLite Micro's:

    M, e = 1 / sqrt(x) as a multiplier of 31 bits and its exponent      ops/fixed_functions.py: inverse_sqrt
    r    = MultiplyByQuantizedMultiplier(1, M, e + 20)                  1 / sqrt(x) in steps of 2^-20
    y    = clamp(r scaled by 1 / (2^20 * sqrt(sx) * sy))                two roundings; 32767 where x <= 0

Source: tensorflow/lite/micro/kernels/elementwise.cc, which stops with an error where x < 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

import numpy as np

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, in_place_when_equal, no_macs, same_row
from codegen.ops.fixed_functions import inverse_sqrt
from codegen.ops.limits import only_input, types_among
from codegen.records import record

BITS = 20
"""Fractional bits of a root before it is scaled."""
_LEAST, _MOST = -31, 4
"""Exponents beyond which every result is 0, or 32767: roots are 2^20 / 182 at least and 2^20 at most."""


@record
class InverseSqrt:
    """One divided by the square root of a 16-bit number; in `multiplier * 2^(exponent - 31)` steps of the output."""

    multiplier: int
    exponent: int
    y_quant: Quant

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (types_among("LAM-OPS-ACTIVATION-20", 0, "the input", (DType.S16,)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (TensorType(only_input(self, ins).shape, DType.S16, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        numbers, places = np.unique(ins[0], return_inverse=True)
        roots = np.array([_root(max(int(x), 1)) for x in numbers], np.int64)
        y = fixedpoint.requantize_tflite(roots, self.multiplier, self.exponent, 0, DType.S16.low, DType.S16.high)
        return (np.where(numbers > 0, y, DType.S16.high).astype(np.int16)[places].reshape(ins[0].shape),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout


def scaled_inverse_sqrt(x: Quant, y: Quant) -> InverseSqrt:
    """The operator between two scales."""
    factor = 1.0 / (math.sqrt(x.scale) * y.scale)
    multiplier, exponent = fixedpoint.quantize_multiplier_tflite(factor)
    return InverseSqrt(int(multiplier), min(max(int(exponent) - BITS, _LEAST), _MOST), y)


@lru_cache(maxsize=1 << 15)
def _root(x: int) -> int:
    multiplier, exponent = inverse_sqrt(x)
    one = np.array([1], np.int64)
    return int(fixedpoint.requantize_tflite(one, multiplier, exponent + BITS, 0, 0, 1 << BITS)[0])
