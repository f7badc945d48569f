"""What makes one number of many: sums, lengths, the place of the greatest."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ops import (
    AddN,
    ArgExtremum,
    CumulativeSum,
    GlobalSum,
    Hardmax,
    L2Norm,
    LayerNorm,
    ScaledSum,
    TopK,
    make_requant,
)
from tests.contract.case import BOUNDS, F32, S8, S16, S32, U8, A, B, Case, Y, ints, q, requant, t


def cases() -> Iterator[Case]:
    """All of them."""
    yield from sum_cases()
    yield from extremum_cases()
    yield from length_cases()
    yield from norm_cases()


def sum_cases() -> Iterator[Case]:
    a, b, bounds = q(0.03, -128), q(0.2, 127), (-100, 127)
    yield Case("add_n", AddN(a, b, *bounds), (t(S8, 2, 3, 7), t(S8, 2, 3, 7), t(S8, 2, 3, 7)))
    yield Case("add_n_const", AddN(a, b, *bounds), (ints(S8, 2, 3, 7), t(S8, 2, 3, 7)))
    for axis, ways in enumerate(((False, False), (True, True), (False, True))):
        yield Case(f"cumulative{axis}", CumulativeSum(axis, a, b, *bounds, *ways), (t(S8, 3, 40, 7),))
    x = t(S8, 2, 3, 2, 4, quant=A)
    yield from scaled_sum_cases()
    yield Case("three", AddN(A, Y, *BOUNDS), (x, x, x))
    for axis, ways in enumerate(((False, False), (True, False), (False, True), (True, True))):
        yield Case(f"axis{axis}", CumulativeSum(axis, A, Y, *BOUNDS, *ways), (t(S8, 2, 3, 40, 4, quant=A),))
    yield Case("sum", GlobalSum(-7, requant("tflite", 500.0), S8, q(1.0)), (t(S8, 1, 5, 3, 17),))
    yield Case("sum16", GlobalSum(0, requant("single", 3e5, 1, S16), S16, q(1.0)), (t(S16, 1, 4, 2, 3),))
    step = make_requant("tflite", 0.07, [1.0], Y, S8)
    yield Case("meant", GlobalSum(-5, step, S8, Y), (t(S8, 1, 3, 4, 5, quant=A),))


def scaled_sum_cases() -> Iterator[Case]:
    a, b, u, w = q(0.03, -128), q(0.2, 127), q(0.02, 200), q(0.0007, -3000)
    three, image = (a, b, u), t(S8, 1, 3, 5, 7)
    byte, whole = (S8, -128, 127), (S16, -32768, 32767)
    ins = (image, image, t(U8, 1, 3, 5, 7))
    yield Case("scaled", ScaledSum(three, (1, 1, 1), q(0.21, -9), *byte), ins)
    yield Case("scaled_minus", ScaledSum(three, (-1, 1, -1), q(0.11, 7), S8, -20, 127), ins)
    yield Case("scaled_const", ScaledSum(three, (1, -1, 1), q(0.11, 7), *byte), (image, ints(S8, 1, 3, 5, 7), ins[2]))
    yield Case("scaled_vector", ScaledSum((A, A, A, B), (1, 1, 1, -1), Y, *byte), (t(S8, 9),) * 4)
    most = tuple(q(2.0**14 * 0.999, 127 if i % 2 else -128) for i in range(15))
    yield Case("scaled_coarse", ScaledSum(most, (1, -1) * 7 + (1,), q(1.0), *byte), (image,) * 15)
    yield Case("scaled_fine", ScaledSum((q(2.0**-13 * 0.999, -128),) * 15, (1,) * 15, q(1.0), *byte), (image,) * 15)
    yield Case("scaled_ties", ScaledSum((q(0.5), q(0.25), q(0.5)), (1, 1, -1), q(1.0), *byte), (image,) * 3)
    wide = t(S16, 1, 3, 5, 7)
    yield Case("scaled16", ScaledSum((w, w, q(0.001)), (1, -1, 1), q(0.0009, -30000), *whole), (wide,) * 3)
    yield Case("scaled16_bytes", ScaledSum((w, a, b), (1, 1, 1), q(0.2, 3), *byte), (wide, image, image))
    yield Case("scaled16_coarse", ScaledSum((q(2.0**14 * 0.999, -32768),) * 3, (1, 1, -1), q(1.0), *whole), (wide,) * 3)
    yield Case("scaled16_fine", ScaledSum((q(2.0**-25),) * 3, (1, 1, -1), q(1.0), *whole), (wide,) * 3)


def extremum_cases() -> Iterator[Case]:
    for largest in (True, False):
        yield Case(f"arg{largest:d}", ArgExtremum(largest), (t(S8, 2, 3, 4, 11),))
        yield Case(f"last{largest:d}", ArgExtremum(largest, last=True), (t(S8, 2, 3, 4, 200),))
        yield Case(f"arg16{largest:d}", ArgExtremum(largest), (t(S16, 5),))
    for positions in (True, False):
        yield Case(f"top{positions:d}", TopK(3, positions), (t(S8, 2, 3, 4, 11),), few=5)
        yield Case(f"all{positions:d}", TopK(7, positions), (t(S32, 5, 7),))
        yield Case(f"meant{positions:d}", TopK(4, positions), (t(U8, 1, 3, 4, 5, quant=A),))
    yield Case("image", ArgExtremum(True), (t(S8, 1, 3, 4, 5, quant=A),))
    yield Case("image_last", ArgExtremum(True, last=True), (t(S8, 1, 3, 4, 5, quant=A),))
    yield Case("vector", ArgExtremum(False), (t(U8, 7, quant=A),))
    for largest in (False, True):
        for last in (False, True):
            yield Case(f"real{largest:d}{last:d}", ArgExtremum(largest, last), (t(F32, 3, 40),), few=5)
        yield Case(f"real{largest:d}", TopK(3, largest, largest), (t(F32, 4, 9),))
        yield Case(f"least{largest:d}", TopK(4, largest, False), (t(S8, 4, 9),), few=4)
    yield Case("hard", Hardmax(90, -28, q(1 / 118, -28), S8), (t(S8, 2, 3, 4, 11),))
    yield Case("hard16", Hardmax(1, 0, q(1.0), S16), (t(S16, 5, 40),))
    yield Case("hard_from16", Hardmax(255, 0, q(1 / 255), U8), (t(S16, 1, 3, 4, 5, quant=A),), few=3)


def length_cases() -> Iterator[Case]:
    yield Case("length", L2Norm(-7), (t(S8, 1, 3, 5, 7),))
    yield Case("length_of_many", L2Norm(127), (t(S8, 2, 3000),))
    yield Case("meant", L2Norm(-5), (t(S8, 1, 3, 4, 9, quant=A),))


def norm_cases() -> Iterator[Case]:
    gains, offsets = tuple(range(-9000, 9000, 1000)), tuple(range(-70000, 110000, 10000))
    yield Case("norm", LayerNorm((1 << 14,), (0,), 9, 40, S8, q(0.03, 5)), (t(S8, 2, 3, 4, 11),))
    yield Case("norm_each", LayerNorm(gains, offsets, 8, 0, S8, q(0.03, -128)), (t(S8, 1, 3, 4, 18),))
    yield Case("norm16", LayerNorm((1 << 28,), offsets, 15, 1 << 40, S16, q(2.0**-12)), (t(S16, 5, 18),))
    yield Case("norm_to8", LayerNorm(gains, (77,), 7, 1, S8, q(0.05)), (t(S16, 3, 18),))
    groups = {"sets": 3, "run": 6}
    yield Case("norm_groups", LayerNorm(gains[:9], offsets[:9], 9, 7, S16, q(2.0**-11), **groups), (t(S16, 2, 3, 18),))
    yield Case("norm_instances", LayerNorm(gains[:3], (5,), 9, 0, S8, q(0.02), sets=3, run=18), (t(S16, 6, 18),))
    yield Case("norm_offsets", LayerNorm((1 << 14,), offsets, 9, 0, S16, q(2.0**-11), sets=2, run=1), (t(S8, 1, 2, 9),))
    yield Case("by_length", LayerNorm(gains, (0,), 8, 0, S8, q(0.03), around=-128), (t(S8, 1, 3, 4, 18),))
    yield Case("by_length16", LayerNorm((1 << 28,), (0,), 15, 9, S16, q(2.0**-12), around=7), (t(S16, 5, 18),))
