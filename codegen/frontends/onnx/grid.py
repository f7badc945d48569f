"""Constants that nothing has quantized, as integers of 8 bits.

Decides: the scale and zero point of such a constant: those that hold every number exactly where there are some, else
those that cover its range; and how far its numbers then are from what they should be.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codegen import fixedpoint
from codegen.frontends.onnx.states import IntConst
from codegen.ir.quant import Array, DType

_LEVELS = 255
_TINY = float(np.finfo(np.float32).tiny)


def on_grid(constant: Array, dtype: DType) -> tuple[IntConst, float]:
    """The constant as `dtype` of one scale and zero point, and the largest error of its real numbers."""
    best: tuple[IntConst, float] | None = None
    for scale in _scales(constant.astype(np.float64)):
        ints, zero = _quantized(constant, scale, dtype)
        wide = [np.broadcast_to(part, ints.shape) for part in (np.float32(scale), np.int64(zero))]
        real = fixedpoint.dequantize_linear(ints, scale, zero).astype(np.float64)
        error = float(np.abs(real - constant).max())
        if best is None or error < best[1]:
            best = IntConst(ints, *wide), error
    assert best is not None, "the range is always a candidate"
    return best


def _scales(real: Array) -> Iterator[float]:
    """What one step may be worth: the numbers' common divisor, and a 255th of their range."""
    low, high = min(float(real.min()), 0.0), max(float(real.max()), 0.0)
    levels = np.unique(np.abs(real[real != 0]))
    if 0 < len(levels) <= 2 * _LEVELS:
        divisor = _common_divisor(levels)
        if divisor > _TINY and divisor * _LEVELS >= high - low:
            yield float(np.float32(levels[-1] / round(levels[-1] / divisor)))
    yield float(np.float32(max((high - low) / _LEVELS, _TINY)))


def _common_divisor(levels: Array) -> float:
    """The largest number of which all levels are multiples, within float32's rounding; 0.0 where it is too small."""
    divisor, least = 0.0, float(levels[-1]) / (2 * _LEVELS)
    for level in levels.tolist():
        a, b = max(level, divisor), min(level, divisor)
        while b > least:
            a, b = b, a - b * round(a / b)
            b = abs(b)
        divisor = a
        if divisor <= least:
            return 0.0
    return divisor


def _quantized(constant: Array, scale: float, dtype: DType) -> tuple[Array, int]:
    low = min(float(constant.min()), 0.0)
    zero = int(np.clip(np.rint(dtype.low - low / scale), dtype.low, dtype.high))
    ints = fixedpoint.quantize_linear(constant.astype(np.float32), scale, zero, dtype.low, dtype.high)
    return ints.astype(dtype.numpy), zero
