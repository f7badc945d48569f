"""Functions of one 8-bit number as TFLite's own kernels compute them: tables of 256 entries, entry q - lowest.

What a float64 table (ops/unary.py) rounds once, TFLite computes in fixed point or float32, and differs in places.  MBQM
is MultiplyByQuantizedMultiplier, two roundings; q = x - zx; every result is clamped to the output's type.

    rescale      zy + MBQM(q, sx / sy), another factor below zero for a leaky rectifier
    logistic     gemmlowp's logistic of MBQM(q, sx * 2^27), 4 integer bits, in steps of 1/256; the ends beyond a radius
    tanh         as logistic, with gemmlowp's tanh and 7 fractional bits
    hard_swish   16-bit fixed point: x * relu6(x + 3) / 6 with one rounding per product
    float_table  round(f(sx * q) * (1 / sy)) + zy in float32, halves away from zero
    rsqrt        Newton-Raphson on 1 / sqrt(q), 5 steps

Sources: tensorflow/lite/kernels/internal/reference/{requantize,leaky_relu,hard_swish}.h, integer_ops/{logistic,tanh}.h;
tensorflow/lite/micro/kernels/{activations_common,elementwise,elu,hard_swish_common,logistic_common,tanh}.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from codegen import fixedpoint
from codegen.fixedpoint import INT32_MAX, INT32_MIN
from codegen.ir.quant import DType, Quant
from codegen.ops.fixed_functions import inverse_sqrt, logistic, tanh

Table = tuple[int, ...]
Ints = npt.NDArray[np.int64]
Curve = Callable[[npt.NDArray[np.float32]], npt.NDArray[Any]]
_INPUT_BITS = 4


def scaled(q: Ints, factor: float) -> Ints:
    """MBQM(q, factor) for a factor of either sign, saturated to 32 bits."""
    multiplier, exponent = fixedpoint.quantize_multiplier_tflite(abs(factor))
    signed = -int(multiplier) if factor < 0 else int(multiplier)
    if int(exponent) > 0:
        q = fixedpoint.saturate(q << int(exponent), INT32_MIN, INT32_MAX)
    product = fixedpoint.saturating_rounding_doubling_high_mul(q, signed)
    return fixedpoint.rounding_divide_by_pot(product, max(-int(exponent), 0))


def rescale_table(
    x: Quant, x_dtype: DType, y: Quant, y_dtype: DType, above: float, below: float, low: int, high: int
) -> Table:
    """Zy + MBQM(q, above) where q >= 0, zy + MBQM(q, below) elsewhere, within low .. high."""
    q = _centred(x, x_dtype)
    values = np.where(q >= 0, scaled(np.maximum(q, 0), above), scaled(np.minimum(q, 0), below))
    return _clamped(values + y.zero_point, low, high)


def logistic_table(x: Quant, x_dtype: DType) -> Table:
    """The logistic function for an output of scale 1/256 and zero point -128."""
    q, raw, radius = _fixed_input(x, x_dtype)
    values = fixedpoint.rounding_divide_by_pot(logistic(raw, _INPUT_BITS), 31 - 8) - 128
    values = np.where(q <= -radius, -128, np.where(q >= radius, 127, values))
    return _clamped(values, -128, 127)


def tanh_table(x: Quant, x_dtype: DType) -> Table:
    """Tanh for an output of scale 1/128 and zero point 0."""
    q, raw, radius = _fixed_input(x, x_dtype)
    values = fixedpoint.rounding_divide_by_pot(tanh(raw, _INPUT_BITS), 31 - 7)
    values = np.where(q <= -radius, -128, np.where(q >= radius, 127, values))
    return _clamped(values, -128, 127)


def hard_swish_table(x: Quant, x_dtype: DType, y: Quant, y_dtype: DType) -> Table:
    """X * relu6(x + 3) / 6."""
    hires = np.float32(1.0 / 128.0) * np.float32(x.scale)
    to_output, output_exponent = _multiplier_16(hires / np.float32(y.scale))
    to_reluish, exponent = _multiplier_16(hires / np.float32(3.0 / 32768.0))
    value = _centred(x, x_dtype) << 7
    preshift = _high_16(value, to_output)
    reluish = _left_16(value, exponent - 1) if exponent > 0 else value
    reluish = _high_16(reluish, to_reluish)
    if exponent > 0:
        reluish = _left_16(reluish, 1)
    elif exponent < 0:
        reluish = _divide_16(reluish, -exponent)
    gate = (reluish + (1 << 15)) >> 1
    product = gate * preshift
    whole = np.where(product >= 0, product >> 15, -(-product >> 15))
    shifted = _divide_16(whole, max(-output_exponent, 0))
    return _clamped(shifted + y.zero_point, y_dtype.low, y_dtype.high)


def _divide_16(x: Ints, power: int) -> Ints:
    """X / 2^power, rounded, in 16 bits: from 2^16 on the mask of the remainder is cut, and 1 or -1 is left."""
    return fixedpoint.rounding_divide_by_pot(x, power) if power < 16 else np.where(x >= 0, 1, -1)


def float_table(
    f: Curve, x: Quant, x_dtype: DType, y: Quant, y_dtype: DType, whole: Curve = fixedpoint.round_half_away
) -> Table:
    """A function evaluated in float32, in `whole` steps of the output."""
    inverse = np.float32(1) / np.float32(y.scale)
    with np.errstate(over="ignore"):
        real = np.float32(x.scale) * _centred(x, x_dtype).astype(np.float32)
        scaled_real = np.clip(f(real).astype(np.float32) * inverse, -(2.0**30), 2.0**30)
    steps = whole(scaled_real.astype(np.float32)).astype(np.int64)
    return _clamped(steps + y.zero_point, y_dtype.low, y_dtype.high)


def elu(x: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
    """exp(x) - 1 below zero, of an exponential rounded to float32 first: near zero it has steps of 2^-24."""
    power = np.exp(np.minimum(x, 0).astype(np.float64)).astype(np.float32)
    return np.where(x < 0, power - np.float32(1), x)


def abs_table(x: Quant, x_dtype: DType, y: Quant, y_dtype: DType) -> Table:
    """|x|, copied when both scales are equal."""
    size = np.abs(_centred(x, x_dtype))
    if x.scale != y.scale:
        size = scaled(size, x.scale / y.scale)
    return _clamped(size + y.zero_point, y_dtype.low, y_dtype.high)


def rsqrt_table(x: Quant, x_dtype: DType, y: Quant, y_dtype: DType) -> Table:
    """1 / sqrt(x); the largest value at 0, and below 0, where TFLite refuses to run."""
    factor = 1.0 / float(np.float32(np.sqrt(np.float32(x.scale))) * np.float32(y.scale))
    multiplier, exponent = fixedpoint.quantize_multiplier_tflite(factor)
    found = []
    for q in _centred(x, x_dtype).tolist():
        if q <= 0:
            found.append(y_dtype.high)
            continue
        root, shift = inverse_sqrt(q)
        one = _mbqm(1, root, shift + 20)
        found.append(_mbqm(one, int(multiplier), int(exponent) - 20) + y.zero_point)
    return _clamped(np.array(found, np.int64), y_dtype.low, y_dtype.high)


def _mbqm(value: int, multiplier: int, exponent: int) -> int:
    left = np.array([value << max(exponent, 0)], np.int64)
    product = fixedpoint.saturating_rounding_doubling_high_mul(
        fixedpoint.saturate(left, INT32_MIN, INT32_MAX), multiplier
    )
    return int(fixedpoint.rounding_divide_by_pot(product, min(max(-exponent, 0), 31))[0])


def _centred(x: Quant, dtype: DType) -> Ints:
    return np.arange(dtype.low, dtype.high + 1, dtype=np.int64) - x.zero_point


def _clamped(values: Ints, low: int, high: int) -> Table:
    return tuple(np.clip(values, low, high).tolist())


def _fixed_input(x: Quant, dtype: DType) -> tuple[Ints, Ints, int]:
    """The centred input, its 32-bit form with four integer bits, and the size from which the function has its ends."""
    multiplier, exponent = fixedpoint.quantize_multiplier_tflite(x.scale * 2.0 ** (31 - _INPUT_BITS))
    left = int(exponent)
    radius = (((1 << _INPUT_BITS) - 1) << (31 - _INPUT_BITS)) >> max(left, 0)
    q = _centred(x, dtype)
    inside = np.clip(q, -radius, radius)
    bounds = (INT32_MIN, INT32_MAX)
    return q, fixedpoint.requantize_tflite(inside, int(multiplier), left, 0, *bounds), radius


def _multiplier_16(factor: Any) -> tuple[int, int]:
    """A multiplier of 15 bits and its exponent."""
    multiplier, exponent = fixedpoint.quantize_multiplier_tflite(float(factor))
    most = INT32_MAX - (1 << 15)
    return 32767 if int(multiplier) >= most else (int(multiplier) + (1 << 15)) >> 16, int(exponent)


def _high_16(x: Ints, multiplier: int) -> Ints:
    """The high half of 2 * x * multiplier, rounded, for 16-bit numbers."""
    product = x * multiplier
    nudged = product + np.where(product >= 0, 1 << 14, 1 - (1 << 14))
    return np.asarray(np.where(nudged >= 0, nudged >> 15, -(-nudged >> 15)))


def _left_16(x: Ints, bits: int) -> Ints:
    return fixedpoint.saturate(x << bits, -(1 << 15), (1 << 15) - 1)
