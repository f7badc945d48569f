"""Images of another size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codegen.ir.quant import DType, Mode, Quant
from codegen.ops import ResizeBilinear, ResizeNearest, ResizeWeighted
from tests.contract.case import BOUNDS, F32, S8, S16, S32, U8, A, Case, Y, in_modes, q, t


def cases() -> Iterator[Case]:
    """All of them."""
    yield from in_modes(bilinear_cases, wide_cases, weighted_cases)
    yield from nearest_cases()


def bilinear_cases(mode: Mode) -> Iterator[Case]:
    def taps(n_in: int, n_out: int) -> tuple[tuple[int, int, int], ...]:
        at = np.clip((np.arange(n_out) + 0.5) * n_in / n_out - 0.5, 0, n_in - 1)
        low = np.floor(at).astype(int)
        return tuple(
            (int(i), int(min(i + 1, n_in - 1)), round(float(p - i) * 2048)) for i, p in zip(low, at, strict=True)
        )

    def resize(h: int, w: int, h_out: int, w_out: int, x: Quant, y: Quant, dtype: DType) -> ResizeBilinear:
        return ResizeBilinear(taps(h, h_out), taps(w, w_out), x, y, dtype, dtype.low, dtype.high, mode)

    yield Case("up", resize(3, 4, 7, 9, q(0.1, -128), q(0.1, -128), S8), (t(S8, 1, 3, 4, 3),))
    yield Case("down", resize(7, 6, 3, 4, q(0.1, 255), q(0.2, 7), U8), (t(U8, 1, 7, 6, 2),))
    yield Case("grey", resize(3, 5, 5, 4, q(0.1, -7), q(0.09, -3), S8), (t(S8, 1, 3, 5, 1),))
    yield Case("to_signed", resize(2, 5, 3, 7, q(0.1, 3), q(0.1, 3), S8), (t(U8, 1, 2, 5, 6),))
    yield Case("one", resize(1, 1, 2, 3, q(0.1, 3), q(0.07, 3), S8), (t(S8, 1, 1, 1, 5),))
    h = ((0, 0, 0), (0, 1, 700), (1, 2, 2048), (2, 2, 900))
    w = ((0, 1, 5), (1, 1, 0), (2, 3, 1024))
    yield Case("any", ResizeBilinear(h, w, A, Y, S8, *BOUNDS, mode), (t(S8, 1, 3, 4, 2, quant=A),))


def wide_cases(mode: Mode) -> Iterator[Case]:
    a, b = q(0.0007, -32768), q(0.0003, 1234)
    at = ((0, 1, 0), (0, 1, 1500), (1, 2, 2047), (2, 2, 0))
    for name, x, y in (("scaled", a, q(0.0005, -20000)), ("same", a, a), ("centred", b, b)):
        resize = ResizeBilinear(at, ((0, 0, 7), (3, 4, 1024)), x, y, S16, -32768, 32767, mode)
        yield Case(f"s16_{name}", resize, (t(S16, 1, 3, 5, 2),))


def weighted_cases(mode: Mode) -> Iterator[Case]:
    def resize(
        h: list[list[int]], w: list[list[int]], x: Quant, y: Quant, dtype: DType, bits: int, shift: int = 0
    ) -> ResizeWeighted:
        h_windows, w_windows = (tuple((i, tuple(v)) for i, *v in windows) for windows in (h, w))
        return ResizeWeighted(h_windows, w_windows, bits, x, y, dtype, dtype.low, dtype.high, mode, shift)

    cubic = [[0, 2048, 0, 0, 0], [0, -200, 1800, 520, -72], [1, -128, 1152, 1152, -128], [1, 0, 0, -1, 2049]]
    wide = [[0, -3000, 27000, 9500, -732], [1, -2048, 18432, 18432, -2048], [0, 0, 0, 0, 32768]]
    image, a, y = t(S8, 1, 5, 6, 3), q(0.1, -128), q(0.07, 5)
    yield Case("cubic", resize(cubic, cubic, a, y, S8, 11), (image,))
    yield Case("cubic_same", resize(cubic, cubic[1:], a, a, S8, 11), (image,))
    yield Case("cubic_row", resize([[0, 2048]], [[1, 100, 948, 1000]] * 2, A, Y, S8, 11), (t(S8, 1, 1, 4, 5, quant=A),))
    yield Case("cubic_u8", resize(cubic, cubic, q(0.1, 255), q(0.2, 7), U8, 11), (t(U8, 1, 5, 6, 2),))
    yield Case("cubic_coarse", resize([[0, -6, 14]], [[0, 3, 5], [3, 12, -4]], a, y, S8, 3), (image,))
    b, c = q(0.0007, -32768), q(0.0003, 1234)
    for name, x, z in (("scaled", b, q(0.0005, -20000)), ("same", b, b), ("centred", c, c)):
        yield Case(f"cubic16_{name}", resize(wide, wide, x, z, S16, 15), (t(S16, 1, 5, 6, 2),))
    fine = [[i, *(v * 128 for v in weights)] for i, *weights in wide]
    yield Case("cubic16_fine", resize(fine, fine[1:], b, q(0.0005, 300), S16, 22, 15), (t(S16, 1, 5, 6, 2),))
    if mode != "ort":
        between = resize(wide, [[0, 32768]], b, q(0.0007 * 2.0**-14), S32, 15)
        yield Case("cubic_to_32", between, (t(S16, 1, 5, 1, 7),))
    yield Case("cubic_of_32", resize(wide, wide[:2], q(2.0**-28), q(2.0**-13), S16, 15, 23), (t(S32, 1, 5, 6, 2),))
    yield Case("fine_of_32", resize(fine, fine, q(2.0**-28), q(2.0**-13, 77), S16, 22, 30), (t(S32, 1, 5, 6, 2),))
    yield Case("cubic16_bytes", resize(wide, wide[:2], q(0.1, 3), q(0.001), S16, 15), (image,))


def nearest_cases() -> Iterator[Case]:
    x = t(S8, 1, 3, 4, 5)
    yield Case("twice", ResizeNearest((0, 0, 1, 1, 2, 2), (0, 0, 1, 1, 2, 2, 3, 3)), (x,))
    yield Case("uneven", ResizeNearest((0, 1, 1, 2, 2), (0, 1, 1, 2, 3)), (x,))
    yield Case("half", ResizeNearest((0, 2), (1, 3)), (t(F32, 2, 3, 4, 2),))
    yield Case("same", ResizeNearest((0, 1, 2), (0, 1, 2, 3)), (x,))
    yield Case("part", ResizeNearest((0, 1, 2), (0, 0, 1, 1, 2, 2)), (x,))
    yield Case("one", ResizeNearest((0,) * 3, (0,) * 4), (t(S8, 1, 1, 1, 5),))
    for i, rows in enumerate(((0, 0, 1, 1, 2, 2), (0, 2), (2, 0, 1, 1))):
        yield Case(f"any_{i}", ResizeNearest(rows, (3, 0, 1)), (t(S8, 1, 3, 4, 2, quant=A),))
    yield Case("batch", ResizeNearest((0, 0, 1), (3, 0, 1)), (t(S8, 2, 3, 4, 2, quant=A),))
