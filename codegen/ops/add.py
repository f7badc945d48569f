"""Add and subtract: y = a + sign * b in real numbers, broadcast as numpy does.

a, b: s8, u8 or s16 -> y: s8, u8 or s16.  qa = a - za, qb = b - zb; the clamp is to low .. high.

    single   y = clamp(zy + ((Ma * qa + sign * Mb * qb + 2^(s-1)) >> s)) in int32, one rounding, half up.
             Ma, Mb = floor(factor * 2^s + 0.5), the factors being float64(sa) / float64(sy) and float64(sb) /
             float64(sy); the larger one has 21 bits, which fixes s in 1 .. 31.  |sum| < 510 * 2^21 + 2^30 < 2^31.
             Where s would pass 31 both factors are below 2^-11 and the sum below one half: Ma = Mb = 0, s = 1.
             Where a 16-bit number takes part the sum is in int64: the larger one of Ma, Mb has 31 bits, s is in
             1 .. 48, |sum| < 2^17 * 2^31 + 2^47, and past s = 48 both factors are below 2^-17.
    mul8     as single; the larger of Ma, Mb is rounded to 7 bits, and both are multiples of its last place
    pot*     as single, rounded as the mode's name says; all scales are powers of two, and Ma and Mb with them
    tflite   TFLite: both inputs are shifted left by l (20, and 15 for s16), scaled by float64(scale) / (2 * max scale)
             with two roundings, added, and scaled by 2 * max scale / (2^l * sy) with two roundings.
    ort      y = zy + rint(clamp((fa[a] + sign * fb[b]) / sy)): fa and fb are the float32 products q * scale; one
             float32 sum, one float32 division, half to even.  Equal to ONNX DequantizeLinear, Add, QuantizeLinear.

Sources: docs/quantization.md; tensorflow/lite/kernels/internal/reference/integer_ops/add.h and kernels/add.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Mode, Quant, Rounding, TensorType, formula_of, is_pot, rounding_of
from codegen.ops.answers import Types, any_layout, broadcast_rows, clamped_bounds, in_place_when_equal, no_macs
from codegen.ops.limits import EIGHT_BIT, broadcast_type, limit, types_among
from codegen.records import record

BITS = 21
WIDE_BITS, WIDE_SHIFT = 31, 48
"""Of the larger multiplier, and the largest shift, where a 16-bit number takes part."""
Scaling = tuple[int, int]
"""A multiplier and TFLite's exponent."""


