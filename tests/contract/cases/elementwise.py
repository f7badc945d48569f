"""Sums, products, differences, quotients, the larger of two, clamps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codegen.ir.quant import DType, Mode, Quant
from codegen.ops import (
    Add,
    Clamp,
    Div,
    Extremum,
    Mul,
    PRelu,
    Response,
    SquaredDifference,
    WholeArithmetic,
    remainder_of,
)
from codegen.ops.whole import OPERATIONS
from tests.contract.case import BOUNDS, S8, S16, S32, U8, A, B, Case, Y, in_modes, ints, q, requant, t
from tests.support.graphs import step_of

SHAPES = (
    ((1, 4, 3, 2), (1, 4, 3, 2)),
    ((1, 4, 3, 2), (1, 1, 1, 2)),
    ((1, 1, 3, 2), (1, 4, 3, 1)),
    ((2, 1, 3, 2), (1, 4, 1, 2)),
    ((6,), (1, 2, 6)),
    ((5, 3), (5, 3)),
)
"""Pairs of shapes that broadcast."""


def cases() -> Iterator[Case]:
    """All of them."""
    yield from in_modes(add_cases, mul_cases, broadcast_cases, wide_cases)
    yield from clamp_cases()
    yield from pair_cases()
    yield from quotient_cases()
    yield from slope_cases()
    yield from remainder_cases()
    yield from response_cases()
    yield from whole_cases()


def add_cases(mode: Mode) -> Iterator[Case]:
    a, b, u = q(0.031, -3), q(0.07, 11), q(0.02, 200)

    def add(
        sign: int = 1, y: DType = S8, a: Quant = a, b: Quant = b, scale: float = 0.09, low: int | None = None
    ) -> Add:
        y_quant = q(scale, (y.low + y.high) // 2 - 9)
        return Add(a, b, y_quant, y, y.low if low is None else low, y.high, mode, sign)

    full = t(S8, 1, 3, 5, 7)
    yield Case("plain", add(), (full, full))
    yield Case("minus_relu", add(-1, low=-9), (full, full))
    yield Case("relu", add(low=-10), (full, full))
    yield Case("mixed", add(1, U8), (t(S8, 1, 3, 5, 7), t(U8, 1, 3, 5, 7)))
    yield Case("mixed_minus", add(-1, S8, u), (t(U8, 1, 3, 5, 7), full))
    yield Case("itself", add(), (full, 0))
    yield Case("channel", add(), (full, ints(S8, 7)))
    yield Case("channel_first", add(-1, S8, u), (ints(U8, 1, 1, 7), full))
    yield Case("scalar", add(), (full, ints(S8, 1)))
    yield Case("rank0", add(-1), (full, ints(S8)))
    yield Case("pixel", add(), (full, ints(S8, 5, 1)))
    yield Case("map", add(-1), (full, ints(S8, 1, 3, 5, 7)))
    yield Case("row_each", add(), (full, ints(S8, 3, 1, 7)))
    yield Case("grey", add(), (t(S8, 1, 3, 5, 1), t(S8, 1, 3, 5, 1)))
    yield Case("number_of_row", add(-1), (ints(S8, 1, 3, 1, 1), full))
    yield Case("number_of_row_relu", add(low=-10), (full, ints(S8, 1, 3, 1, 1)))
    yield Case("dynamic_channel", add(), (full, t(S8, 1, 1, 1, 7)))
    yield Case("dynamic_row", add(-1), (t(S8, 1, 3, 1, 7), t(S8, 1, 3, 5, 1)))
    yield Case("dynamic_first", add(), (t(S8, 7), full))
    yield Case("dynamic_scalar", add(1, S8, u), (t(U8, 1), full))
    yield Case("outer", add(), (t(S8, 4, 1), t(S8, 1, 6)))
    yield Case("deep", add(), (t(S8, 2, 1, 3, 2, 2), t(S8, 1, 2, 3, 1, 2)))
    yield Case("narrow", add(), (t(S8, 1, 4, 1, 3), ints(S8, 3)))
    yield Case("single_channel", add(-1), (t(S8, 1, 3, 4, 1), ints(S8, 1, 1, 4, 1)))
    yield Case("vector", add(), (t(S8, 9), ints(S8, 9)))
    yield Case("coarse", add(1, S8, q(3.0, 127), q(5.0, -128), 0.001), (full, full))
    yield Case("fine", add(-1, S8, q(0.001, 127), q(1e-6, -128), 4.0), (full, full))
    yield Case("ties", add(1, S8, q(0.5, 0), q(0.25, 1), 1.0), (full, full))


def mul_cases(mode: Mode) -> Iterator[Case]:
    def mul(y: DType = S8, a: int = -4) -> Mul:
        return Mul(a, 9, requant(mode, 128 * 128, 1, y), y, None)

    full = t(S8, 1, 3, 5, 7)
    yield Case("plain", mul(), (full, full))
    yield Case("mixed", mul(U8, 100), (t(U8, 1, 3, 5, 7), full))
    yield Case("gate", mul(), (full, t(S8, 1, 1, 1, 7)))
    yield Case("gate_pixels", mul(), (t(S8, 1, 3, 5, 1), full))
    yield Case("gate_behind", mul(U8, 100), (t(U8, 1, 1, 1, 20), t(S8, 1, 3, 5, 20)))
    yield Case("gate_one", mul(), (t(S8, 1, 3, 5, 9), t(S8, 1, 1, 1, 1)))
    yield Case("gate_grey", mul(), (t(S8, 1, 3, 5, 1), t(S8, 1, 3, 5, 1)))
    yield Case("gate_rank", mul(), (t(S8, 4, 16), t(S8, 16)))
    yield Case("channel", mul(), (full, ints(S8, 7)))
    yield Case("scalar", mul(S8, 255), (ints(U8, 1), full))
    yield Case("map", mul(), (ints(S8, 3, 5, 7), full))
    yield Case("whole_map", mul(U8, 100), (t(U8, 1, 3, 5, 7), ints(S8, 1, 3, 5, 7)))
    yield Case("number_of_row", mul(), (full, ints(S8, 1, 3, 1, 1)))
    yield Case("itself", mul(), (t(S8, 6, 10), 0))


def broadcast_cases(mode: Mode) -> Iterator[Case]:
    for i, (a, b) in enumerate(SHAPES):
        ins = t(S8, *a, quant=A), t(S8, *b, quant=B)
        yield Case(f"plus_{i}", Add(A, B, Y, S8, *BOUNDS, mode, 1), ins)
        yield Case(f"minus_{i}", Add(A, B, Y, S8, *BOUNDS, mode, -1), ins)
        step = step_of(mode, A.scale, [B.scale], Y, S8)
        yield Case(f"times_{i}", Mul(A.zero_point, B.zero_point, step, S8, Y), ins)


def wide_cases(mode: Mode) -> Iterator[Case]:
    """16-bit numbers with zero points, as from unsigned ones; sums beyond 32 bits."""
    a, b = q(0.0007, -32768), q(0.0003, 1234)
    wide, byte, vector = t(S16, 1, 3, 5, 7), t(S8, 1, 3, 5, 7), t(S16, 1, 1, 1, 7)
    yield Case("s16_add", Add(a, b, q(0.0009, -30000), S16, -30000, 32767, mode), (wide, wide))
    yield Case("s16_minus", Add(b, a, q(0.0008, 7), S16, -32768, 32000, mode, -1), (wide, vector))
    yield Case(
        "s16_coarse", Add(q(16000.0, 32767), q(1.0), q(1.0, 9), S16, -32768, 32767, mode, -1), (wide, ints(S16, 7))
    )
    if mode != "tflite":
        yield Case("s16_mixed", Add(q(0.05, -7), b, q(0.0003), S16, -32768, 32767, mode), (byte, wide))
        yield Case("s16_narrowed", Add(b, a, q(0.2, 3), S8, -128, 100, mode), (wide, wide))
    step = step_of(mode, a.scale, [b.scale], q(0.01, -32768), S16, reach=65535 * 34002)
    yield Case("s16_mul", Mul(-32768, 1234, step, S16, None), (wide, vector))


def clamp_cases() -> Iterator[Case]:
    for dtype, low, high in ((S8, -3, 90), (U8, 3, 200), (S16, -5, 30000), (S32, -(2**31), 5)):
        yield Case(dtype.value, Clamp(low, high), (t(dtype, 2, 3, 5),))
    yield Case("image", Clamp(-100, 50), (t(S8, 1, 3, 4, 2, quant=A),))
    yield Case("table", Clamp(-100, 50), (t(S32, 3, 4),))


def pair_cases() -> Iterator[Case]:
    """Pairs that have TFLite's definition only."""
    full, wide = t(S8, 1, 3, 5, 7), t(S16, 1, 3, 5, 7)
    a, b = q(0.03, -128), q(0.2, 127)
    yield Case("max", Extremum(True, a), (full, ints(S8, 7)))
    yield Case("min", Extremum(False, a), (t(U8, 4, 1), t(U8, 1, 6)))
    yield Case("max32", Extremum(True, None), (t(S32, 4, 3), t(S32, 3)))
    yield Case("squared", SquaredDifference(a, b, q(0.9, -128), S8, -128, 127), (full, t(S8, 1, 1, 1, 7)))
    yield Case("squared16", SquaredDifference(q(3e-4), q(2e-5), q(1e-3), S16, -32768, 32767), (wide, wide))
    add = Add(q(0.001), q(0.0002), q(0.0009), S16, -32768, 32000, "tflite", -1)
    yield Case("add16", add, (wide, t(S16, 1, 1, 1, 7)))
    yield Case("mul16", Mul(0, 0, requant("tflite", 2.0**30, 1, S16), S16, None), (wide, wide))
    for i in (0, 1, 3):
        x, y = SHAPES[i]
        ins = t(S8, *x, quant=A), t(S8, *y, quant=B)
        yield Case(f"max_{i}", Extremum(True, A), (ins[0], t(S8, *y, quant=A)))
        yield Case(f"min_{i}", Extremum(False, A), (t(S16, *x, quant=A), t(S16, *y, quant=A)))
        yield Case(f"square_{i}", SquaredDifference(A, B, Quant(1.0, -100), S8, *BOUNDS), ins)
    s16 = Quant(2.0**-11)
    square = SquaredDifference(s16, s16, Quant(2.0**-6), S16, -32768, 32767)
    yield Case("square16_row", square, (t(S16, 3, 4, quant=s16), t(S16, 4, quant=s16)))


