"""Slow, obviously right versions: plain Python integers and loops over elements, one function per formula."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from codegen.ir.quant import Array, DType, Quant, Requant
from codegen.ir.shape import Window

F32 = np.float32


def clamp(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))


def half_up(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def half_even(value: Fraction) -> int:
    return round(value)


def half_down(value: Fraction) -> int:
    return half_away(value) if abs(value - round(value)) != Fraction(1, 2) else int(value)


def half_away(value: Fraction) -> int:
    return half_up(value) if value >= 0 else -half_up(-value)


ROUNDINGS = {"half_up": half_up, "half_even": half_even, "half_down": half_down, "half_away": half_away}


def tflite_multiply(acc: int, multiplier: int, exponent: int) -> int:
    """MultiplyByQuantizedMultiplier: left shift, doubling high multiply (half up), rounding divide (half away)."""
    shifted = acc << max(exponent, 0)
    high = half_up(Fraction(shifted * multiplier, 2**31))
    return half_away(Fraction(high, 2 ** max(-exponent, 0)))


def requant(rq: Requant, acc: int, channel: int = 0) -> int:
    """One accumulator to one activation."""
    if rq.mode == "ort":
        scale = F32(rq.scale[channel if len(rq.scale) > 1 else 0])
        product = F32(acc) * scale
        limited = min(max(product, F32(rq.low - rq.zero_point)), F32(rq.high - rq.zero_point))
        return int(np.rint(limited)) + rq.zero_point
    index = channel if len(rq.multiplier) > 1 else 0
    multiplier, shift = rq.multiplier[index], rq.shift[index]
    if rq.mode == "tflite":
        scaled = tflite_multiply(acc, multiplier, shift)
    else:
        scaled = ROUNDINGS[rq.rounding](Fraction(acc * multiplier, 2**shift))
    return clamp(rq.zero_point + scaled, rq.low, rq.high)


def quantize(value: Any, scale: float, zero_point: int, low: int, high: int) -> int:
    """ONNX QuantizeLinear of one float32."""
    steps = np.rint(F32(value) / F32(scale))
    return clamp(int(steps) + zero_point, low, high)


def dequantize(q: int, x: Quant) -> Any:
    return F32(q - x.zero_point) * F32(x.scale)


def build(shape: Sequence[int], dtype: DType, element: Callable[..., int]) -> Array:
    """An array whose element at (i, j, ...) is element(i, j, ...)."""
    y = np.empty(tuple(shape), dtype.numpy)
    for index in itertools.product(*map(range, shape)):
        y[index] = element(*index)
    return y


def window_positions(h: Window, w: Window, row: int, column: int) -> Iterator[tuple[int, int, int, int]]:
    """Kernel position (i, j) and input position, padding included, of every tap."""
    top, left = row * h.stride - h.pad_before, column * w.stride - w.pad_before
    for i in range(h.size):
        for j in range(w.size):
            yield i, j, top + i * h.dilation, left + j * w.dilation


def inside(x: Array, row: int, column: int) -> bool:
    return 0 <= row < x.shape[1] and 0 <= column < x.shape[2]


def conv(x: Array, w: Array, b: Array, h: Window, wd: Window, groups: int, zero_point: int) -> Array:
    """The accumulators of a convolution."""
    outputs, _, _, depth = w.shape
    share = outputs // groups
    xs, ws = x.tolist(), w.tolist()

    def element(n: int, row: int, column: int, o: int) -> int:
        acc = int(b[o])
        first = o // share * depth
        for i, j, r, c in window_positions(h, wd, row, column):
            if inside(x, r, c):
                acc += sum((xs[n][r][c][first + k] - zero_point) * ws[o][i][j][k] for k in range(depth))
        return acc

    y = np.empty((x.shape[0], h.out_len(x.shape[1]), wd.out_len(x.shape[2]), outputs), object)
    for index in itertools.product(*map(range, y.shape)):
        y[index] = element(*index)
    return y


def conv_transpose(
    x: Array, w: Array, b: Array, h: Window, wd: Window, extra: tuple[int, int], groups: int, zero_point: int
) -> Array:
    """The accumulators of a transposed convolution: every input pixel is spread over the output."""
    n, height, width, _ = x.shape
    outputs, _, _, depth = w.shape
    share = outputs // groups
    rows = (height - 1) * h.stride + h.extent - h.pad_before - h.pad_after + extra[0]
    columns = (width - 1) * wd.stride + wd.extent - wd.pad_before - wd.pad_after + extra[1]
    y = np.empty((n, rows, columns, outputs), object)
    for o in range(outputs):
        y[..., o] = int(b[o])
    for image, r, c, i, j, o in itertools.product(*map(range, (n, height, width, h.size, wd.size, outputs))):
        row = r * h.stride + i * h.dilation - h.pad_before
        column = c * wd.stride + j * wd.dilation - wd.pad_before
        if 0 <= row < rows and 0 <= column < columns:
            first = o // share * depth
            pixel = [int(v) - zero_point for v in x[image, r, c, first : first + depth]]
            y[image, row, column, o] += sum(p * int(v) for p, v in zip(pixel, w[o, i, j], strict=True))
    return y


def requantized(rq: Requant, acc: Array, dtype: DType) -> Array:
    """Accumulators (Python integers) to activations, channels last."""
    return build(acc.shape, dtype, lambda *index: requant(rq, int(acc[index]), index[-1]))
