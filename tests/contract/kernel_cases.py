"""Small cases of every operator, in every mode: what test_kernels.py compiles and compares beside the laws' own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import MODES, Array, DType, Mode, Quant, Requant, TensorType
from codegen.ir.shape import Window
from codegen.ops import (
    Add,
    AddN,
    ArgExtremum,
    AveragePool2D,
    Clamp,
    Compare,
    Conv2D,
    ConvTranspose2D,
    CumulativeSum,
    Dense,
    Dequantize,
    Div,
    Extremum,
    GlobalAveragePool,
    GlobalSum,
    L2Norm,
    LogSoftmax,
    Lut,
    MatMul,
    MaxPool2D,
    Mul,
    PRelu,
    Quantize,
    Rescale,
    ResizeBilinear,
    Select,
    Sigmoid16,
    Softmax,
    Softmax16,
    SquaredDifference,
    Take,
    TwoSlopes,
    WholeArithmetic,
    make_requant,
    piecewise_linear,
)
from codegen.ops.log_softmax import OUTPUT as LOG_OUTPUT
from tests.contract import cases as laws
from tests.contract.movement_cases import movement_cases

S8, U8, S16, S32, F32 = DType.S8, DType.U8, DType.S16, DType.S32, DType.F32
RNG = np.random.default_rng(20)


@dataclass(frozen=True)
class Case:
    """One node.  `ins` are computed inputs (types), constants (arrays), or the index of an input to repeat."""

    name: str
    op: Op
    ins: tuple[TensorType | Array | int, ...]


def q(scale: float, zero_point: int = 0) -> Quant:
    return Quant(float(np.float32(scale)), zero_point)


def t(dtype: DType, *shape: int, quant: Quant | None = None) -> TensorType:
    return TensorType(shape, dtype, quant)


def ints(dtype: DType, *shape: int) -> Array:
    return RNG.integers(dtype.low, dtype.high, shape, endpoint=True).astype(dtype.numpy)


def requant(mode: Mode, reach: float, channels: int = 1, dtype: DType = S8, *, wide: bool = False) -> Requant:
    """Maps accumulators up to `reach` to somewhat more than the type's range; a fused activation on some."""
    factors = [float(np.float32(1.3 * (dtype.high - dtype.low) / reach / (1 + i % 3))) for i in range(channels)]
    zero_point = (dtype.low + dtype.high) // 2 + 7
    low = zero_point if channels == 3 else None
    return make_requant(mode, 1.0, factors, Quant(1.0, zero_point), dtype, low, wide=wide)


def window(size: int, stride: int = 1, dilation: int = 1, before: int = 0, after: int = 0) -> Window:
    return Window(size, stride, dilation, before, after)


def cases() -> Iterator[Case]:
    """All of them."""
    for mode in MODES:
        families = (add_cases, mul_cases, matmul_cases, mean_cases, bilinear_cases, conv_cases, dense_cases)
        for source in (*families, sixteen_bit_cases):
            for name, op, ins in source(mode):
                yield Case(f"{type(op).__name__}_{mode}_{name}", op, ins)
        for name, op, ins in shifted_cases(mode):
            yield Case(f"{type(op).__name__}_{mode}_shifted_{name}", op, ins)
    for plain in (max_cases, element_cases, softmax_cases, tflite_cases, movement_cases):
        for name, op, ins in plain():
            yield Case(f"{type(op).__name__}_{name}", op, ins)
    for law in laws.cases():
        yield Case(law.id, law.op, tuple(x if i in law.consts else law.types[i] for i, x in enumerate(law.ins)))


Raw = tuple[str, Op, tuple[TensorType | Array | int, ...]]


