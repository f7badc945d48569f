"""Averages: a sum of centred integers, divided and requantized.  Shared by pooling and bilinear resizing.

acc is an exact sum of (x - zx), `divisor` a whole number (taps, or the sum of integer weights).

    single   the Requant of factor float64(sx) / (float64(sy) * divisor): half up; for sums that may pass 32 bits, of
             both integer modes, the multiplier has the bits that they leave (ops/requantize.py)
    mul8     the same factor with a multiplier of 7 bits
    pot*     the same multiplier, which for 3 x 3 taps is no power of two, rounded as the mode's name says
    tflite   the same factor by TFLite's MultiplyByQuantizedMultiplier; `as_mean` takes TFLite's MEAN: M, e of sx / sy
             by two roundings; with k = min(floor(log2(divisor)), 32, 31 + e) the multiplier becomes M * 2^k / divisor,
             truncated, and the exponent e - k
    ort      y = zy + rint(clamp(((float32(acc) * sx) / float32(divisor)) / sy)): one float32 product and two float32
             divisions, in that order, each rounded; half to even.  Nearest to ONNX Runtime's float kernel between
             DequantizeLinear and QuantizeLinear, and equal to it where its float32 sum is exact.

Source of the last: tensorflow/lite/kernels/internal/reference/reduce.h, QuantizedMeanOrSum.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen import fixedpoint
from codegen.ir.quant import Array, DType, Mode, Quant, Requant, is_pot, rounding_of
from codegen.ops.requantize import apply_requant, requant_by_factor
from codegen.records import record


@record
class Averaging:
    """From what, to what, and how an average is requantized."""

    x_quant: Quant
    y_quant: Quant
    y_dtype: DType
    low: int
    high: int
    mode: Mode
    as_mean: bool = False
    reach: int = 0
    """The largest size of a sum where that may pass 32 bits."""


def average_requant(how: Averaging, divisor: int) -> Requant:
    """The Requant for one divisor, of every mode but ort."""
    bounds = (how.low, how.high)
    if how.mode == "tflite" and how.as_mean:
        step = requant_by_factor("tflite", np.asarray(how.x_quant.scale / how.y_quant.scale), how.y_quant, bounds)
        (multiplier,), (exponent,) = step.multiplier, step.shift
        bits = min(divisor.bit_length() - 1, 32, 31 + exponent)
        return replace(step, multiplier=((multiplier << bits) // divisor,), shift=(exponent - bits,))
    factor = np.float64(how.x_quant.scale) / (np.float64(how.y_quant.scale) * divisor)
    if is_pot(how.mode):
        step = requant_by_factor("single", np.asarray(factor), how.y_quant, bounds, reach=how.reach)
        return replace(step, rounding=rounding_of(how.mode))
    return requant_by_factor(how.mode, np.asarray(factor), how.y_quant, bounds, reach=how.reach)


def averaged(how: Averaging, acc: Array, divisor: int) -> Array:
    """The outputs for exact sums that share one divisor."""
    if how.mode != "ort":
        return apply_requant(average_requant(how, divisor), acc, how.y_dtype)
    with np.errstate(over="ignore", under="ignore"):
        real = acc.astype(np.float32) * np.float32(how.x_quant.scale) / np.float32(divisor)
    y = how.y_quant
    return fixedpoint.quantize_linear(real, y.scale, y.zero_point, how.low, how.high).astype(how.y_dtype.numpy)


def mean(how: Averaging, acc: Array, count: int) -> Array:
    """As `averaged`; in mode `tflite` between equal scales TFLite's division: halves away from zero, zx in the sum."""
    if how.mode != "tflite" or how.x_quant != how.y_quant:
        return averaged(how, acc, count)
    total = acc.astype(np.int64) + count * how.x_quant.zero_point
    rounded = np.sign(total) * ((np.abs(total) + count // 2) // count)
    return np.asarray(np.clip(rounded, how.low, how.high).astype(how.y_dtype.numpy))