@record
class Add:
    """Sum, or difference when `sign` is -1."""

    a: Quant
    b: Quant
    y_quant: Quant
    y_dtype: DType
    low: int
    high: int
    mode: Mode
    sign: int = 1

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-ELEMENTWISE-01", 0, "the first input", (*EIGHT_BIT, DType.S16)),
        types_among("LAM-OPS-ELEMENTWISE-02", 1, "the second input", (*EIGHT_BIT, DType.S16)),
        limit(
            "LAM-OPS-ELEMENTWISE-17",
            "in mode tflite the inputs and the result must all have 16 bits, or none of them",
            lambda op, ins: op.mode != "tflite" or len({k is DType.S16 for k in _kinds(op, ins)}) == 1,
        ),
        limit(
            "LAM-OPS-ELEMENTWISE-20",
            "in mode pot the scales must be powers of two",
            lambda op, ins: not is_pot(op.mode) or _are_powers(op.a, op.b, op.y_quant),
        ),
        limit(
            "LAM-OPS-ELEMENTWISE-03",
            "the inputs' scales must be below 2^19 times the output's, 2^14 times for 16-bit numbers",
            lambda op, ins: max(op.a.scale, op.b.scale) / op.y_quant.scale < (2.0**14 if is_wide(op, ins) else 2.0**19),
        ),
    )

    @property
    def said(self) -> str:
        """What it computes."""
        return f"{'Difference' if self.sign < 0 else 'Sum'} of two tensors, each of its own scale"

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (broadcast_type(self, ins, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        sums = {"single": self._single, "tflite": self._tflite, "ort": self._ort}[self.formula]
        return (sums(ins[0], ins[1]).astype(self.y_dtype.numpy),)

    @property
    def formula(self) -> Mode:
        """The mode whose formula this is."""
        return formula_of(self.mode)

    @property
    def rounding(self) -> Rounding:
        """Where halves go, in the formula of mode `single`."""
        return rounding_of(self.mode)

    def single_steps(self, kinds: Sequence[DType] = ()) -> tuple[int, int, int]:
        """Ma, Mb and s of mode `single` for inputs of these types; of 8 bits where none is given."""
        wide = DType.S16 in (*kinds, self.y_dtype)
        bits, most = (WIDE_BITS, WIDE_SHIFT) if wide else (BITS, 31)
        return shared_shift(self.a, self.b, self.y_quant, bits, most, 7 if self.mode == "mul8" else 0)

    rows = broadcast_rows
    macs = no_macs
    in_place = in_place_when_equal

    def _single(self, a: Array, b: Array) -> npt.NDArray[np.int64]:
        ma, mb, shift = self.single_steps((DType.of(a), DType.of(b)))
        qa, qb = a.astype(np.int64) - self.a.zero_point, b.astype(np.int64) - self.b.zero_point
        acc = fixedpoint.divide_by_pot(ma * qa + self.sign * mb * qb, shift, self.rounding)
        return fixedpoint.saturate(acc + self.y_quant.zero_point, self.low, self.high)

    def _tflite(self, a: Array, b: Array) -> npt.NDArray[np.int64]:
        shift = left_shift(self.y_dtype)
        scale_a, scale_b, scale_y = tflite_scalings(self.a, self.b, self.y_quant, shift)
        acc = scaled_input(a, self.a, scale_a, shift) + self.sign * scaled_input(b, self.b, scale_b, shift)
        return fixedpoint.requantize_tflite(acc, *scale_y, self.y_quant.zero_point, self.low, self.high)

    def _ort(self, a: Array, b: Array) -> npt.NDArray[np.int64]:
        fa = fixedpoint.dequantize_linear(a, self.a.scale, self.a.zero_point)
        fb = fixedpoint.dequantize_linear(b, self.b.scale, self.b.zero_point)
        total = fa + fb if self.sign > 0 else fa - fb
        return fixedpoint.quantize_linear(total, self.y_quant.scale, self.y_quant.zero_point, self.low, self.high)

    in_layout = any_layout
    clamped = clamped_bounds


def shared_shift(a: Quant, b: Quant, y: Quant, bits: int = BITS, most: int = 31, kept: int = 0) -> tuple[int, int, int]:
    """Ma, Mb and s of mode `single`; the larger multiplier has `bits` bits, and s is at most `most`.

    Of the bits the `kept` highest (0: all) are rounded to; the places behind them are 0 in both multipliers.
    """
    (ma, mb), shift = common_shift((a, b), y, bits, most, kept)
    return ma, mb, shift


def common_shift(xs: Sequence[Quant], y: Quant, bits: int, most: int, kept: int = 0) -> tuple[tuple[int, ...], int]:
    """The same of any number of inputs: a multiplier for each, and s."""
    kept = kept or bits
    factors = np.array([x.scale for x in xs]) / np.float64(y.scale)
    short = kept - int(np.frexp(factors.max())[1])
    if np.floor(factors.max() * 2.0**short + 0.5) == 1 << kept:
        short -= 1
    shift = short + bits - kept
    if shift > most:
        return (0,) * len(xs), 1
    return tuple(int(np.floor(f * 2.0**short + 0.5)) << (bits - kept) for f in factors), shift


def _are_powers(*quants: Quant) -> bool:
    return bool(fixedpoint.is_power_of_two(np.array([q.scale for q in quants])).all())


def left_shift(dtype: DType) -> int:
    """Bits that the inputs gain before they are scaled, in mode `tflite`."""
    return 15 if dtype is DType.S16 else 20


def is_wide(op: Add, ins: Types) -> bool:
    """Whether a 16-bit number takes part."""
    return DType.S16 in _kinds(op, ins)


def _kinds(op: Add, ins: Types) -> tuple[DType, DType, DType]:
    return ins[0].dtype, ins[1].dtype, op.y_dtype


def tflite_scalings(a: Quant, b: Quant, y: Quant, shift: int) -> tuple[Scaling, Scaling, Scaling]:
    """Multiplier and exponent of a, b and the output in mode `tflite`."""
    twice = 2.0 * max(a.scale, b.scale)
    factors = (a.scale / twice, b.scale / twice, twice / ((1 << shift) * y.scale))
    pairs = [fixedpoint.quantize_multiplier_tflite(factor) for factor in factors]
    first, second, third = ((int(multiplier), int(exponent)) for multiplier, exponent in pairs)
    return first, second, third


def scaled_input(q: Array, x: Quant, scaling: Scaling, shift: int) -> npt.NDArray[np.int64]:
    """One input shifted left and scaled, in mode `tflite`."""
    shifted = (q.astype(np.int64) - x.zero_point) << shift
    bounds = (fixedpoint.INT32_MIN, fixedpoint.INT32_MAX)
    return fixedpoint.requantize_tflite(shifted, *scaling, 0, *bounds)


def dequantized_table(x: Quant, dtype: DType) -> npt.NDArray[np.float32]:
    """The 256 real values of an 8-bit type, lowest first: fa and fb of mode `ort`."""
    return fixedpoint.dequantize_linear(np.arange(dtype.low, dtype.high + 1), x.scale, x.zero_point)