def quotient_cases() -> Iterator[Case]:
    a, b, bounds = q(0.03, -128), q(0.2, 127), (-100, 127)
    for scale in (1e-6, 0.02, 3.0, 1e4):
        yield Case(f"div{scale}", Div(a, b, q(scale, 3), *bounds), (t(S8, 5, 6, 7), t(S8, 5, 6, 7)))
    yield Case("div_const", Div(a, b, q(0.2), *bounds), (t(S8, 5, 6, 7), ints(S8, 7)))
    yield Case("div_broadcast", Div(a, b, q(0.2), *bounds), (t(S8, 300, 1), t(S8, 1, 300)))
    for kind, scale in ((U8, 0.02), (S16, 3e-5), (S16, 2.0)):
        ends = kind, (t(kind, 5, 6, 7), t(kind, 5, 6, 7))
        op = Div(q(0.03, 117), q(0.2, 3), q(scale, 5), ends[0].low, ends[0].high - 7, kind)
        yield Case(f"div_{kind.value}_{scale}", op, ends[1])
    narrowed = Div(q(3e-5), q(2e-5), q(0.02, -3), -128, 100)
    yield Case("div16_to8", narrowed, (t(S16, 5, 7), ints(S16, 7)))
    for i in (0, 3):
        x, y = SHAPES[i]
        yield Case(f"meant_{i}", Div(A, B, Y, *BOUNDS), (t(S8, *x, quant=A), t(S8, *y, quant=B)))


