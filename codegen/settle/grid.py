"""Constants that nothing has quantized, as integers of 8 bits.

Decides: the scale and zero point of such a constant: those that hold every number exactly where there are some, else
those that cover its range; and how far its numbers then are from what they should be.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codegen import fixedpoint
from codegen.ir.quant import Array, DType
from codegen.settle.states import IntConst

_LEVELS = 255
_TINY = float(np.finfo(np.float32).tiny)


def on_grid(constant: Array, dtype: DType) -> tuple[IntConst, float]:
    """The constant as `dtype` of one scale and zero point, and the largest error of its real numbers."""
    best: tuple[IntConst, float] | None = None
    for scale in _scales(constant.astype(np.float64)):
        ints, zero = _quantized(constant, scale, dtype)
        scales, zeros = (np.broadcast_to(part, ints.shape) for part in (np.float32(scale), np.int64(zero)))
        real = fixedpoint.dequantize_linear(ints, scale, zero).astype(np.float64)
        error = float(np.abs(real - constant).max())
        if best is None or error < best[1]:
            best = IntConst(ints, scales, zeros), error
    assert best is not None, "the range is always a candidate"
    return best


def common_divisor(real: Array) -> float:
    """The largest number of which all numbers are multiples, within float32's rounding; 0.0 where there is none.

    Numbers that take more than 510 different sizes, or are larger than 510 times their divisor, have none.
    """
    levels = np.unique(np.abs(real[real != 0])).astype(np.float64)
    if not 0 < len(levels) <= 2 * _LEVELS:
        return 0.0
    divisor, least = 0.0, float(levels[-1]) / (2 * _LEVELS)
    for level in levels.tolist():
        a, b = max(level, divisor), min(level, divisor)
        while b > least:
            a, b = b, abs(a - b * round(a / b))
        divisor = a
        if divisor <= max(least, _TINY):
            return 0.0
    return float(np.float32(levels[-1] / round(levels[-1] / divisor)))


def _scales(real: Array) -> Iterator[float]:
    """What one step may be worth: the numbers' common divisor, and a 255th of their range."""
    low, high = min(float(real.min()), 0.0), max(float(real.max()), 0.0)
    divisor = common_divisor(real)
    if divisor and divisor * _LEVELS >= (high - low) * (1 - 1e-6):
        yield divisor
    yield float(np.float32(max((high - low) / _LEVELS, _TINY)))


def _quantized(constant: Array, scale: float, dtype: DType) -> tuple[Array, int]:
    low = min(float(constant.min()), 0.0)
    zero = int(np.clip(np.rint(dtype.low - low / scale), dtype.low, dtype.high))
    ints = fixedpoint.quantize_linear(constant.astype(np.float32), scale, zero, dtype.low, dtype.high)
    return ints.astype(dtype.numpy), zero
