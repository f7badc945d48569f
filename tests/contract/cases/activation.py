"""Functions of one number, and of a row: tables, slopes, pieces of lines, softmax."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codegen.ir.quant import Mode, Quant
from codegen.ops import LogSoftmax, Lut, Sigmoid16, Softmax, Softmax16, TwoSlopes, piecewise_linear, unary_table
from codegen.ops.inverse_sqrt import InverseSqrt, scaled_inverse_sqrt
from codegen.ops.log_softmax import OUTPUT as LOG_OUTPUT
from codegen.ops.lut16 import lut16
from tests.contract.case import S8, S16, S32, U8, A, Case, Y, in_modes, ints, q, t


def cases() -> Iterator[Case]:
    """All of them."""
    yield from in_modes(mode_cases)
    for source in (table_cases, slope_cases, softmax_cases, fixed_softmax_cases, log_cases, sixteen_bit_cases):
        yield from source()


def mode_cases(mode: Mode) -> Iterator[Case]:
    table = unary_table("Sigmoid", A, S8, Y, U8, mode)
    yield Case("sigmoid", Lut(table, U8, Y, "Sigmoid"), (t(S8, 1, 3, 4, 5, quant=A),))
    yield Case("meant", Softmax(A, Quant(1 / 256, -128), S8, mode), (t(U8, 1, 3, 2, 10, quant=A),))
    yield Case("logged", LogSoftmax(A, Y, U8, mode), (t(S8, 1, 2, 2, 10, quant=A),))


def table_cases() -> Iterator[Case]:
    for x in (S8, U8):
        for y in (S8, U8):
            table = tuple(ints(y, 256).tolist())
            yield Case(f"{x.value}_{y.value}", Lut(table, y, None, "noise"), (t(x, 1, 3, 5, 2),))
    yield Case("wide", Lut(tuple(ints(S16, 256).tolist()), S16, None, "noise"), (t(S8, 7),))


def slope_cases() -> Iterator[Case]:
    full, wide, meant = t(S8, 1, 3, 5, 7), t(S16, 1, 3, 5, 7), Quant(2.0**-11)
    yield Case("s16_s8", TwoSlopes(0, (1 << 30, -7), (1 << 30, -7), False, -128, 127, S8, q(1.0, 5)), (wide,))
    yield Case("leaky", TwoSlopes(0, (1 << 30, 1), (3 << 29, -2), False, -32768, 32767, S16, q(1.0)), (wide,))
    yield Case("abs", TwoSlopes(0, (1 << 30, 0), (1 << 30, 0), True, -32768, 32767, S16, q(1.0)), (wide,))
    yield Case(
        "s8_s32", TwoSlopes(9, (1 << 30, 8), (1 << 30, 8), False, -(1 << 31), (1 << 31) - 1, S32, q(1.0)), (full,)
    )
    slopes = TwoSlopes(0, (1 << 30, -3), (1 << 30, -6), False, -32768, 32767, S16, meant)
    yield Case("meant", slopes, (t(S16, 1, 3, 4, 5, quant=meant),))


def softmax_cases() -> Iterator[Case]:
    classic = q(1 / 256, -128)
    yield Case("classic", Softmax(q(0.06, 3), classic, S8, "single"), (t(S8, 1, 2, 3, 10),))
    yield Case("beta", Softmax(q(0.06, 3), classic, S8, "single", 0.3), (t(S8, 1, 2, 3, 10),))
    yield Case("steep", Softmax(q(9.0, 3), q(1 / 255, 0), U8, "ort"), (t(U8, 33),))
    yield Case("all_in_one", Softmax(q(9.0, 3), q(2.0**-8 * (1 + 2.0**-23), 0), U8, "single"), (t(U8, 33),))
    yield Case("below_one", Softmax(q(0.2, 3), q(3.0, 1), U8, "single"), (t(U8, 2, 5),))
    yield Case("fine", Softmax(q(0.01, 3), q(2.0**-20, -5), S8, "single"), (t(S8, 4, 300),))
    yield Case("coarse", Softmax(q(0.5, 3), q(1.7, -5), S8, "single"), (t(U8, 4, 1),))
    yield Case("wide", Softmax(q(0.0005, -9), q(2.0**-15), S16, "single"), (t(S16, 4, 33),))
    yield Case("wide_unsigned", Softmax(q(0.004, 7), q(1 / 65535, -32768), S16, "ort", 0.5), (t(S16, 2, 3),))
    yield Case("log_wide", LogSoftmax(q(0.0005, -9), q(0.0003, 32767), S16, "single"), (t(S16, 4, 33),))
    yield Case("log_steep", LogSoftmax(q(20.0, 3), q(2.0**-12, 5), S16, "ort"), (t(S16, 3, 7),))
    yield Case("log_fine", LogSoftmax(q(1e-5, 0), q(2.0**-16, 0), S16, "tflite"), (t(S16, 2, 2, 3),))
    yield Case("vanishing", Softmax(q(0.5, 3), q(2.5, -5), S8, "single"), (t(S8, 4, 2),))


def fixed_softmax_cases() -> Iterator[Case]:
    """In TFLite's 32 bits."""
    classic = q(1 / 256, -128)
    yield Case("fixed", Softmax(q(0.17, 3), classic, S8, "tflite"), (t(S8, 1, 2, 3, 10),))
    yield Case("fixed_u8", Softmax(q(0.6, 3), q(1 / 256, 0), U8, "tflite", 0.5), (t(U8, 2, 300),))
    yield Case("fixed_s16", Softmax(q(0.02, 3), q(2.0**-16, -32768), S16, "tflite", 2.0), (t(S8, 3, 33),))
    yield Case("fixed_steep", Softmax(q(99.0, 3), classic, S8, "tflite"), (t(S8, 3, 5),))
    yield Case("fixed_many", Softmax(q(1e-4, 3), classic, S8, "tflite"), (t(S8, 2, 4095),))
    yield Case("flat", Softmax(q(1e-9, 3), classic, S8, "tflite"), (t(S8, 3, 7),))