def slope_cases() -> Iterator[Case]:
    full, a, b = t(S8, 1, 3, 5, 7), q(0.03, -128), q(0.2, 127)
    yield Case("slope", PRelu(a, q(0.01, 127), q(0.05, -3), S8), (full, ints(S8, 7)))
    yield Case("slope_map", PRelu(q(0.03, 127), b, q(0.5, -3), S8), (full, ints(S8, 3, 5, 7)))
    yield Case("slope16", PRelu(q(0.03, 127), q(2.0**-15), q(0.02, -3), S8), (full, ints(S16, 1, 3, 1, 7)))
    wide, y16 = t(S16, 1, 3, 5, 7), q(0.0003)
    yield Case("slope_of_words", PRelu(q(0.0002, 100), q(2.0**-15), y16, S16), (wide, ints(S16, 7)))
    yield Case("slope_of_bytes", PRelu(q(0.0002), q(0.01, 127), y16, S16), (wide, ints(S8, 3, 1, 1)))
    extreme = np.array([-32768, 32767, -1, 1], np.int16).repeat(2).reshape(1, 1, 4, 2)
    ends = np.array([32767, -32767], np.int16)
    yield Case("slope_of_extremes", PRelu(q(0.0002, 32767), q(2.0**-15), y16, S16), (extreme, t(S16, 2)))
    yield Case("slope_of_ends", PRelu(q(0.0002, 32767), q(2.0**-15), y16, S16), (t(S16, 1, 1, 4, 2), ends))
    for i in (0, 1, 3):
        x, y = SHAPES[i]
        yield Case(f"computed_{i}", PRelu(A, B, Y, S8), (t(S8, *x, quant=A), t(S8, *y, quant=B)))


