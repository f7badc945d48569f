"""Operators that have TFLite's definition only, as parts of random networks."""

from __future__ import annotations

import numpy as np

from codegen.errors import CompileError
from codegen.ir.quant import DType, Mode, Quant
from codegen.ir.shape import Window
from codegen.ops import (
    AddN,
    ArgExtremum,
    Clamp,
    Compare,
    CumulativeSum,
    Div,
    Extremum,
    GlobalSum,
    Hardmax,
    L2Norm,
    LogSoftmax,
    Lut,
    PRelu,
    Rescale,
    Reshape,
    Response,
    ScaledSum,
    Select,
    Sigmoid16,
    Slice,
    Softmax16,
    SquaredDifference,
    Take,
    TopK,
    TotalPool2D,
    Triangle,
    TwoSlopes,
    Update,
    WholeArithmetic,
    make_requant,
    piecewise_linear,
    remainder_of,
    scaled_layer_norm,
)
from codegen.ops.inverse_sqrt import scaled_inverse_sqrt
from codegen.ops.log_softmax import OUTPUT as LOG_OUTPUT
from codegen.ops.lut16 import lut16
from codegen.ops.two_slopes import slope
from tests.random_networks.draw import Drawing, Unfit


def extremum(d: Drawing, x: str) -> str:
    """The larger or smaller of a tensor and what a layer made of it."""
    y = d.conv(x, *d.windows(x, same=True), outputs=d.shape(x)[3], dtype=d.kind(x).dtype)
    return d.apply(Extremum(d.chance(0.5), d.quant(x)), *d.pick(((x, y), (y, x))))


def squared_difference(d: Drawing, x: str) -> str:
    x = _signed(d, x)
    y = d.conv(x, Window(1), Window(1), outputs=d.shape(x)[3], dtype=DType.S8)
    quant = d.fit((d.real(x) - d.real(y)) ** 2, DType.S8)
    return d.apply(SquaredDifference(d.quant(x), d.quant(y), quant, DType.S8, -128, 127), x, y)


def prelu(d: Drawing, x: str) -> str:
    quant = d.fit(np.linspace(-0.2, 0.5, 9), DType.S8)
    slopes = d.const(d.rng.integers(-128, 128, d.shape(x)[3]).astype(np.int8), quant)
    return d.apply(PRelu(d.quant(x), quant, d.fit(d.real(x), DType.S8), DType.S8), x, slopes)


def sums(d: Drawing, x: str) -> str:
    """A whole image added up, for every channel, and what a layer makes of that times the image."""
    mode: Mode = "tflite" if d.mode == "ort" else d.mode
    y = d.fit(d.real(x).sum(axis=(1, 2)), DType.S8)
    try:
        requant = make_requant(mode, d.quant(x).scale, [1.0], y, DType.S8)
    except CompileError as error:
        raise Unfit(str(error)) from error
    total = d.apply(GlobalSum(d.quant(x).zero_point, requant, DType.S8, y), x)
    return d.mul(x, d.conv(total, Window(1), Window(1), outputs=d.shape(x)[3]))