def log_cases() -> Iterator[Case]:
    for scale in (0.001, 0.1, 3.0):
        yield Case(f"log{scale}", LogSoftmax(q(scale, 4), LOG_OUTPUT, S8, "tflite"), (t(S8, 3, 40),))
        yield Case(f"own_log{scale}", LogSoftmax(q(scale, 4), q(scale / 2, 90), S8, "single"), (t(U8, 3, 40),))
    yield Case("log_sums", LogSoftmax(q(1e-4), q(0.05, 255), U8, "single"), (t(S8, 4095),))
    yield Case("log16", LogSoftmax(q(0.1), q(2.0**-12, 32767), S16, "ort"), (t(S8, 5, 7),))
    yield Case("meant", LogSoftmax(A, LOG_OUTPUT, S8, "tflite"), (t(S8, 1, 3, 2, 9, quant=A),))
    yield Case("own_meant", LogSoftmax(A, Y, U8, "single"), (t(S8, 1, 3, 2, 9, quant=A),))


def sixteen_bit_cases() -> Iterator[Case]:
    """Functions of 16-bit numbers, by pieces of lines and by TFLite's tables."""
    wide, meant = t(S16, 1, 3, 5, 7), Quant(2.0**-11)
    for dtype, scale in ((S8, 0.01), (U8, 0.004), (S16, 3e-5)):
        made = piecewise_linear(np.tanh, "Tanh", q(1e-4, 999), q(scale, 7), dtype)
        yield Case(f"pieces_{dtype.value}", made, (t(S16, 1, 3, 5, 7),))
    pieces = piecewise_linear(np.tanh, "Tanh", meant, Y, S8)
    yield Case("pieces_meant", pieces, (t(S16, 1, 3, 2, 9, quant=meant),))
    for exponent in (-3, 0, 14):
        yield Case(f"e{exponent + 3}", Softmax16(1518500250, exponent), (t(S16, 2, 3, 40),))
    yield Case("many", Softmax16(1518500250, -14), (t(S16, 32767),))
    for multiplier, shift in ((3, 0), (16384, 14), (32767, 31), (24000, 1)):
        yield Case(f"logistic{shift}", Sigmoid16("logistic", multiplier, shift), (wide,))
        yield Case(f"tanh{shift}", Sigmoid16("tanh", multiplier, shift), (wide,))
    for scale in (1e-7, 0.01, 30.0):
        yield Case(f"roots{scale}", scaled_inverse_sqrt(q(scale), q(1e-3)), (wide,))
    yield Case("roots_meant", scaled_inverse_sqrt(meant, meant), (t(S16, 1, 3, 2, 9, quant=meant),))
    for exponent in (-31, 4):
        yield Case(f"root_e{exponent}", InverseSqrt((1 << 31) - 1, exponent, q(1.0)), (wide,))
    for name in ("Exp", "Gelu", "Log"):
        yield Case(f"samples_{name}", lut16(name, q(3e-4), q(1e-4)), (wide,))
    yield Case("wraps", lut16("Exp", q(0.03), q(1e-3)), (t(S16, 70, 100),))
    yield Case("samples_meant", lut16("GeluTanh", meant, meant), (t(S16, 1, 3, 2, 9, quant=meant),))
    yield Case("meant", Softmax16(1 << 30, 1), (t(S16, 1, 3, 2, 9, quant=meant),))
    yield Case("tanh_meant", Sigmoid16("tanh", 3, 0), (t(S16, 1, 3, 2, 9, quant=meant),))