def remainder_cases() -> Iterator[Case]:
    """Of two scales: most of both types' numbers, some of which are nearly multiples of the others."""
    for i, (x, y) in enumerate(SHAPES):
        kinds = (S8, U8, S16)[i % 3], (U8, S8, S16)[i % 3]
        op = remainder_of(q(0.03, 3), q((0.1, 2.0**-7, 0.09)[i % 3], -5 * i), kinds)
        yield Case(f"scales_{i}", op, (t(kinds[0], *x), t(kinds[1], *y)))
    divisors = np.array([-3, 0, 1, 2, 127, -128, 5], np.int8)
    yield Case("scales_const", remainder_of(q(0.3, 9), q(0.1), (S8, S8)), (t(S8, 4, 5, 7), divisors))
    yield Case("scales_apart", remainder_of(q(300.0), q(0.001, 700), (S16, S16)), (t(S16, 4, 5, 7), t(S16, 4, 5, 7)))
    yield Case("scales_exact", remainder_of(q(0.25), q(1.0), (S8, S8)), (t(S8, 4, 5, 7), t(S8, 4, 5, 7)))


def response_cases() -> Iterator[Case]:
    """Powers that fall and rise, of sums that leave 31 bits too."""
    shape, y = (1, 3, 4, 7), q(2.0**-12, 90)
    for i, (dtype, x, beta, bias) in enumerate(
        ((S8, A, 0.75, 1000), (U8, q(0.03, 130), 0.5, 0), (S16, q(2.0**-11, 77), 1.0, 1 << 30), (S16, A, -0.5, 1 << 20))
    ):
        op = Response(x, beta, bias, 2.0**-29, y, S16, -32768, 32767 - 99 * i)
        yield Case(f"power_{i}", op, (t(dtype, *shape), t(S32, *shape)))
        yield Case(f"power_small_{i}", op, (t(dtype, *shape), t(S32, *shape)), few=100)
    yield Case("power_bytes", Response(A, 0.75, 12345, 2.0**-30, Y, S8, *BOUNDS), (t(S8, *shape), t(S32, *shape)))


def whole_cases() -> Iterator[Case]:
    """Plain numbers of 32 bits."""
    for operation in OPERATIONS:
        yield Case(f"whole{operation}", WholeArithmetic(operation), (t(S32, 4, 1, 30), t(S32, 5, 30)))
    yield Case("whole_const", WholeArithmetic("//"), (t(S32, 4, 5, 7), np.arange(-3, 4, dtype=np.int32)))
    exponents = np.array([-(2**31), -3, -2, 0, 1, 2, 5], np.int32)
    yield Case("whole_power_const", WholeArithmetic("power"), (t(S32, 4, 5, 7), exponents))
    yield Case("whole_power_few", WholeArithmetic("power"), (t(S32, 4, 5, 7), t(S32, 5, 7)), few=5)
    bits = np.array([0, 1, 7, 16, 29, 30, 31], np.int32)
    yield Case("whole_root_const", WholeArithmetic("root"), (t(S32, 4, 5, 7), bits))
    offsets = np.array([-(2**31), -(2**24), 0, 1, 2**24, 2**30, 2**31 - 1], np.int32)
    yield Case("whole_log_const", WholeArithmetic("log"), (t(S32, 4, 5, 7), offsets))
    for i in (0, 3):
        for operation in ("+", "*", "//"):
            x, y = SHAPES[i]
            yield Case(f"few{operation}_{i}", WholeArithmetic(operation), (t(S32, *x), t(S32, *y)), few=5)
