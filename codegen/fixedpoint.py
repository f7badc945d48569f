"""Integer arithmetic of quantized inference, in numpy; bit-exact twin of runtime_c/include/lam_requant*.h.

Decides: how a real scale becomes a multiplier and a shift, and what every requantization, QuantizeLinear and
DequantizeLinear returns, to the bit.  Leaves to `ir/quant.py` which mode a value carries, to the operators what is
summed before it is scaled, and to the lowering which C function spells it.

Conventions: every function works on arrays and broadcasts (per-channel parameters against a last axis C, as NHWC
has it).  Results are int64, already within `low .. high`; the caller narrows them.  Shifts are done in int64
throughout, because numpy's int32 shifts are undefined from 32 on and `single` uses shifts up to 62.  Preconditions
that the compiler proves are asserts; what a model can cause is a CompileError.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from codegen.errors import LeftShiftOverflow, ScaleInvalid, ScaleNoPower, ScaleTooLarge

Ints = int | npt.NDArray[np.integer[Any]]
Floats = float | npt.NDArray[np.floating[Any]]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]

_T = TypeVar("_T", bound=np.generic)

INT32_MIN = -(2**31)
INT32_MAX = 2**31 - 1
MAX_SHIFT = 62
MAX_LEFT_SHIFT = 30
WIDE_MULTIPLIER_BITS = 30  # at most, for 64-bit accumulators; a multiplier of 31 bits is one for 32-bit accumulators
ACC_BITS_64 = 48  # a 64-bit accumulator holds -2^47 .. 2^47 - 1: times 15 bits, plus the rounding, stays in int64


# Scales to multipliers


def effective_scale(x_scale: Floats, w_scale: Floats, y_scale: Floats) -> Float64Array:
    """The factor from accumulator to output: float64(x) * float64(w) / float64(y), in that order.

    Each scale is first rounded to the float32 that models store.  The order is that of TFLite's
    `PopulateConvolutionQuantizationParams`; it matters in the last bit of the multiplier.
    """
    x, w, y = (np.asarray(s, dtype=np.float32).astype(np.float64) for s in (x_scale, w_scale, y_scale))
    return np.asarray(x * w / y)


def quantize_multiplier_single(scale: Floats) -> tuple[Int32Array, Int32Array]:
    """Multiplier and right shift with scale ~ multiplier / 2^shift, for 32-bit accumulators.

    multiplier is 0 or 2^30 .. 2^31 - 1, shift 1 .. 62.  A scale of 0, or one so small that shift would pass 62, is
    (0, 1): exact, for |acc * scale| is then at most one half and -1/2 rounds up to 0.
    Source: docs/quantization.md, mode `single` (the multiplier and right shift of TPU-MLIR).

    Raises:
        ScaleTooLarge: LAM-FIXEDPOINT-001, scale of about 2^30 or more.
        ScaleInvalid: LAM-FIXEDPOINT-002, scale negative, infinite or NaN.
    """
    return _quantize_multiplier(scale, bits=31)


def quantize_multiplier_15(scale: Floats) -> tuple[Int32Array, Int32Array]:
    """As `quantize_multiplier_single` with a 15-bit multiplier, 0 or 2^14 .. 2^15 - 1, for 64-bit accumulators.

    Fifteen bits times a 48-bit accumulator leave room for the rounding in int64.

    Raises:
        ScaleTooLarge: LAM-FIXEDPOINT-001, scale of about 2^14 or more.
        ScaleInvalid: LAM-FIXEDPOINT-002, scale negative, infinite or NaN.
    """
    return _quantize_multiplier(scale, bits=15)


def quantize_multiplier_wide(scale: Floats, reach: int) -> tuple[Int32Array, Int32Array]:
    """As `quantize_multiplier_15` for accumulators of at most `reach` in size: with as many bits as they leave.

    The multiplier has 62 bits less those of `reach`, 15 to 30 of them, so that the product stays within 2^62.

    Raises:
        ScaleTooLarge: LAM-FIXEDPOINT-001, no right shift would remain.
        ScaleInvalid: LAM-FIXEDPOINT-002, scale negative, infinite or NaN.
    """
    return _quantize_multiplier(scale, bits=min(max(62 - reach.bit_length(), 15), WIDE_MULTIPLIER_BITS))


def quantize_multiplier_8(scale: Floats, bits: int = 31) -> tuple[Int32Array, Int32Array]:
    """As `quantize_multiplier_single` with a multiplier of 7 bits, 64 .. 127, that stands `bits` - 7 places higher.

    What it stands for is `multiplier_7 / 2^shift_7`, and so are the results of every function that takes the pair: a
    factor common to product and divisor changes no floor.  Source: the 8-bit multipliers of TPU-MLIR's older chips.

    Raises:
        ScaleTooLarge: LAM-FIXEDPOINT-001, no right shift would remain.
        ScaleInvalid: LAM-FIXEDPOINT-002, scale negative, infinite or NaN.
    """
    return _quantize_multiplier(scale, bits=bits, kept=7)


def is_power_of_two(scale: Floats) -> npt.NDArray[np.bool_]:
    """Whether each is 2^n for a whole n."""
    return np.asarray(np.frexp(_valid_scale(scale))[0] == 0.5)


def check_powers_of_two(scale: Floats) -> None:
    """LAM-FIXEDPOINT-004 for a factor that is not a power of two, -002 for one that is none at all."""
    real = _valid_scale(scale)
    other = ~is_power_of_two(real)
    if other.any():
        raise ScaleNoPower(f"the factor is {real[other].flat[0]:g}")


def quantize_multiplier_tflite(scale: Floats) -> tuple[Int32Array, Int32Array]:
    """Multiplier and exponent with scale ~ multiplier / 2^31 * 2^exponent: TFLite's `QuantizeMultiplier`.

    multiplier is 0 or 2^30 .. 2^31 - 1; exponent is -31 .. 30, positive a left shift.  Scales below about 2^-32
    become (0, 0).  Source: tensorflow/lite/kernels/internal/quantization_util.cc, double rounding.

    Raises:
        ScaleTooLarge: LAM-FIXEDPOINT-001, the exponent would pass 30 (TFLite's own `1 << shift` overflows there).
        ScaleInvalid: LAM-FIXEDPOINT-002, scale negative, infinite or NaN.
    """
    real = _valid_scale(scale)
    mantissa, exponent = np.frexp(real)
    fixed = round_half_away(mantissa * 2.0**31).astype(np.int64)
    fixed, exponent = _carry(fixed, exponent.astype(np.int64), bits=31)
    vanishes = exponent < -31
    fixed, exponent = np.where(vanishes, 0, fixed), np.where(vanishes, 0, exponent)
    _refuse_where(exponent > MAX_LEFT_SHIFT, real, f"the left shift would pass {MAX_LEFT_SHIFT}")
    return fixed.astype(np.int32), exponent.astype(np.int32)


def quantize_multiplier_tflite_15(scale: Floats) -> tuple[Int32Array, Int32Array]:
    """The 15-bit multiplier and right shift that TFLite uses for 64-bit accumulators; for `requantize_single_64`.

    TFLite's int64 `MultiplyByQuantizedMultiplier` reduces the 31-bit multiplier to 15 bits, rounding half up and
    saturating at 0x7FFF, then rounds half up once: the arithmetic of `requantize_single_64` with shift 15 - exponent.
    It rounds the scale twice, so that it may differ from `quantize_multiplier_15` in the last bit.
    Source: tensorflow/lite/kernels/internal/common.cc.

    Raises:
        ScaleTooLarge: LAM-FIXEDPOINT-001, scale of about 2^14 or more.
        ScaleInvalid: LAM-FIXEDPOINT-002, scale negative, infinite or NaN.
    """
    multiplier, exponent = (part.astype(np.int64) for part in quantize_multiplier_tflite(scale))
    reduced = np.where(multiplier < 0x7FFF0000, (multiplier + (1 << 15)) >> 16, 0x7FFF)
    shift = 15 - exponent
    _refuse_where(shift < 1, _valid_scale(scale), "no right shift would remain")
    return reduced.astype(np.int32), shift.astype(np.int32)


# Requantization


def requantize_single(acc: Ints, multiplier: Ints, shift: Ints, zero_point: Ints, low: Ints, high: Ints) -> Int64Array:
    """clamp(zero_point + ((acc * multiplier + 2^(shift - 1)) >> shift)): one rounding, half up.

    Args:
        acc: accumulators within int32, of any integer dtype.
        multiplier: 0, or 2^30 .. 2^31 - 1.
        shift: right shift, 1 .. 62; the 64-bit sum cannot overflow.
        zero_point: of the output.
        low: least output, the fused activation's bound included.
        high: greatest output.

    Twin: lam_requant_single_q, and for shift >= 33 lam_requant_single_high_q.
    """
    wide = _accumulators(acc, bits=32)
    assert _within(multiplier, 0, INT32_MAX), "multiplier is 0 .. 2^31 - 1"
    return saturate(_scale_half_up(wide, multiplier, shift) + _int64(zero_point), low, high)


def requantize_single_64(
    acc: Ints, multiplier: Ints, shift: Ints, zero_point: Ints, low: Ints, high: Ints
) -> Int64Array:
    """As `requantize_single` for 64-bit accumulators of at most 48 bits and a multiplier of at most 30, 63 together.

    With `quantize_multiplier_tflite_15` this is TFLite's int64 `MultiplyByQuantizedMultiplier`.
    Twin: lam_requant_single_64_q.
    """
    bits = int(np.max(multiplier)).bit_length()
    assert bits <= WIDE_MULTIPLIER_BITS, "multiplier is 0 .. 2^30 - 1"
    wide = _accumulators(acc, bits=min(ACC_BITS_64, 63 - bits))
    return saturate(_scale_half_up(wide, multiplier, shift) + _int64(zero_point), low, high)


def requantize_rounded(
    acc: Ints, multiplier: Ints, shift: Ints, zero_point: Ints, low: Ints, high: Ints, rounding: str
) -> Int64Array:
    """As `requantize_single` and `requantize_single_64`, of which each takes its multipliers, with another rounding.

    clamp(zero_point + acc * multiplier / 2^shift), to nearest, halves as `rounding` of `ir.quant.ROUNDINGS` says.
    Twin: lam_requant_rounded_q.
    """
    bits = int(np.max(multiplier)).bit_length()
    wide = _accumulators(acc, bits=32 if bits > WIDE_MULTIPLIER_BITS else min(ACC_BITS_64, 63 - bits))
    assert _within(shift, 1, MAX_SHIFT), "shift is 1 .. 62"
    return saturate(divide_by_pot(wide * _int64(multiplier), shift, rounding) + _int64(zero_point), low, high)


def requantize_tflite(
    acc: Ints, multiplier: Ints, exponent: Ints, zero_point: Ints, low: Ints, high: Ints
) -> Int64Array:
    """clamp(zero_point + TFLite's `MultiplyByQuantizedMultiplier`(acc, multiplier, exponent)): two roundings.

    Left shift by max(exponent, 0), saturating rounding doubling high multiply, rounding divide by 2^max(-exponent, 0).
    TFLite multiplies by the left shift in int32 and overflows without notice; here that is refused, so that no result
    depends on it.  `largest_acc_tflite` gives the bound to prove beforehand.
    Source: tensorflow/lite/kernels/internal/common.cc, gemmlowp/fixedpoint/fixedpoint.h.
    Twin: lam_requant_tflite_q.

    Args:
        acc: accumulators within int32, of any integer dtype.
        multiplier: 0, or 2^30 .. 2^31 - 1.
        exponent: -31 .. 30, positive a left shift.
        zero_point: of the output; added in 64 bits, so that it never wraps.
        low: least output.
        high: greatest output.

    Raises:
        LeftShiftOverflow: LAM-FIXEDPOINT-003, acc * 2^exponent leaves int32.
    """
    power = _int64(exponent)
    assert _within(power, -31, MAX_LEFT_SHIFT), "exponent is -31 .. 30"
    shifted = _accumulators(acc, bits=32) << np.maximum(power, 0)
    if not _within(shifted, INT32_MIN, INT32_MAX):
        raise LeftShiftOverflow(f"an accumulator leaves 32 bits when shifted left by up to {power.max()}")
    product = saturating_rounding_doubling_high_mul(shifted, multiplier)
    return saturate(rounding_divide_by_pot(product, np.maximum(-power, 0)) + _int64(zero_point), low, high)


def largest_acc_tflite(exponent: Ints) -> Int64Array:
    """The largest |acc| that `requantize_tflite` takes at this exponent: what the compiler compares its bound with."""
    return np.asarray(np.int64(INT32_MAX) >> np.maximum(_int64(exponent), 0))


def requantize_ort(acc: Ints, scale: Floats, zero_point: Ints, low: Ints, high: Ints) -> Int64Array:
    """zero_point + rint(clamp(float32(acc) * float32(scale), low - zero_point, high - zero_point)), half to even.

    One float32 product, clamped as a float before it is rounded, as ONNX Runtime's MlasRequantizeOutput does.
    A product that overflows to infinity is clamped like any other.
    Twin: lam_requant_ort_q, and lam_requant_ort_64_q for accumulators that need more than 32 bits.

    Args:
        acc: accumulators of at most 48 bits, of any integer dtype; converted half to even.
        scale: finite; rounded to float32.
        zero_point: of the output.
        low: least output; |low - zero_point| <= 2^22, where the C rounding is exact.
        high: greatest output; |high - zero_point| <= 2^22.
    """
    factor = np.asarray(scale, dtype=np.float32)
    assert bool(np.isfinite(factor).all()), "scale is finite"
    offset = _int64(zero_point)
    least, most = _int64(low) - offset, _int64(high) - offset
    assert _within(least, -(2**22), 2**22), "|low - zero_point| <= 2^22"
    assert _within(most, -(2**22), 2**22), "|high - zero_point| <= 2^22"
    with np.errstate(over="ignore", under="ignore"):
        product = _accumulators(acc, bits=ACC_BITS_64).astype(np.float32) * factor
    clamped = np.minimum(np.maximum(product, least.astype(np.float32)), most.astype(np.float32))
    return np.asarray(np.rint(clamped).astype(np.int64) + offset)


# Between float and integer


def quantize_linear(
    x: Floats, scale: Floats, zero_point: Ints, low: Ints, high: Ints, *, axis: int | None = None
) -> Int64Array:
    """saturate(rint(x / scale) + zero_point): ONNX QuantizeLinear, in float32, half to even.

    Infinities saturate.  NaN, which ONNX leaves open, becomes `low`, as in ONNX Runtime's vector kernels and as
    the C comparison `v > low ? v : low` gives.

    Args:
        x: rounded to float32.
        scale: positive; one value, or one per slice along `axis`.
        zero_point: as `scale`.
        low: least value of the type, e.g. -128.
        high: greatest value of the type, e.g. 127.
        axis: the axis of a per-channel scale; None broadcasts as numpy does.
    """
    real = np.asarray(x, dtype=np.float32)
    factor = _along(np.asarray(scale, dtype=np.float32), axis, real.ndim)
    assert bool((factor > 0).all()), "scale is positive"
    offset = _along(_int64(zero_point), axis, real.ndim)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        steps = np.rint(real / factor).astype(np.float64)
    # float64 holds each int32 and the sum near the bounds exactly; float32 could not clamp to 2^31 - 1
    least, most = (np.asarray(bound, dtype=np.float64) for bound in (low, high))
    kept = np.where(np.isnan(steps), least, np.clip(steps + offset, least, most))
    return np.asarray(kept.astype(np.int64))


def quantize_linear_away(x: Floats, scale: float, zero_point: int, low: int, high: int) -> Int64Array:
    """As `quantize_linear` with halves away from zero: TFLite's AffineQuantize.

    Source: tensorflow/lite/kernels/internal/reference/quantize.h.  Twin: lam_quantize_away_q.
    """
    real = np.asarray(x, dtype=np.float32)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        steps = round_half_away((real / np.float32(scale)).astype(np.float32))
    kept = np.where(np.isnan(steps), low, np.clip(steps + zero_point, low, high))
    return np.asarray(kept.astype(np.int64))


def dequantize_linear(q: Ints, scale: Floats, zero_point: Ints, *, axis: int | None = None) -> Float32Array:
    """float32(q - zero_point) * float32(scale): ONNX DequantizeLinear.

    The difference is exact (64 bits) before it is rounded to float32; q is of any integer type up to 32 bits.
    """
    whole = _int64(q)
    offset = _along(_int64(zero_point), axis, whole.ndim)
    factor = _along(np.asarray(scale, dtype=np.float32), axis, whole.ndim)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray((whole - offset).astype(np.float32) * factor)


# Primitives


def saturate(x: Ints, low: Ints, high: Ints) -> Int64Array:
    """X limited to low .. high; twin of lam_clamp_i32."""
    return np.asarray(np.minimum(np.maximum(_int64(x), _int64(low)), _int64(high)))


def round_half_away(x: Floats) -> Float64Array:
    """The nearest whole number, halves away from zero: C's `round`, TFLite's `TfLiteRound`.

    Exact: floor(x + 0.5) is not, for 0.49999999999999994 + 0.5 rounds up to 1.
    """
    real = np.asarray(x, dtype=np.float64)
    whole = np.trunc(real)
    return np.asarray(whole + np.copysign(np.abs(real - whole) >= 0.5, real))


def rounded(x: Floats, rounding: str) -> Float64Array:
    """The nearest whole numbers, halves as `rounding` says (of `ir.quant.ROUNDINGS`); infinities stay."""
    real = np.asarray(x, dtype=np.float64)
    floor = np.floor(real)
    with np.errstate(invalid="ignore"):
        part = np.where(np.isinf(real), 0.0, real - floor)
        up = {"half_up": part > 0, "half_even": floor % 2 == 1, "half_down": real < 0, "half_away": real >= 0}
    more = (part > 0.5) | ((part == 0.5) & up[rounding])
    return np.asarray(floor + more.astype(np.float64))


def saturating_rounding_doubling_high_mul(a: Ints, b: Ints) -> Int64Array:
    """The high half of 2 * a * b, rounded to nearest, for a and b within int32; -2^31 squared saturates.

    Ties round towards plus infinity: the nudge and the truncating division amount to (a * b + 2^30) >> 31, which is
    what the C twin computes.  Source: gemmlowp/fixedpoint/fixedpoint.h, followed to the letter here.
    """
    wide_a, wide_b = _int64(a), _int64(b)
    assert _within(wide_a, INT32_MIN, INT32_MAX), "a is within int32"
    assert _within(wide_b, INT32_MIN, INT32_MAX), "b is within int32"
    product = wide_a * wide_b
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    truncated = np.where(nudged >= 0, nudged >> 31, -(-nudged >> 31))
    return np.asarray(np.where((wide_a == INT32_MIN) & (wide_b == INT32_MIN), INT32_MAX, truncated))


def divide_by_pot(x: Ints, shift: Ints, rounding: str) -> Int64Array:
    """X / 2^shift to nearest, halves as `rounding` says; x has 63 bits, shift is 0 .. 62."""
    wide, right = _int64(x), _int64(shift)
    floor = wide >> right
    mask = (np.int64(1) << right) - 1
    below = (wide < 0).astype(np.int64)
    stays = {"half_up": 0 * below, "half_even": 1 - (floor & 1), "half_down": 1 - below, "half_away": below}[rounding]
    return np.asarray(floor + ((wide & mask) > (mask >> 1) + stays).astype(np.int64))


def rounding_divide_by_pot(x: Ints, exponent: Ints) -> Int64Array:
    """X / 2^exponent rounded to nearest, halves away from zero; x within int32, exponent 0 .. 31.

    Source: gemmlowp/fixedpoint/fixedpoint.h, `RoundingDivideByPOT`.
    """
    wide, power = _int64(x), _int64(exponent)
    assert _within(wide, INT32_MIN, INT32_MAX), "x is within int32"
    assert _within(power, 0, 31), "exponent is 0 .. 31"
    mask = (np.int64(1) << power) - 1
    threshold = (mask >> 1) + (wide < 0)
    return np.asarray((wide >> power) + ((wide & mask) > threshold))


# Private


def _int64(x: Ints) -> Int64Array:
    return np.asarray(x, dtype=np.int64)


def _within(x: Ints, low: int, high: int) -> bool:
    values = np.asarray(x)
    return values.size == 0 or (int(values.min()) >= low and int(values.max()) <= high)


def _accumulators(acc: Ints, *, bits: int) -> Int64Array:
    assert _within(acc, -(1 << (bits - 1)), (1 << (bits - 1)) - 1), f"accumulators have {bits} bits"
    return _int64(acc)


def _scale_half_up(acc: Int64Array, multiplier: Ints, shift: Ints) -> Int64Array:
    """(acc * multiplier + 2^(shift - 1)) >> shift in int64; the products stay within 2^62."""
    right = _int64(shift)
    assert _within(right, 1, MAX_SHIFT), "shift is 1 .. 62"
    return np.asarray((acc * _int64(multiplier) + (np.int64(1) << (right - 1))) >> right)


def _valid_scale(scale: Floats) -> Float64Array:
    real = np.asarray(scale, dtype=np.float64)
    invalid = ~(np.isfinite(real) & (real >= 0))
    if invalid.any():
        raise ScaleInvalid(f"the scale is {real[invalid].flat[0]:g}")
    return real


def _refuse_where(too_large: npt.NDArray[np.bool_], scale: Float64Array, reason: str) -> None:
    if too_large.any():
        raise ScaleTooLarge(f"scale too large: {scale[too_large].max():g} ({reason})")


def _carry(fixed: Int64Array, exponent: Int64Array, *, bits: int) -> tuple[Int64Array, Int64Array]:
    """A mantissa that rounded up to 2^bits is halved, and its exponent raised."""
    carried = fixed == 1 << bits
    return np.where(carried, 1 << (bits - 1), fixed), exponent + carried


def _quantize_multiplier(scale: Floats, *, bits: int, kept: int | None = None) -> tuple[Int32Array, Int32Array]:
    """Of `bits` bits, of which the `kept` highest are rounded to and the others 0."""
    real = _valid_scale(scale)
    mantissa, exponent = np.frexp(real)
    zeros = bits - (kept or bits)
    # exact: the mantissa has 53 bits, so adding 0.5 to mantissa * 2^bits cannot round up to a whole number
    fixed = np.floor(mantissa * 2.0 ** (bits - zeros) + 0.5).astype(np.int64) << zeros
    fixed, exponent = _carry(fixed, exponent.astype(np.int64), bits=bits)
    shift = bits - exponent
    vanishes = (shift > MAX_SHIFT) | (real == 0)
    multiplier, shift = np.where(vanishes, 0, fixed), np.where(vanishes, 1, shift)
    _refuse_where(shift < 1, real, "no right shift would remain")
    return multiplier.astype(np.int32), shift.astype(np.int32)


def _along(parameter: npt.NDArray[_T], axis: int | None, rank: int) -> npt.NDArray[_T]:
    """A per-channel vector shaped to broadcast along `axis` of a tensor of this rank; a scalar stays as it is."""
    if axis is None or parameter.ndim == 0:
        return parameter
    return parameter.reshape([-1 if i == axis % rank else 1 for i in range(rank)])
