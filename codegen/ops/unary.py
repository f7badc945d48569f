"""Real functions of one variable, and the 256-entry tables that stand for them on 8-bit data.

    single, tflite   y = saturate(rint(f(sx * (q - zx)) / sy) + zy), all in float64, half to even
    ort              the same steps with float32 between them: x = float32(q - zx) * sx, f evaluated in float64 and
                     rounded to float32, then ONNX QuantizeLinear.  Equal to DequantizeLinear, f, QuantizeLinear for
                     every f that float32 computes exactly rounded (Identity, Relu, Clip, LeakyRelu, Abs, ...)
    mul8, pot*       as single; pot rounds as the mode's name says
    NaN becomes zy; infinities saturate.

In mode `tflite` Identity, Relu and Clip are TFLite's integer Requantize and QuantizedReluX instead:
y = clamp(zy + MultiplyByQuantizedMultiplier(q - zx, sx / sy)), the clamp being the quantized bounds.
Sources: onnx/docs/Operators.md for each function; TFLite kernels/activations.cc, reference/requantize.h.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from codegen import fixedpoint
from codegen.ir.quant import DType, Mode, Quant, is_pot, rounding_of
from codegen.ops.functions import FUNCTIONS, RealFunction
from codegen.ops.requantize import activation_bounds, make_requant, scaled

_CLAMPS = frozenset(("Identity", "Relu", "Clip"))


def unary_table(
    function: str | RealFunction, x: Quant, x_dtype: DType, y: Quant, y_dtype: DType, mode: Mode, **attributes: float
) -> tuple[int, ...]:
    """The quantized function as a table, entry q - x_dtype.low.

    Args:
        function: a name of `functions.FUNCTIONS`, or a float64 function of an array.
        x: meaning of the input.
        x_dtype: its element type, s8 or u8.
        y: meaning of the output.
        y_dtype: its element type.
        mode: the arithmetic, as the module states.
        attributes: the function's own, named as in ONNX (alpha, beta, gamma, lambd, bias, min, max).
    """
    if mode == "tflite" and function in _CLAMPS:
        return _clamped_requantize(str(function), x, x_dtype, y, y_dtype, attributes)
    f = FUNCTIONS[function] if isinstance(function, str) else function
    q = np.arange(x_dtype.low, x_dtype.high + 1)
    if mode == "ort":
        real = fixedpoint.dequantize_linear(q, x.scale, x.zero_point).astype(np.float64)
    else:
        real = x.scale * (q - x.zero_point).astype(np.float64)
    with np.errstate(all="ignore"):
        value = f(real, **attributes)
        if mode == "ort":
            value = value.astype(np.float32)
        known = np.where(np.isnan(value), 0, value)
    return tuple(_quantized(known, y, y_dtype, mode).tolist())


def requantize_table(x: Quant, x_dtype: DType, y: Quant, y_dtype: DType, mode: Mode) -> tuple[int, ...]:
    """The change from one scale and zero point to another as a table, entry q - x_dtype.low."""
    return unary_table("Identity", x, x_dtype, y, y_dtype, mode)


def _quantized(value: npt.NDArray[np.floating], y: Quant, dtype: DType, mode: Mode) -> npt.NDArray[np.int64]:
    if mode == "ort":
        return fixedpoint.quantize_linear(value, y.scale, y.zero_point, dtype.low, dtype.high)
    with np.errstate(over="ignore"):
        steps = _whole(value / y.scale, mode) + y.zero_point
    return np.asarray(np.clip(steps, dtype.low, dtype.high).astype(np.int64))


def _whole(value: npt.NDArray[np.floating], mode: Mode) -> npt.NDArray[np.float64]:
    """The nearest whole numbers: half to even, or where mode pot says."""
    return fixedpoint.rounded(value, rounding_of(mode) if is_pot(mode) else "half_even")


def _clamped_requantize(
    name: str, x: Quant, x_dtype: DType, y: Quant, y_dtype: DType, attributes: Mapping[str, float]
) -> tuple[int, ...]:
    least = 0.0 if name == "Relu" else attributes.get("min")
    bounds = activation_bounds(y, y_dtype, least, attributes.get("max"))
    requant = make_requant("tflite", x.scale, [1.0], y, y_dtype, *bounds)
    return tuple(scaled(requant, np.arange(x_dtype.low, x_dtype.high + 1) - x.zero_point).tolist())
