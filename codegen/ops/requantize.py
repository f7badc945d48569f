"""From scales to a Requant, and from accumulators to activations.

Decides which function of `fixedpoint` each mode means, and the order in which scales are multiplied:

    single   clamp(zy + ((acc * M + 2^(s-1)) >> s)), M and s from float64(sx) * float64(sw) / float64(sy)
    tflite   clamp(zy + MultiplyByQuantizedMultiplier(acc, M, e)) as TFLite; `shift` holds the exponent e, positive left
    ort      zy + rint(clamp(float32(acc) * scale)), scale = float32(float32(sx * sw) / sy), as ONNX Runtime
    mul8     as single with M of 7 bits, and so is the Requant: M stands as many places higher as single has more bits
    pot*     as single, M / 2^s being a power of two (other factors are refused), and rounded as the mode's name says;
             `pot` itself rounds half up

A Requant for 64-bit accumulators (`wide`) has 15-bit multipliers and mode `single` in both integer modes: TFLite's
own 64-bit arithmetic rounds half up once, only its multiplier is rounded twice.  Where TFLite has no such operator and
the largest accumulator is known (`reach`), the multiplier has the bits that it leaves, up to 30.
Sources: docs/quantization.md; tensorflow/lite/kernels/kernel_util.cc;
onnxruntime/core/providers/cpu/quantization/qlinearconv.cc.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from codegen import fixedpoint
from codegen.errors import ScaleTooLarge
from codegen.ir.quant import Array, DType, Mode, Quant, Requant, formula_of, is_pot, rounding_of

_BLOCK = 1 << 16
_WIDE_LIMIT = 1 << fixedpoint.WIDE_MULTIPLIER_BITS


def make_requant(
    mode: Mode,
    x_scale: float,
    w_scales: Sequence[float],
    y: Quant,
    y_dtype: DType,
    low: int | None = None,
    high: int | None = None,
    *,
    wide: bool = False,
    reach: int = 0,
) -> Requant:
    """The step from an accumulator of scale x_scale * w_scale to `y`.

    Args:
        mode: the arithmetic.
        x_scale: scale of the activations.
        w_scales: one scale for all output channels, or one per channel.
        y: scale and zero point of the output.
        y_dtype: element type of the output.
        low: least output in quantized units; the type's by default.
        high: greatest output in quantized units; the type's by default.
        wide: accumulators have 64 bits.
        reach: the largest size of theirs, if known: past 32 bits they are wide, and the multiplier has the bits left.

    Raises:
        ScaleTooLarge: LAM-FIXEDPOINT-001, the factor cannot be expressed.
        ScaleNoPower: LAM-FIXEDPOINT-004, the mode shifts only, and the factor is not a power of two.
    """
    if mode == "ort":
        return _ort_requant(x_scale, w_scales, y, _bounds(y_dtype, low, high))
    factor = fixedpoint.effective_scale(x_scale, np.asarray(w_scales), y.scale)
    return requant_by_factor(mode, factor, y, _bounds(y_dtype, low, high), wide=wide, reach=reach)


def requant_by_factor(
    mode: Mode,
    factor: npt.NDArray[np.float64],
    y: Quant,
    bounds: tuple[int, int],
    *,
    wide: bool = False,
    reach: int = 0,
) -> Requant:
    """The step by a float64 factor, in every mode but ort; `wide` and `reach` as of `make_requant`."""
    factor, free = np.atleast_1d(factor), reach > fixedpoint.INT32_MAX
    if is_pot(mode):
        fixedpoint.check_powers_of_two(factor)
    if mode == "mul8":
        multiplier, shift = fixedpoint.quantize_multiplier_8(factor, 15 if wide or free else 31)
    elif free:
        multiplier, shift = fixedpoint.quantize_multiplier_wide(factor, reach)
    elif formula_of(mode) == "single":
        quantize = fixedpoint.quantize_multiplier_15 if wide else fixedpoint.quantize_multiplier_single
        multiplier, shift = quantize(factor)
    else:
        quantize = fixedpoint.quantize_multiplier_tflite_15 if wide else fixedpoint.quantize_multiplier_tflite
        multiplier, shift = quantize(factor)
    return Requant(
        mode="single" if wide or free else formula_of(mode),
        zero_point=y.zero_point,
        low=bounds[0],
        high=bounds[1],
        multiplier=tuple(multiplier.tolist()),
        shift=tuple(shift.tolist()),
        rounding=rounding_of(mode),
    )


def apply_requant(requant: Requant, acc: Array, dtype: DType) -> Array:
    """The activations of `dtype` that exact accumulators become; channels are the last axis.

    Works through blocks that fit the cache; the result does not depend on them.
    """
    channels = acc.shape[-1] if requant.per_channel else 1
    flat = acc.reshape(-1, channels)
    y = np.empty(flat.shape, dtype.numpy)
    step = max(1, _BLOCK // channels)
    for start in range(0, len(flat), step):
        part = flat[start : start + step]
        y[start : start + step] = scaled(requant, part)
    return y.reshape(acc.shape)


def scaled(requant: Requant, acc: Array) -> npt.NDArray[np.int64]:
    """The int64 results of one requantization, clamped."""
    end = (requant.zero_point, requant.low, requant.high)
    if requant.mode == "ort":
        return fixedpoint.requantize_ort(acc, np.array(requant.scale, np.float32), *end)
    multiplier, shift = np.array(requant.multiplier, np.int64), np.array(requant.shift, np.int64)
    if requant.rounding != "half_up":
        return fixedpoint.requantize_rounded(acc, multiplier, shift, *end, requant.rounding)
    if requant.mode == "tflite":
        return fixedpoint.requantize_tflite(acc, multiplier, shift, *end)
    if int(multiplier.max()) < _WIDE_LIMIT:
        return fixedpoint.requantize_single_64(acc, multiplier, shift, *end)
    return fixedpoint.requantize_single(acc, multiplier, shift, *end)


def activation_bounds(y: Quant, dtype: DType, low: float | None, high: float | None) -> tuple[int, int]:
    """The clamp of a fused activation in quantized units: QuantizeLinear of its real bounds; None is no bound."""
    return (
        dtype.low if low is None else quantize_real(low, y, dtype),
        dtype.high if high is None else quantize_real(high, y, dtype),
    )


def quantize_real(value: float, y: Quant, dtype: DType) -> int:
    """QuantizeLinear of one number."""
    return int(fixedpoint.quantize_linear(value, y.scale, y.zero_point, dtype.low, dtype.high))


def _bounds(dtype: DType, low: int | None, high: int | None) -> tuple[int, int]:
    return (dtype.low if low is None else low, dtype.high if high is None else high)


def _ort_requant(x_scale: float, w_scales: Sequence[float], y: Quant, bounds: tuple[int, int]) -> Requant:
    with np.errstate(over="ignore", under="ignore"):
        product = np.float32(x_scale) * np.asarray(w_scales, dtype=np.float32)
        scale = (product / np.float32(y.scale)).astype(np.float32)
    if not np.isfinite(scale).all():
        raise ScaleTooLarge("scale too large: it exceeds the range of float32")
    return Requant(mode="ort", zero_point=y.zero_point, low=bounds[0], high=bounds[1], scale=tuple(scale.tolist()))