def add_cases(mode: Mode) -> Iterator[Raw]:
    a, b, u = q(0.031, -3), q(0.07, 11), q(0.02, 200)

    def add(
        sign: int = 1, y: DType = S8, a: Quant = a, b: Quant = b, scale: float = 0.09, low: int | None = None
    ) -> Add:
        y_quant = q(scale, (y.low + y.high) // 2 - 9)
        return Add(a, b, y_quant, y, y.low if low is None else low, y.high, mode, sign)

    full = t(S8, 1, 3, 5, 7)
    yield "plain", add(), (full, full)
    yield "minus_relu", add(-1, low=-9), (full, full)
    yield "mixed", add(1, U8), (t(S8, 1, 3, 5, 7), t(U8, 1, 3, 5, 7))
    yield "mixed_minus", add(-1, S8, u), (t(U8, 1, 3, 5, 7), full)
    yield "itself", add(), (full, 0)
    yield "channel", add(), (full, ints(S8, 7))
    yield "channel_first", add(-1, S8, u), (ints(U8, 1, 1, 7), full)
    yield "scalar", add(), (full, ints(S8, 1))
    yield "rank0", add(-1), (full, ints(S8))
    yield "pixel", add(), (full, ints(S8, 5, 1))
    yield "map", add(-1), (full, ints(S8, 1, 3, 5, 7))
    yield "row_each", add(), (full, ints(S8, 3, 1, 7))
    yield "dynamic_channel", add(), (full, t(S8, 1, 1, 1, 7))
    yield "dynamic_row", add(-1), (t(S8, 1, 3, 1, 7), t(S8, 1, 3, 5, 1))
    yield "dynamic_first", add(), (t(S8, 7), full)
    yield "dynamic_scalar", add(1, S8, u), (t(U8, 1), full)
    yield "outer", add(), (t(S8, 4, 1), t(S8, 1, 6))
    yield "deep", add(), (t(S8, 2, 1, 3, 2, 2), t(S8, 1, 2, 3, 1, 2))
    yield "narrow", add(), (t(S8, 1, 4, 1, 3), ints(S8, 3))
    yield "single_channel", add(-1), (t(S8, 1, 3, 4, 1), ints(S8, 1, 1, 4, 1))
    yield "vector", add(), (t(S8, 9), ints(S8, 9))
    yield "coarse", add(1, S8, q(3.0, 127), q(5.0, -128), 0.001), (full, full)
    yield "fine", add(-1, S8, q(0.001, 127), q(1e-6, -128), 4.0), (full, full)
    yield "ties", add(1, S8, q(0.5, 0), q(0.25, 1), 1.0), (full, full)


def mul_cases(mode: Mode) -> Iterator[Raw]:
    def mul(y: DType = S8, a: int = -4) -> Mul:
        return Mul(a, 9, requant(mode, 128 * 128, 1, y), y, None)

    full = t(S8, 1, 3, 5, 7)
    yield "plain", mul(), (full, full)
    yield "mixed", mul(U8, 100), (t(U8, 1, 3, 5, 7), full)
    yield "gate", mul(), (full, t(S8, 1, 1, 1, 7))
    yield "gate_pixels", mul(), (t(S8, 1, 3, 5, 1), full)
    yield "channel", mul(), (full, ints(S8, 7))
    yield "scalar", mul(S8, 255), (ints(U8, 1), full)
    yield "map", mul(), (ints(S8, 3, 5, 7), full)
    yield "itself", mul(), (t(S8, 6, 10), 0)


def sixteen_bit_cases(mode: Mode) -> Iterator[Raw]:
    """Sums, products and layers of 16-bit numbers with zero points, as from unsigned ones; sums beyond 32 bits."""
    a, b = q(0.0007, -32768), q(0.0003, 1234)
    wide, byte, vector = t(S16, 1, 3, 5, 7), t(S8, 1, 3, 5, 7), t(S16, 1, 1, 1, 7)
    yield "s16_add", Add(a, b, q(0.0009, -30000), S16, -30000, 32767, mode), (wide, wide)
    yield "s16_minus", Add(b, a, q(0.0008, 7), S16, -32768, 32000, mode, -1), (wide, vector)
    yield "s16_coarse", Add(q(16000.0, 32767), q(1.0), q(1.0, 9), S16, -32768, 32767, mode, -1), (wide, ints(S16, 7))
    if mode != "tflite":
        yield "s16_mixed", Add(q(0.05, -7), b, q(0.0003), S16, -32768, 32767, mode), (byte, wide)
        yield "s16_narrowed", Add(b, a, q(0.2, 3), S8, -128, 100, mode), (wide, wide)
    reach = 65535 * 34002
    step = make_requant(mode, a.scale, [b.scale], q(0.01, -32768), S16, reach=reach)
    yield "s16_mul", Mul(-32768, 1234, step, S16, None), (wide, vector)
    sums = make_requant(mode, a.scale, [b.scale], q(0.02, -32768), S16, reach=9 * reach)
    yield "s16_matmul", MatMul(-32768, 1234, sums, S16, None), (t(S16, 3, 9), t(S16, 9, 19))
    known = make_requant(mode, 1e-4, [1e-3], q(0.03, 5), S16, reach=9 * 32768 * 200)
    yield "s16_matmul_bytes", MatMul(0, 72, known, S16, None), (t(S16, 3, 9), ints(S8, 9, 4))
    weights, bias = ints(S16, 5, 3, 3, 4), ints(S16, 5).astype(np.int32)
    layer = make_requant(mode, 1e-5, [1e-3, 2e-3, 1e-3, 1e-4, 1e-3], q(0.01, -20000), S16, wide=True, reach=1 << 38)
    same = window(3, 1, 1, 1, 1)
    yield "s16_conv", Conv2D(same, same, 1, -32768, layer, S16, None), (t(S16, 1, 4, 5, 4), weights, bias)
    at = ((0, 1, 0), (0, 1, 1500), (1, 2, 2047), (2, 2, 0))
    for name, x, y in (("scaled", a, q(0.0005, -20000)), ("same", a, a), ("centred", b, b)):
        resize = ResizeBilinear(at, ((0, 0, 7), (3, 4, 1024)), x, y, S16, -32768, 32767, mode)
        yield f"s16_{name}", resize, (t(S16, 1, 3, 5, 2),)
        pool = AveragePool2D(same, window(2, 2), name == "same", x, y, S16, -32768, 32767, mode)
        yield f"s16_pool_{name}", pool, (wide,)
        yield f"s16_mean_{name}", GlobalAveragePool(x, y, S16, -32768, 32767, mode), (wide,)
    yield "s16_dense", Dense(-32768, layer, S16, None), (t(S16, 2, 36), weights.reshape(5, 36), bias)


def sums_and_pairs(a: Quant, b: Quant) -> Iterator[Raw]:
    bounds = (-100, 127)
    yield "add_n", AddN(a, b, *bounds), (t(S8, 2, 3, 7), t(S8, 2, 3, 7), t(S8, 2, 3, 7))
    yield "add_n_const", AddN(a, b, *bounds), (ints(S8, 2, 3, 7), t(S8, 2, 3, 7))
    for axis, ways in enumerate(((False, False), (True, True), (False, True))):
        yield f"cumulative{axis}", CumulativeSum(axis, a, b, *bounds, *ways), (t(S8, 3, 40, 7),)
    for scale in (1e-6, 0.02, 3.0, 1e4):
        yield f"div{scale}", Div(a, b, q(scale, 3), *bounds), (t(S8, 5, 6, 7), t(S8, 5, 6, 7))
    yield "div_const", Div(a, b, q(0.2), *bounds), (t(S8, 5, 6, 7), ints(S8, 7))
    yield "div_broadcast", Div(a, b, q(0.2), *bounds), (t(S8, 300, 1), t(S8, 1, 300))
    for relation in ("<", "=="):
        yield f"compare{relation}", Compare(relation, a, q(a.scale * 1.1, -3)), (t(S8, 4, 5, 7), t(S8, 4, 5, 7))
    yield "compare_const", Compare(">=", a, b), (ints(U8, 7), t(U8, 4, 5, 7))
    yield "compare32", Compare("!=", None, None), (t(S32, 4, 1), t(S32, 1, 6))
    for operation in ("+", "-", "*", "/", "//", "%"):
        yield f"whole{operation}", WholeArithmetic(operation), (t(S32, 4, 1, 30), t(S32, 5, 30))
    yield "whole_const", WholeArithmetic("//"), (t(S32, 4, 5, 7), np.arange(-3, 4, dtype=np.int32))
    yield "compare16_scaled", Compare("==", q(0.02), q(0.01)), (t(S16, 40, 5), t(S16, 5))
    yield "compare16", Compare(">", None, None), (t(S16, 4, 5), t(S16, 5))


def tflite_cases() -> Iterator[Raw]:
    """Operators that have TFLite's definition only."""
    full, wide = t(S8, 1, 3, 5, 7), t(S16, 1, 3, 5, 7)
    a, b = q(0.03, -128), q(0.2, 127)
    yield "max", Extremum(True, a), (full, ints(S8, 7))
    yield "min", Extremum(False, a), (t(U8, 4, 1), t(U8, 1, 6))
    yield "max32", Extremum(True, None), (t(S32, 4, 3), t(S32, 3))
    yield "squared", SquaredDifference(a, b, q(0.9, -128), S8, -128, 127), (full, t(S8, 1, 1, 1, 7))
    yield "squared16", SquaredDifference(q(3e-4), q(2e-5), q(1e-3), S16, -32768, 32767), (wide, wide)
    yield "slope", PRelu(a, q(0.01, 127), q(0.05, -3), S8), (full, ints(S8, 7))
    yield "slope_map", PRelu(q(0.03, 127), b, q(0.5, -3), S8), (full, ints(S8, 3, 5, 7))
    yield "slope16", PRelu(q(0.03, 127), q(2.0**-15), q(0.02, -3), S8), (full, ints(S16, 1, 3, 1, 7))
    for largest in (True, False):
        yield f"arg{largest:d}", ArgExtremum(largest), (t(S8, 2, 3, 4, 11),)
        yield f"last{largest:d}", ArgExtremum(largest, last=True), (t(S8, 2, 3, 4, 200),)
        yield f"arg16{largest:d}", ArgExtremum(largest), (t(S16, 5),)
    yield from sums_and_pairs(a, b)
    yield "select", Select(a), (t(U8, 3, 5, 7), t(S8, 3, 5, 7), t(S8, 3, 5, 7))
    yield "select_const", Select(None), (t(U8, 9, 4), t(S16, 9, 4), ints(S16, 9, 4))
    yield "take", Take(1), (t(S16, 5, 3, 4), t(S32, 6, 1))
    yield "take_two", Take(2), (t(S8, 5, 3, 4), t(S32, 2, 3, 2))
    yield "take_const", Take(1), (ints(S8, 5, 9), t(S32, 7, 1))
    yield "length", L2Norm(-7), (t(S8, 1, 3, 5, 7),)
    yield "length_of_many", L2Norm(127), (t(S8, 2, 3000),)
    yield "sum", GlobalSum(-7, requant("tflite", 500.0), S8, q(1.0)), (t(S8, 1, 5, 3, 17),)
    yield "sum16", GlobalSum(0, requant("single", 3e5, 1, S16), S16, q(1.0)), (t(S16, 1, 4, 2, 3),)
    yield "s16_s8", TwoSlopes(0, (1 << 30, -7), (1 << 30, -7), False, -128, 127, S8, q(1.0, 5)), (wide,)
    yield "leaky", TwoSlopes(0, (1 << 30, 1), (3 << 29, -2), False, -32768, 32767, S16, q(1.0)), (wide,)
    yield "abs", TwoSlopes(0, (1 << 30, 0), (1 << 30, 0), True, -32768, 32767, S16, q(1.0)), (wide,)
    yield "s8_s32", TwoSlopes(9, (1 << 30, 8), (1 << 30, 8), False, -(1 << 31), (1 << 31) - 1, S32, q(1.0)), (full,)
    for exponent in (-3, 0, 14):
        yield f"e{exponent + 3}", Softmax16(1518500250, exponent), (t(S16, 2, 3, 40),)
    yield "many", Softmax16(1518500250, -14), (t(S16, 32767),)
    for multiplier, shift in ((3, 0), (16384, 14), (32767, 31), (24000, 1)):
        yield f"logistic{shift}", Sigmoid16("logistic", multiplier, shift), (wide,)
        yield f"tanh{shift}", Sigmoid16("tanh", multiplier, shift), (wide,)
    for scale in (0.001, 0.1, 3.0):
        yield f"log{scale}", LogSoftmax(q(scale, 4), LOG_OUTPUT, S8, "tflite"), (t(S8, 3, 40),)
        yield f"own_log{scale}", LogSoftmax(q(scale, 4), q(scale / 2, 90), S8, "single"), (t(U8, 3, 40),)
    yield "log_sums", LogSoftmax(q(1e-4), q(0.05, 255), U8, "single"), (t(S8, 4095),)
    yield "log16", LogSoftmax(q(0.1), q(2.0**-12, 32767), S16, "ort"), (t(S8, 5, 7),)
    add = Add(q(0.001), q(0.0002), q(0.0009), S16, -32768, 32000, "tflite", -1)
    yield "add16", add, (wide, t(S16, 1, 1, 1, 7))
    yield "mul16", Mul(0, 0, requant("tflite", 2.0**30, 1, S16), S16, None), (wide, wide)
    half = AveragePool2D(window(3, 2, 1, 1, 1), window(2, 2), False, q(0.1), q(0.1), S16, -32768, 32767, "tflite")
    yield "pool16", half, (wide,)
    yield "mean16", GlobalAveragePool(q(0.1), q(0.07), S16, -32768, 32767, "tflite", True), (wide,)


def matmul_cases(mode: Mode) -> Iterator[Raw]:
    def product(y: DType = S8, columns: int = 1, a: int = -5) -> MatMul:
        return MatMul(a, 7, requant(mode, 128 * 128 * 4, columns, y), y, None)

    yield "plain", product(), (t(S8, 3, 5), t(S8, 5, 19))
    yield "batch", product(U8), (t(S8, 2, 2, 3, 4), t(U8, 2, 2, 4, 16))
    yield "left_constant", product(), (ints(S8, 2, 3, 4), t(S8, 2, 4, 5))
    yield "right_constant", product(S8, 1, 0), (t(U8, 2, 3, 4), ints(S8, 2, 4, 5))
    yield "columns", product(S8, 18), (t(S8, 2, 9), t(S8, 9, 18))
    if mode == "single":
        yield "sums", MatMul(0, 3, None, S32, None), (t(S8, 2, 9), t(U8, 9, 3))


def mean_cases(mode: Mode) -> Iterator[Raw]:
    def mean(h: Window, w: Window, *, pads: bool = False, same: bool = False, y: DType = S8) -> AveragePool2D:
        x_quant = q(0.05, 250 if y is U8 else -7)
        return AveragePool2D(h, w, pads, x_quant, x_quant if same else q(0.03, 5), y, y.low, y.high - 2, mode)

    for same in (False, True):
        tag = "same" if same else "scaled"
        yield f"valid_{tag}", mean(window(2, 2), window(2, 2), same=same), (t(S8, 1, 6, 7, 5),)
        pad = window(3, 2, 1, 1, 1)
        yield f"padded_{tag}", mean(pad, pad, same=same), (t(S8, 1, 5, 6, 18),)
        yield f"counted_{tag}", mean(pad, pad, same=same, pads=True), (t(S8, 1, 5, 6, 3),)
        yield (
            f"global_{tag}",
            GlobalAveragePool(q(0.05, -7), q(0.05, -7) if same else q(0.02, 30), S8, -128, 127, mode),
            (t(S8, 1, 5, 3, 17),),
        )
    yield "unsigned", mean(window(3, 1, 2, 2, 0), window(2, 3, 2, 1, 2), y=U8), (t(U8, 1, 7, 8, 4),)
    yield "global_mean", GlobalAveragePool(q(0.05, -7), q(0.05, -7), S8, -128, 127, mode, True), (t(S8, 1, 5, 3, 9),)
    yield "global_unsigned", GlobalAveragePool(q(0.05, 130), q(0.05, 130), U8, 0, 255, mode), (t(U8, 1, 1, 9, 1),)


def bilinear_cases(mode: Mode) -> Iterator[Raw]:
    def taps(n_in: int, n_out: int) -> tuple[tuple[int, int, int], ...]:
        at = np.clip((np.arange(n_out) + 0.5) * n_in / n_out - 0.5, 0, n_in - 1)
        low = np.floor(at).astype(int)
        return tuple(
            (int(i), int(min(i + 1, n_in - 1)), round(float(p - i) * 2048)) for i, p in zip(low, at, strict=True)
        )

    def resize(h: int, w: int, h_out: int, w_out: int, x: Quant, y: Quant, dtype: DType) -> ResizeBilinear:
        return ResizeBilinear(taps(h, h_out), taps(w, w_out), x, y, dtype, dtype.low, dtype.high, mode)

    yield "up", resize(3, 4, 7, 9, q(0.1, -128), q(0.1, -128), S8), (t(S8, 1, 3, 4, 3),)
    yield "down", resize(7, 6, 3, 4, q(0.1, 255), q(0.2, 7), U8), (t(U8, 1, 7, 6, 2),)
    yield "one", resize(1, 1, 2, 3, q(0.1, 3), q(0.07, 3), S8), (t(S8, 1, 1, 1, 5),)


def conv_cases(mode: Mode) -> Iterator[Raw]:
    def conv(
        x: TensorType,
        h: Window,
        w: Window,
        outputs: int,
        groups: int = 1,
        y: DType = S8,
        *,
        reach: float = 0,
        factors: int = 0,
    ) -> Raw:
        weights = ints(S8, outputs, h.size, w.size, x.shape[3] // groups)
        step = requant(mode, reach or 128 * 128 * np.sqrt(weights[0].size), factors or outputs, y)
        op = Conv2D(h, w, groups, 130 if x.dtype is U8 else -5, step, y, None)
        return "", op, (x, weights, RNG.integers(-9999, 9999, outputs).astype(np.int32))

    same = window(3, 1, 1, 1, 1)
    shapes = {
        "same": conv(t(S8, 1, 5, 6, 3), same, same, 3),
        "far_pads": conv(t(U8, 1, 4, 3, 2), window(2, 2, 3, 4, 2), window(3, 3, 2, 5, 4), 5, y=U8),
        "groups": conv(t(S8, 1, 4, 5, 6), same, window(2, 2), 4, 2),
        "depthwise": conv(t(S8, 1, 4, 5, 19), same, same, 19, 19),
        "pointwise": conv(t(S8, 1, 2, 3, 5), window(1), window(1), 7),
        "wide_input": conv(t(S16, 1, 3, 3, 2), same, same, 2),
    }
    shapes |= _blocks(conv) | _slides(conv) | _vectors(conv)
    for name, (_, op, ins) in shapes.items():
        yield name, op, ins


def shifted_cases(mode: Mode) -> Iterator[Raw]:
    """Weights of 16 bits that are bytes less a number: uint8 less a zero point."""
    rng, one, same, half = np.random.default_rng(3), window(1), window(3, 1, 1, 1, 1), window(3, 2, 1, 0, 1)

    def drawn(low: int, *shape: int) -> Array:
        found = rng.integers(low, low + 255, shape, endpoint=True)
        found.flat[0], found.flat[-1] = low, low + 255
        return found.astype(np.int16)

    def conv(x: TensorType, h: Window, outputs: int, low: int, groups: int = 1) -> Raw:
        weights, y = drawn(low, outputs, h.size, h.size, x.shape[3] // groups), x.dtype
        step = requant(mode, 128 * 200 * np.sqrt(weights[0].size), outputs, y)
        bias = rng.integers(-9999, 9999, outputs).astype(np.int32)
        return "", Conv2D(h, h, groups, 130 if y is U8 else -5, step, y, None), (x, weights, bias)

    convolutions = {
        "points": conv(t(U8, 1, 2, 6, 20), one, 8, -121),
        "points_odd": conv(t(S8, 1, 2, 7, 13), one, 5, -255),
        "point": conv(t(U8, 1, 1, 1, 37), one, 7, 0),
        "window": conv(t(U8, 1, 4, 5, 3), same, 5, -100),
        "window_by_row": conv(t(U8, 1, 3, 3, 70), same, 3, -140),
        "each": conv(t(U8, 1, 4, 9, 6), same, 6, -127, 6),
        "each_strided": conv(t(S8, 1, 5, 8, 5), half, 5, -1, 5),
        "each_1x1": conv(t(U8, 1, 3, 4, 3), one, 3, -150, 3),
    }
    for name, (_, op, ins) in convolutions.items():
        yield name, op, ins
    step = requant(mode, 128 * 200 * 6, 9)
    yield "dense", Dense(130, step, S8, None), (t(U8, 3, 31), drawn(-129, 9, 31), ints(S32, 9) >> 16)


def _blocks(conv: Callable[..., Raw]) -> dict[str, Raw]:
    """Rows, channels and runs of taps that no block divides; windows of every kind."""
    same, half = window(3, 1, 1, 1, 1), window(3, 2, 1, 0, 1)
    point, step = window(1), window(1, 2)
    return {
        "odd_everything": conv(t(S8, 1, 4, 11, 5), same, same, 9),
        "strided": conv(t(U8, 1, 5, 13, 3), half, half, 6, y=U8),
        "long_kernel": conv(t(S8, 1, 9, 10, 1), window(10, 2, 1, 4, 5), window(4, 2, 1, 1, 1), 13),
        "dilated": conv(t(S8, 1, 6, 9, 4), window(3, 1, 2, 2, 2), window(3, 1, 2, 2, 2), 5),
        "stride_3": conv(t(S8, 1, 7, 19, 2), window(2, 3), window(5, 3, 1, 2, 1), 8, factors=1),
        "point_strided": conv(t(S8, 1, 3, 15, 13), step, step, 10),
        "point_deep": conv(t(U8, 1, 2, 7, 37), point, point, 11),
        "point_one": conv(t(S8, 1, 1, 1, 45), point, point, 17, factors=1),
        "large_factor": conv(t(S8, 1, 3, 5, 2), same, same, 4, reach=400),
        "short_row": conv(t(S8, 1, 2, 1, 3), same, same, 5),
    }


def _slides(conv: Callable[..., Raw]) -> dict[str, Raw]:
    """Depthwise windows of every kind."""
    same, half, five = window(3, 1, 1, 1, 1), window(3, 2, 1, 0, 1), window(5, 1, 1, 2, 2)
    far, down = window(3, 3, 2, 5, 4), window(5, 2, 1, 1, 2)
    return {
        "depthwise_long_row": conv(t(S8, 1, 3, 29, 3), same, same, 3, 3),
        "depthwise_unsigned": conv(t(U8, 1, 4, 14, 5), half, half, 5, 5, y=U8, factors=1),
        "depthwise_5x5": conv(t(S8, 1, 5, 9, 6), five, five, 6, 6),
        "depthwise_5x5_strided": conv(t(S8, 1, 6, 12, 2), down, down, 2, 2, factors=1),
        "depthwise_dilated": conv(t(S8, 1, 6, 7, 4), window(3, 1, 2, 2, 2), window(3, 1, 2, 2, 2), 4, 4),
        "depthwise_tall": conv(t(S8, 1, 9, 1, 20), window(7, 2, 1, 3, 0), window(1), 20, 20),
        "depthwise_wide": conv(t(S8, 1, 2, 30, 2), window(1), window(17, 1, 1, 8, 8), 2, 2),
        "depthwise_far_pads": conv(t(S8, 1, 4, 3, 3), far, far, 3, 3),
        "depthwise_even": conv(t(S8, 1, 4, 6, 8), window(2, 2), window(4, 1, 1, 1, 2), 8, 8, factors=1),
        "depthwise_multiplied": conv(t(S8, 1, 3, 5, 3), same, same, 6, 3),
        "depthwise_large_factor": conv(t(S8, 1, 3, 4, 2), same, same, 2, 2, reach=400),
    }


def _vectors(conv: Callable[..., Raw]) -> dict[str, Raw]:
    """What blocks of pixels, channels and inputs leave over: odd columns, odd channels, odd windows, long rows."""
    one, same, half = window(1), window(3, 1, 1, 1, 1), window(3, 2, 1, 0, 1)

    def each(x: TensorType, h: Window, w: Window) -> Raw:
        return conv(x, h, w, x.shape[3], x.shape[3], y=x.dtype)

    return {
        "deep_odd": conv(t(S8, 1, 3, 5, 24), same, same, 6, factors=1),
        "deep_points": conv(t(S8, 1, 2, 5, 80), one, one, 9),
        "deep_odd_points": conv(t(U8, 1, 2, 4, 75), one, one, 3, factors=1),
        "points_48": conv(t(S8, 1, 2, 7, 48), one, one, 12),
        "points_long": conv(t(U8, 1, 2, 39, 16), one, one, 5, y=U8),
        "points_strided": conv(t(S8, 1, 5, 7, 32), window(1, 2), window(1, 2), 8),
        "first_long": conv(t(S8, 1, 3, 37, 3), same, same, 7),
        "first_strided": conv(t(S8, 1, 9, 10, 1), window(5, 2, 1, 2, 2), window(4, 2, 1, 1, 1), 8),
        "one_pixel": conv(t(S8, 1, 3, 3, 20), window(3), window(3), 11),
        "one_pixel_unsigned": conv(t(U8, 1, 1, 1, 70), one, one, 2, y=U8),
        "each_20": each(t(S8, 1, 6, 9, 20), half, half),
        "each_long": each(t(S8, 1, 3, 61, 4), same, same),
        "each_unsigned": each(t(U8, 1, 4, 5, 33), same, same),
        "each_tall": each(t(S8, 1, 17, 2, 18), window(15, 1, 1, 1), one),
        "each_tall_dilated": each(t(U8, 1, 12, 2, 3), window(6, 2, 2, 1), one),
        "each_4x4": each(t(S8, 1, 7, 8, 16), window(4, 3, 1, 1), window(4, 3, 1, 2, 1)),
        "each_dilated": each(t(S8, 1, 5, 9, 5), same, window(3, 1, 3, 3, 2)),
        "each_5x5": each(t(S8, 1, 6, 7, 18), window(5, 1, 1, 2, 2), window(5, 1, 1, 2, 2)),
        "each_5x5_strided": each(t(U8, 1, 7, 26, 3), window(5, 2, 1, 1, 2), window(5, 2, 1, 1, 2)),
        "each_7x7": each(t(S8, 1, 8, 8, 4), window(7, 1, 1, 3, 3), window(7, 1, 1, 3, 3)),
    }


def dense_cases(mode: Mode) -> Iterator[Raw]:
    """Sums just below 2^31; sums above; folded sums above whose end values are below."""
    edge = np.full((2, 2), 32767, np.int16)
    edge[1, 1] = -32767
    bias = np.array([60000, -60000], np.int32)
    yield "edge", Dense(0, requant(mode, 1 << 31, 2), S8, None), (t(S16, 3, 2), edge, bias)
    heavy = np.full((3, 200), 32767, np.int16)
    heavy[1] = ints(S16, 200)
    small = np.array([5, -6, 7], np.int32)
    yield "narrowed", Dense(128, requant(mode, 1 << 30, 3), S8, None), (t(U8, 2, 200), heavy, small)
    for name, dtype, batch, n_in, n_out in (("one", S8, 1, 131, 10), ("odd", U8, 3, 29, 13), ("few", S8, 1, 7, 3)):
        weights, step = ints(S8, n_out, n_in), requant(mode, 128 * 128 * np.sqrt(n_in), n_out)
        op = Dense(dtype.low + 7, step, S8, None)
        yield name, op, (t(dtype, batch, n_in), weights, ints(S32, n_out) >> 16)
    if mode != "ort":
        over = requant(mode, 1 << 36, 3, wide=True)
        yield "wide", Dense(11, over, S8, None), (t(S16, 2, 200), heavy, small)
    if mode == "single":
        yield "sums", Dense(3, None, S32, None), (t(S8, 4, 9), ints(S8, 6, 9), ints(S32, 6) >> 4)
        yield "wrapping", Dense(11, None, S32, None), (t(S16, 2, 200), heavy, small)
        pads = window(3, 1, 1, 1, 1)
        over = requant(mode, 1 << 36, 3, wide=True)
        deep = np.full((3, 3, 3, 40), 32767, np.int16)
        yield "wide_conv", Conv2D(pads, pads, 1, 11, over, S8, None), (t(S16, 1, 3, 3, 40), deep, small)
        deep = np.full((3, 3, 3, 1), -32768, np.int16)
        yield "wide_transposed", ConvTranspose2D(pads, pads, (0, 0), 1, 11, over, S8, None), _deep_transposed(small)
        yield "wide_depthwise", Conv2D(pads, pads, 3, 11, over, S8, None), (t(S16, 1, 3, 3, 3), deep, small)


def _deep_transposed(bias: Array) -> tuple[TensorType | Array | int, ...]:
    return t(S16, 1, 3, 3, 40), np.full((3, 3, 3, 40), 32767, np.int16), bias


def max_cases() -> Iterator[Raw]:
    yield "plain", MaxPool2D(window(2, 2), window(2, 2)), (t(S8, 1, 6, 7, 5),)
    yield "padded", MaxPool2D(window(3, 2, 1, 1, 1), window(3, 2, 1, 1, 1)), (t(U8, 1, 5, 6, 19),)
    yield "large", MaxPool2D(window(5, 1, 1, 2, 2), window(5, 1, 1, 2, 2)), (t(S8, 1, 6, 6, 3),)
    yield "dilated", MaxPool2D(window(2, 1, 3, 4, 0), window(3, 3, 2, 5, 4)), (t(S16, 1, 5, 3, 2),)


def element_cases() -> Iterator[Raw]:
    for x in (S8, U8):
        for y in (S8, U8):
            table = tuple(ints(y, 256).tolist())
            yield f"{x.value}_{y.value}", Lut(table, y, None, "noise"), (t(x, 1, 3, 5, 2),)
    yield "wide", Lut(tuple(ints(S16, 256).tolist()), S16, None, "noise"), (t(S8, 7),)
    for dtype, low, high in ((S8, -3, 90), (U8, 3, 200), (S16, -5, 30000), (S32, -(2**31), 5)):
        yield dtype.value, Clamp(low, high), (t(dtype, 2, 3, 5),)
    for y, quant in ((S8, q(0.03125, 3)), (U8, q(0.007, 128)), (S16, q(0.0001, -30000)), (S8, q(1e-30, 0))):
        yield f"{y.value}_{quant.scale:g}", Quantize(y, quant), (t(F32, 1, 4, 4, 3),)
        yield f"{y.value}_{quant.scale:g}_away", Quantize(y, quant, True), (t(F32, 1, 4, 4, 3),)
    for x, quant in (
        (S8, q(0.1, -7)),
        (U8, q(0.3, 200)),
        (S16, q(1e-4, -31000)),
        (S32, q(7e-9, 0)),
        (S32, q(3.0, 2**30)),
    ):
        yield f"{x.value}_{quant.scale:g}", Dequantize(quant), (t(x, 1, 2, 5, 3),)
    for mode in MODES:
        for channels in (1, 3):
            op = Rescale(requant(mode, 1 << 31, channels), S8, None)
            yield f"{mode}_{channels}", op, (t(S32, 1, 2, 5, 3),)


def softmax_cases() -> Iterator[Raw]:
    classic = q(1 / 256, -128)
    yield "classic", Softmax(q(0.06, 3), classic, S8, "single"), (t(S8, 1, 2, 3, 10),)
    yield "beta", Softmax(q(0.06, 3), classic, S8, "single", 0.3), (t(S8, 1, 2, 3, 10),)
    yield "fixed", Softmax(q(0.17, 3), classic, S8, "tflite"), (t(S8, 1, 2, 3, 10),)
    yield "fixed_u8", Softmax(q(0.6, 3), q(1 / 256, 0), U8, "tflite", 0.5), (t(U8, 2, 300),)
    yield "fixed_s16", Softmax(q(0.02, 3), q(2.0**-16, -32768), S16, "tflite", 2.0), (t(S8, 3, 33),)
    yield "fixed_steep", Softmax(q(99.0, 3), classic, S8, "tflite"), (t(S8, 3, 5),)
    yield "fixed_many", Softmax(q(1e-4, 3), classic, S8, "tflite"), (t(S8, 2, 4095),)
    yield "flat", Softmax(q(1e-9, 3), classic, S8, "tflite"), (t(S8, 3, 7),)
    yield "steep", Softmax(q(9.0, 3), q(1 / 255, 0), U8, "ort"), (t(U8, 33),)
    yield "fine", Softmax(q(0.01, 3), q(2.0**-20, -5), S8, "single"), (t(S8, 4, 300),)
    yield "coarse", Softmax(q(0.5, 3), q(1.7, -5), S8, "single"), (t(U8, 4, 1),)
    yield "wide", Softmax(q(0.0005, -9), q(2.0**-15), S16, "single"), (t(S16, 4, 33),)
    yield "wide_unsigned", Softmax(q(0.004, 7), q(1 / 65535, -32768), S16, "ort", 0.5), (t(S16, 2, 3),)
    for dtype, scale in ((S8, 0.01), (U8, 0.004), (S16, 3e-5)):
        made = piecewise_linear(np.tanh, "Tanh", q(1e-4, 999), q(scale, 7), dtype)
        yield f"pieces_{dtype.value}", made, (t(S16, 1, 3, 5, 7),)
    yield "vanishing", Softmax(q(0.5, 3), q(2.5, -5), S8, "single"), (t(S8, 4, 2),)