def window_totals(d: Drawing, x: str) -> str:
    """What the steps of each window come to, brought to bytes."""
    h, w = d.windows(x, same=True)
    total, low = d.pick(("sizes", "squares", "length")), d.quant(x).zero_point
    bits = (h.size * w.size).bit_length() + d.kind(x).dtype.reach(low).bit_length() * (1 if total == "sizes" else 2)
    shift = max(30 - (bits + 1) // 2, 0) if total == "length" else 30 - bits
    sums = d.apply(TotalPool2D(h, w, total, low, shift), x)
    y = d.fit(d.data[sums] * 2.0**-shift, DType.S8)
    mode: Mode = "tflite" if d.mode == "ort" else d.mode
    try:
        requant = make_requant(mode, 2.0**-shift, [1.0], y, DType.S8)
    except CompileError as error:
        raise Unfit(str(error)) from error
    return d.apply(Rescale(requant, DType.S8, y), sums)


def positions(d: Drawing, x: str) -> str:
    """Where each row is largest, as an output beside what goes on."""
    _, h, w, c = d.shape(x)
    d.apply(ArgExtremum(d.chance(0.5)), d.apply(Reshape((1, h, 1, w * c)), x))
    return d.conv(x, *d.windows(x, same=True))


def slopes_16(d: Drawing, x: str) -> str:
    y = d.conv(x, *d.windows(x, same=True), dtype=DType.S16)
    quant = d.fit(d.real(y), DType.S8)
    factor = d.quant(y).scale / quant.scale
    above, below = slope(factor), slope(factor * d.pick((0.25, 1.0)))
    return d.apply(TwoSlopes(d.quant(y).zero_point, above, below, d.chance(0.3), -128, 127, DType.S8, quant), y)


def curve_16(d: Drawing, x: str) -> str:
    y = d.conv(x, *d.windows(x, same=True), dtype=DType.S16)
    sigmoid = d.pick((Sigmoid16("logistic", 3, 0), Sigmoid16("tanh", 20000, 15)))
    y = d.apply(d.pick((sigmoid, Softmax16(1 << 30, 1))), y)
    return d.conv(y, Window(1), Window(1), dtype=DType.S8)


def pieces_16(d: Drawing, x: str) -> str:
    """A curve of 16-bit numbers in straight pieces."""
    y = d.conv(x, *d.windows(x, same=True), dtype=DType.S16)
    return d.apply(piecewise_linear(np.tanh, "Tanh", d.quant(y), Quant(1 / 128, 0), DType.S8), y)


def curve_of_samples(d: Drawing, x: str) -> str:
    """A function of 16-bit numbers from TFLite's 513 samples."""
    y = d.conv(x, *d.windows(x, same=True), dtype=DType.S16)
    made = lut16(d.pick(("Gelu", "GeluTanh")), d.quant(y), Quant(float(np.float32(d.quant(y).scale / 2)), 0))
    return d.conv(d.apply(made, y), Window(1), Window(1), dtype=DType.S8)


def inverse_root(d: Drawing, x: str) -> str:
    """1 / sqrt(x) of 16-bit numbers, which reach the end of the output at 1024."""
    y = d.conv(x, *d.windows(x, same=True), dtype=DType.S16)
    made = scaled_inverse_sqrt(d.quant(y), Quant(float(np.float32(d.quant(y).scale ** -0.5 / 2**20)), 0))
    return d.conv(d.apply(made, y), Window(1), Window(1), dtype=DType.S8)


def largest(d: Drawing, x: str) -> str:
    """The largest channels of each pixel; which one is the largest, and where they are, as outputs beside them."""
    _, h, w, c = d.shape(x)
    d.apply(Hardmax(127, -128, Quant(float(np.float32(1 / 255)), -128), DType.S8), x)
    d.apply(TopK(max(1, min(31 // h, w * c)), True), d.apply(Reshape((1, h, 1, w * c)), x))
    return d.apply(TopK(d.pick((c, d.int(1, c))), False), x)


def unit_length(d: Drawing, x: str) -> str:
    x = _signed(d, x)
    return d.apply(L2Norm(d.quant(x).zero_point), x)


def normalized(d: Drawing, x: str) -> str:
    """The channels of each pixel brought to a mean and a deviation."""
    x = _signed(d, x)
    factors = (d.rng.normal(0, 1, d.shape(x)[3]), d.rng.normal(0, 1, 1))
    return d.apply(scaled_layer_norm(d.kind(x), factors, 1e-3, (DType.S8, Quant(1 / 32, d.int(-10, 10)))), x)


def triangle(d: Drawing, x: str) -> str:
    """Part of each row's matrix of pixels and channels."""
    return d.apply(Triangle(d.chance(0.5), d.int(-2, 2), d.quant(x).zero_point), x)


def updated(d: Drawing, x: str) -> str:
    """A row put where the greatest of the first one is."""
    _, h, w, c = d.shape(x)
    lines = d.apply(Reshape((h, 1, w * c)), x)
    row = d.apply(Slice((0, 0, 0), (1, 1, w * c), (1, 1, 1)), lines)
    start = d.apply(Reshape((3,)), d.apply(TopK(min(3, w * c), True), d.apply(Reshape((1, w * c)), row)))
    return d.apply(Reshape((1, h, w, c)), d.apply(Update(), lines, row, start))


def taken(d: Drawing, x: str) -> str:
    """Rows looked up where each row is largest."""
    _, h, w, c = d.shape(x)
    largest = d.apply(ArgExtremum(d.chance(0.5)), d.apply(Reshape((1, h, 1, w * c)), x))
    rows = d.apply(Take(1), d.apply(Reshape((h, w * c)), x), d.apply(Reshape((h, 1)), largest))
    return d.apply(Reshape((1, h, w, c)), rows)


def counted(d: Drawing, x: str) -> str:
    """Rows looked up at positions that whole numbers are made of: the sum of two, turned round at the end."""
    _, h, w, c = d.shape(x)
    lines = d.apply(Reshape((1, h, 1, w * c)), x)
    places = [d.apply(Reshape((h, 1)), d.apply(ArgExtremum(largest), lines)) for largest in (True, False)]
    total = d.apply(WholeArithmetic(d.pick(("+", "-", "*"))), *places)
    rows = d.apply(WholeArithmetic(d.pick(("%", "%", "//", "/"))), total, d.const(np.full((1, 1), h, np.int32)))
    taken = d.apply(Take(1), d.apply(Reshape((h, w * c)), x), rows)
    return d.apply(Reshape((1, h, w, c)), taken)


def sum_of_three(d: Drawing, x: str) -> str:
    x = _signed(d, x)
    parts = (x, d.apply(Clamp(-100, 90), x), d.apply(Clamp(-60, 120), x))
    quant = d.fit(sum(d.real(part) for part in parts), DType.S8)
    return d.apply(AddN(d.quant(x), quant, -128, 127), *parts)


def sum_of_scales(d: Drawing, x: str) -> str:
    """Three tensors of two scales, one of them perhaps subtracted."""
    x = _signed(d, x)
    y = d.conv(x, *d.windows(x, same=True), outputs=d.shape(x)[3], dtype=DType.S8)
    parts, signs = (x, y, d.apply(Clamp(-60, 120), x)), (1, d.pick((1, -1)), 1)
    quant = d.fit(sum(sign * d.real(part) for sign, part in zip(signs, parts, strict=True)), DType.S8)
    return d.apply(ScaledSum(tuple(d.quant(part) for part in parts), signs, quant, DType.S8, -128, 127), *parts)


def running_sum(d: Drawing, x: str) -> str:
    x = _signed(d, x)
    axis = d.int(1, 3)
    quant = d.fit(d.real(x).cumsum(axis), DType.S8)
    return d.apply(CumulativeSum(axis, d.quant(x), quant, -128, 127, d.chance(0.3), d.chance(0.3)), x)


def quotient(d: Drawing, x: str) -> str:
    x = _signed(d, x)
    y = d.conv(x, *d.windows(x, same=True), outputs=d.shape(x)[3], dtype=DType.S8)
    return d.apply(Div(d.quant(x), d.quant(y), Quant(1 / 32, d.int(-10, 10)), -128, 127), x, y)


def remainder(d: Drawing, x: str) -> str:
    """What is left of a tensor divided by another one, of two scales."""
    y = d.conv(x, *d.windows(x, same=True), outputs=d.shape(x)[3], dtype=d.kind(x).dtype)
    op = remainder_of(d.quant(x), d.quant(y), (d.kind(x).dtype, d.kind(y).dtype))
    rest = d.apply(op, x, y)
    quant, mode = d.fit(d.data[rest] * op.unit, DType.S8), d.mode
    try:
        requant = make_requant("tflite" if mode == "ort" else mode, op.unit, [1.0], quant, DType.S8)
    except CompileError as error:
        raise Unfit(str(error)) from error
    return d.apply(Rescale(requant, DType.S8, quant), rest)


def response(d: Drawing, x: str) -> str:
    """Each number over a power of the squares around it."""
    _, h, w, c = d.shape(x)
    low, beta, unit, bias = d.quant(x).zero_point, d.pick((0.75, 0.5, -0.5)), 2.0**-28, 1 << 28
    shift = 29 - (3 * d.kind(x).dtype.reach(low) ** 2).bit_length()
    squares = TotalPool2D(Window(1), Window(3, 1, 1, 1, 1), "squares", low, shift)
    sums = d.apply(Reshape((1, h, w, c)), d.apply(squares, d.apply(Reshape((1, h * w, c, 1)), x)))
    y = d.fit(d.real(x) * (unit * (d.data[sums] + float(bias))) ** -beta, DType.S8)
    return d.apply(Response(d.quant(x), beta, bias, unit, y, DType.S8, -128, 127), x, sums)


def compared(d: Drawing, x: str) -> str:
    """The tensor, or what a clamp leaves of it where another one is larger."""
    y = d.conv(x, *d.windows(x, same=True), outputs=d.shape(x)[3], dtype=d.kind(x).dtype)
    flags = d.apply(Compare(d.pick(("<", ">=", "!=")), d.quant(x), d.quant(y)), x, y)
    low, high = d.kind(x).dtype.low, d.kind(x).dtype.high
    return d.apply(Select(d.quant(x)), flags, x, d.apply(Clamp(low + 40, high - 60), x))


def selected(d: Drawing, x: str) -> str:
    """The tensor, or what a clamp leaves of it where a number is large."""
    kind = d.kind(x).dtype
    large = tuple(int(q > kind.low + 90) for q in range(kind.low, kind.high + 1))
    flags = d.apply(Lut(large, DType.U8, None, "Greater"), x)
    held = d.apply(Clamp(kind.low + 40, kind.high - 60), x)
    return d.apply(Select(d.quant(x)), flags, *d.pick(((x, held), (held, x))))


def log_softmax(d: Drawing, x: str) -> str:
    quant = d.pick((LOG_OUTPUT, Quant(3.0 / 64, 120)))
    return d.apply(LogSoftmax(d.quant(x), quant, DType.S8, d.mode), x)


def _signed(d: Drawing, x: str) -> str:
    return x if d.kind(x).dtype is DType.S8 else d.conv(x, Window(1), Window(1), dtype=DType.S8)
