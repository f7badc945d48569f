"""Borders of the integers: from real numbers, to them, and from sums of 32 bits."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ir.quant import Mode
from codegen.ops import Cast, Dequantize, Quantize, Rescale
from tests.contract.case import F32, S8, S16, S32, U8, A, Case, Y, in_modes, q, requant, t
from tests.support.graphs import step_of


def cases() -> Iterator[Case]:
    """All of them."""
    yield from real_cases()
    yield from in_modes(rescale_cases)
    yield from cast_cases()


def real_cases() -> Iterator[Case]:
    for y, quant in ((S8, q(0.03125, 3)), (U8, q(0.007, 128)), (S16, q(0.0001, -30000)), (S8, q(1e-30, 0))):
        yield Case(f"{y.value}_{quant.scale:g}", Quantize(y, quant), (t(F32, 1, 4, 4, 3),))
        yield Case(f"{y.value}_{quant.scale:g}_away", Quantize(y, quant, True), (t(F32, 1, 4, 4, 3),))
    for x, quant in (
        (S8, q(0.1, -7)),
        (U8, q(0.3, 200)),
        (S16, q(1e-4, -31000)),
        (S32, q(7e-9, 0)),
        (S32, q(3.0, 2**30)),
    ):
        yield Case(f"{x.value}_{quant.scale:g}", Dequantize(quant), (t(x, 1, 2, 5, 3),))
    yield Case("meant_s8", Quantize(S8, Y), (t(F32, 1, 3, 2, 4),))
    yield Case("meant_s16", Quantize(S16, Y), (t(F32, 1, 3, 2, 4),))
    yield Case("meant_u8", Dequantize(A), (t(U8, 1, 3, 2, 4, quant=A),))
    yield Case("meant_s32", Dequantize(A), (t(S32, 1, 3, 2, 4, quant=A),))


def cast_cases() -> Iterator[Case]:
    for x in (S8, U8, S16, S32, F32):
        for y in (S8, U8, S16, S32, F32):
            yield Case(f"{x.value[0]}{8 * x.bytes}_{y.value[0]}{8 * y.bytes}", Cast(y), (t(x, 1, 2, 5, 3),))


def rescale_cases(mode: Mode) -> Iterator[Case]:
    for channels in (1, 3):
        yield Case(f"{channels}", Rescale(requant(mode, 1 << 31, channels), S8, None), (t(S32, 1, 2, 5, 3),))
    step = step_of(mode, 1e-8, [0.5, 1.0, 2.0, 3.0], Y, S8)
    yield Case("meant", Rescale(step, S8, Y), (t(S32, 1, 3, 2, 4),))
    yield Case("bits_of_f32", Cast(S32, bits=True), (t(F32, 1, 2, 5, 3),))
    yield Case("bits_as_f32", Cast(F32, bits=True), (t(S32, 1, 2, 5, 3),))
