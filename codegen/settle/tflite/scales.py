"""TFLite's own steps from scales to integers: multipliers of products, bounds of fused activations.

Decides: in which order and precision scales are multiplied; it matters in the last bit of a multiplier.
Source: tensorflow/lite/kernels/kernel_util.cc (GetQuantizedConvolutionMultipler, PopulateConvolutionQuantizationParams,
CalculateActivationRangeQuantized).
"""

from __future__ import annotations

import numpy as np

from codegen.fixedpoint import round_half_away
from codegen.ir.quant import Array, DType, Mode, Quant, Requant
from codegen.ops.requantize import make_requant, requant_by_factor


def clamp_range(low: float | None, high: float | None, y: Quant, dtype: DType) -> tuple[int, int]:
    """Real bounds as integers of a type."""
    return (
        dtype.low if low is None else max(dtype.low, _quantized(low, y)),
        dtype.high if high is None else min(dtype.high, _quantized(high, y)),
    )


def channel_requant(
    mode: Mode, x_scale: float, w_scales: Array, y: Quant, dtype: DType, bounds: tuple[int, int], *, wide: bool = False
) -> Requant:
    """Of a convolution: float64(sx) * float64(sw) / float64(sy), one factor per channel or one for all."""
    scales = w_scales[:1] if (w_scales == w_scales[0]).all() else w_scales
    return make_requant(mode, x_scale, scales.tolist(), y, dtype, *bounds, wide=wide)


def product_requant(
    mode: Mode,
    x_scale: float,
    w_scale: float,
    y: Quant,
    dtype: DType,
    bounds: tuple[int, int],
    *,
    wide: bool = False,
    reach: int = 0,
) -> Requant:
    """Of a matrix product with one scale: float64(float32(sx * sw)) / float64(sy).

    `reach`: the largest size of sums, where TFLite does not say how wide they are.
    """
    if mode == "ort":
        return make_requant(mode, x_scale, [w_scale], y, dtype, *bounds)
    with np.errstate(over="ignore", under="ignore"):
        product = np.float64(np.float32(x_scale) * np.float32(w_scale))
    return requant_by_factor(mode, np.asarray(product / np.float64(y.scale)), y, bounds, wide=wide, reach=reach)


def svdf_requant(x_scale: float, w_scale: float, y: Quant, dtype: DType) -> Requant:
    """Of SVDF, in mode `tflite` whatever the network's is: float64(float32(float32(sx * sw) / sy))."""
    with np.errstate(over="ignore", under="ignore"):
        factor = np.float32(x_scale) * np.float32(w_scale) / np.float32(y.scale)
    return requant_by_factor("tflite", np.asarray(factor, np.float64), y, (dtype.low, dtype.high))


def gate_product(a_scale: float, b_scale: float, y: Quant, dtype: DType) -> Requant:
    """Of two numbers within an LSTM, in mode `tflite` whatever the network's is: float64(sa) * float64(sb) / sy."""
    factor = np.asarray(np.float64(a_scale) * np.float64(b_scale) / np.float64(y.scale))
    return requant_by_factor("tflite", factor, y, (dtype.low, dtype.high))


def _quantized(value: float, y: Quant) -> int:
    with np.errstate(over="ignore"):
        quotient = np.float32(value) / np.float32(y.scale)
    return y.zero_point + int(np.clip(round_half_away(float(quotient)), -(2.0**31), 2.0**31))
