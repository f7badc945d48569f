"""The greatest and the mean of a window, or of an image."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ir.quant import DType, Mode
from codegen.ir.shape import Window
from codegen.ops import AveragePool2D, GlobalAveragePool, MaxPool2D, TotalPool2D
from tests.contract.case import BOUNDS, F32, S8, S16, U8, A, Case, Y, in_modes, q, t, window


def cases() -> Iterator[Case]:
    """All of them."""
    yield from in_modes(mean_cases, window_cases, wide_cases)
    yield from max_cases()
    yield from total_cases()
    half = AveragePool2D(window(3, 2, 1, 1, 1), window(2, 2), False, q(0.1), q(0.1), S16, -32768, 32767, "tflite")
    yield Case("pool16", half, (t(S16, 1, 3, 5, 7),))
    yield Case("mean16", GlobalAveragePool(q(0.1), q(0.07), S16, -32768, 32767, "tflite", True), (t(S16, 1, 3, 5, 7),))


WINDOWS = (
    (window(2, 2), window(2, 2)),
    (window(3, 2, 1, 1, 1), window(3, 2, 1, 1, 1)),
    (window(3, 1, 2, 2, 2), window(2, 1, 1, 0, 1)),
)


def mean_cases(mode: Mode) -> Iterator[Case]:
    def mean(h: Window, w: Window, *, pads: bool = False, same: bool = False, y: DType = S8) -> AveragePool2D:
        x_quant = q(0.05, 250 if y is U8 else -7)
        return AveragePool2D(h, w, pads, x_quant, x_quant if same else q(0.03, 5), y, y.low, y.high - 2, mode)

    for same in (False, True):
        tag = "same" if same else "scaled"
        yield Case(f"valid_{tag}", mean(window(2, 2), window(2, 2), same=same), (t(S8, 1, 6, 7, 5),))
        pad = window(3, 2, 1, 1, 1)
        yield Case(f"padded_{tag}", mean(pad, pad, same=same), (t(S8, 1, 5, 6, 18),))
        yield Case(f"counted_{tag}", mean(pad, pad, same=same, pads=True), (t(S8, 1, 5, 6, 3),))
        yield Case(
            f"global_{tag}",
            GlobalAveragePool(q(0.05, -7), q(0.05, -7) if same else q(0.02, 30), S8, -128, 127, mode),
            (t(S8, 1, 5, 3, 17),),
        )
    yield Case("unsigned", mean(window(3, 1, 2, 2, 0), window(2, 3, 2, 1, 2), y=U8), (t(U8, 1, 7, 8, 4),))
    yield Case(
        "global_mean", GlobalAveragePool(q(0.05, -7), q(0.05, -7), S8, -128, 127, mode, True), (t(S8, 1, 5, 3, 9),)
    )
    yield Case("global_unsigned", GlobalAveragePool(q(0.05, 130), q(0.05, 130), U8, 0, 255, mode), (t(U8, 1, 1, 9, 1),))


def window_cases(mode: Mode) -> Iterator[Case]:
    x = t(S8, 1, 8, 7, 3, quant=A)
    for i, (h, w) in enumerate(WINDOWS):
        for include_pad in (False, True):
            for name, y in (("same", A), ("scaled", Y)):
                op = AveragePool2D(h, w, include_pad, A, y, S8, *BOUNDS, mode)
                yield Case(f"{'all' if include_pad else 'valid'}_{name}_{i}", op, (x,))
    yield Case("meant", GlobalAveragePool(A, Y, S8, *BOUNDS, mode), (t(S8, 1, 5, 6, 4, quant=A),))


def wide_cases(mode: Mode) -> Iterator[Case]:
    a, b, x_type = q(0.0007, -32768), q(0.0003, 1234), t(S16, 1, 3, 5, 7)
    for name, x, y in (("scaled", a, q(0.0005, -20000)), ("same", a, a), ("centred", b, b)):
        h, w = window(3, 1, 1, 1, 1), window(2, 2)
        pool = AveragePool2D(h, w, name == "same", x, y, S16, -32768, 32767, mode)
        yield Case(f"s16_{name}", pool, (x_type,))
        yield Case(f"s16_mean_{name}", GlobalAveragePool(x, y, S16, -32768, 32767, mode), (x_type,))


def max_cases() -> Iterator[Case]:
    yield Case("plain", MaxPool2D(window(2, 2), window(2, 2)), (t(S8, 1, 6, 7, 5),))
    yield Case("padded", MaxPool2D(window(3, 2, 1, 1, 1), window(3, 2, 1, 1, 1)), (t(U8, 1, 5, 6, 19),))
    yield Case("large", MaxPool2D(window(5, 1, 1, 2, 2), window(5, 1, 1, 2, 2)), (t(S8, 1, 6, 6, 3),))
    yield Case("dilated", MaxPool2D(window(2, 1, 3, 4, 0), window(3, 3, 2, 5, 4)), (t(S16, 1, 5, 3, 2),))
    for i, (h, w) in enumerate(WINDOWS):
        for dtype in (S8, U8, S16):
            yield Case(f"{dtype.value}_{i}", MaxPool2D(h, w), (t(dtype, 1, 8, 7, 3, quant=A),))
        yield Case(f"f32_{i}", MaxPool2D(h, w), (t(F32, 1, 8, 7, 3 + i),))


def total_cases() -> Iterator[Case]:
    x8, x16 = t(S8, 1, 8, 7, 3, quant=A), t(S16, 1, 8, 7, 3, quant=A)
    for i, (h, w) in enumerate(WINDOWS):
        yield Case(f"sizes_{i}", TotalPool2D(h, w, "sizes", A.zero_point, 9), (x8,))
        yield Case(f"sizes16_{i}", TotalPool2D(h, w, "sizes", A.zero_point, -3), (x16,))
        yield Case(f"squares_{i}", TotalPool2D(h, w, "squares", A.zero_point, 12), (x8,))
        yield Case(f"squares16_{i}", TotalPool2D(h, w, "squares", A.zero_point, -4 + i), (x16,))
        yield Case(f"length_{i}", TotalPool2D(h, w, "length", A.zero_point, 15 + i), (x8,))
        yield Case(f"length16_{i}", TotalPool2D(h, w, "length", A.zero_point, 5 * i), (x16,))
    side_by_side = window(3, 3)
    yield Case("side_by_side", TotalPool2D(window(1), side_by_side, "length", 200, 16), (t(U8, 1, 4, 12, 5),))
    yield Case("far_off", TotalPool2D(window(2), side_by_side, "squares", -32768, -4), (t(S16, 1, 4, 12, 5),))
    yield Case("held", TotalPool2D(window(2), side_by_side, "squares", 32767, 4), (t(S16, 1, 4, 12, 5),))
    yield Case("root_held", TotalPool2D(window(2), side_by_side, "length", 0, 30), (t(S16, 1, 4, 12, 5),), few=2)
    product = window(1), window(40, 40)
    yield Case("product", TotalPool2D(*product, "product", -8, -240, 24), (t(S8, 1, 3, 80, 4),))
    yield Case("product_unsigned", TotalPool2D(*product, "product", 0, -240, 24), (t(U8, 1, 3, 80, 1),))
    yield Case("product16", TotalPool2D(*product, "product", 0, -540), (t(S16, 1, 3, 80, 1),))
    yield Case("product_far_off", TotalPool2D(*product, "product", -32768, -560), (t(S16, 1, 3, 80, 4),))
    yield Case("product_of_few", TotalPool2D(window(2, 1), window(2, 1), "product", 3, 7), (t(S8, 1, 3, 9, 4),))
    yield Case("product_of_32_bits", TotalPool2D(window(3), window(1), "product", 0, -20), (t(S16, 1, 3, 9, 4),))
