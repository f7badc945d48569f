"""Convolutions and transposed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Mode, Quant, TensorType
from codegen.ir.shape import Window
from codegen.ops import Conv2D, ConvTranspose2D
from tests.contract.case import S8, S16, S32, U8, A, Case, Y, in_modes, ints, q, requant, sums, t, window
from tests.contract.cases import packed
from tests.support.graphs import spread_requant, step_of


def cases() -> Iterator[Case]:
    """All of them."""
    yield from in_modes(conv_cases, geometry_cases, transposed_cases, shifted_cases, wide_cases)
    yield from sum_cases()
    yield from packed.packed(packed.convolutions)
    yield from packed.packed(packed.transposed)


def conv_cases(mode: Mode) -> Iterator[Case]:
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
    ) -> Case:
        weights = ints(S8, outputs, h.size, w.size, x.shape[3] // groups)
        step = requant(mode, reach or 128 * 128 * np.sqrt(weights[0].size), factors or outputs, y)
        op = Conv2D(h, w, groups, 130 if x.dtype is U8 else -5, step, y, None)
        return Case("", op, (x, weights, sums(outputs)))

    same = window(3, 1, 1, 1, 1)
    shapes = {
        "same": conv(t(S8, 1, 5, 6, 3), same, same, 3),
        "far_pads": conv(t(U8, 1, 4, 3, 2), window(2, 2, 3, 4, 2), window(3, 3, 2, 5, 4), 5, y=U8),
        "groups": conv(t(S8, 1, 4, 5, 6), same, window(2, 2), 4, 2),
        "groups_of_points": conv(t(S8, 1, 3, 5, 8), window(1), window(1), 6, 2),
        "depthwise": conv(t(S8, 1, 4, 5, 19), same, same, 19, 19),
        "pointwise": conv(t(S8, 1, 2, 3, 5), window(1), window(1), 7),
        "wide_input": conv(t(S16, 1, 3, 3, 2), same, same, 2),
    }
    shapes |= _blocks(conv) | _pairs(conv) | _windows(conv) | _slides(conv) | _vectors(conv)
    for name, case in shapes.items():
        yield replace(case, name=name)


def shifted_cases(mode: Mode) -> Iterator[Case]:
    """Weights of 16 bits that are bytes less a number: uint8 less a zero point."""
    rng, one, same, half = np.random.default_rng(3), window(1), window(3, 1, 1, 1, 1), window(3, 2, 1, 0, 1)

    def drawn(low: int, *shape: int) -> Array:
        found = rng.integers(low, low + 255, shape, endpoint=True)
        found.flat[0], found.flat[-1] = low, low + 255
        return found.astype(np.int16)

    def conv(x: TensorType, h: Window, outputs: int, low: int, groups: int = 1) -> Case:
        weights, y = drawn(low, outputs, h.size, h.size, x.shape[3] // groups), x.dtype
        step = requant(mode, 128 * 200 * np.sqrt(weights[0].size), outputs, y)
        bias = rng.integers(-9999, 9999, outputs).astype(np.int32)
        return Case("", Conv2D(h, h, groups, 130 if y is U8 else -5, step, y, None), (x, weights, bias))

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
    for name, case in convolutions.items():
        yield replace(case, name=name)


def _blocks(conv: Callable[..., Case]) -> dict[str, Case]:
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


def _pairs(conv: Callable[..., Case]) -> dict[str, Case]:
    """Windows of three columns, whose outputs may be made in pairs: odd rows, kernel rows and padding of all kinds."""
    same, tall = window(3, 1, 1, 1, 1), window(5, 2, 1, 2, 1)
    return {
        "pairs_odd": conv(t(S8, 1, 3, 11, 7), same, same, 12),
        "pairs_unsigned": conv(t(U8, 1, 6, 9, 13), tall, same, 13, y=U8),
        "pairs_in_one_row": conv(t(S8, 1, 2, 10, 24), window(1), window(3), 10, factors=1),
        "pairs_dilated_down": conv(t(S8, 1, 4, 12, 16), window(3, 1, 2, 2, 2), same, 16),
        "pairs_of_four_vectors": conv(t(S8, 1, 4, 9, 32), window(2), window(2), 8),
        "pairs_of_five_vectors": conv(t(S8, 1, 6, 9, 16), window(5, 1, 1, 2, 2), window(5, 1, 1, 2, 2), 8),
        "pairs_far_pads": conv(t(S8, 1, 3, 2, 16), same, window(3, 1, 1, 2, 3), 17),
        "pairs_short": conv(t(S8, 1, 3, 3, 16), same, same, 16, reach=400),
    }


def _windows(conv: Callable[..., Case]) -> dict[str, Case]:
    """Many short runs and many outputs: whole windows are copied, some of them beside padding."""
    tall, wide = window(9, 2, 1, 4, 4), window(4, 2, 1, 1, 1)
    return {
        "windows": conv(t(S8, 1, 9, 10, 1), tall, wide, 64),
        "windows_of_a_long_row": conv(t(S8, 1, 10, 27, 1), window(10), window(3), 66, factors=1),
        "windows_unsigned": conv(t(U8, 1, 9, 12, 1), tall, window(3, 1, 1, 1, 1), 64, y=U8),
        "windows_far_pads": conv(t(S8, 1, 9, 3, 1), tall, window(3, 1, 1, 3, 3), 64),
    }


def _slides(conv: Callable[..., Case]) -> dict[str, Case]:
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
        "depthwise_beyond": conv(t(S8, 1, 8, 2, 9), window(2, 1, 3, 4, 3), window(2, 4, 2, 4, 0), 9, 9),
        "beyond": conv(t(S8, 1, 4, 2, 16), window(3, 1, 1, 1, 1), window(2, 4, 2, 4, 0), 6),
        "depthwise_even": conv(t(S8, 1, 4, 6, 8), window(2, 2), window(4, 1, 1, 1, 2), 8, 8, factors=1),
        "depthwise_multiplied": conv(t(S8, 1, 3, 5, 3), same, same, 6, 3),
        "depthwise_large_factor": conv(t(S8, 1, 3, 4, 2), same, same, 2, 2, reach=400),
    }


def _vectors(conv: Callable[..., Case]) -> dict[str, Case]:
    """What blocks of pixels, channels and inputs leave over: odd columns, odd channels, odd windows, long rows."""
    one, same, half = window(1), window(3, 1, 1, 1, 1), window(3, 2, 1, 0, 1)

    def each(x: TensorType, h: Window, w: Window) -> Case:
        return conv(x, h, w, x.shape[3], x.shape[3], y=x.dtype)

    return {
        "deep_odd": conv(t(S8, 1, 3, 5, 24), same, same, 6, factors=1),
        "deep_rows_16": conv(t(S8, 1, 4, 7, 16), same, same, 6),
        "deep_rows_32": conv(t(S8, 1, 5, 8, 32), half, half, 4),
        "deep_rows_48": conv(t(S8, 1, 3, 6, 48), window(2), window(3), 8, factors=1),
        "deep_rows_64": conv(t(S8, 1, 3, 4, 64), same, same, 5),
        "deep_points": conv(t(S8, 1, 2, 5, 80), one, one, 9),
        "deep_odd_points": conv(t(U8, 1, 2, 4, 75), one, one, 3, factors=1),
        "points_48": conv(t(S8, 1, 2, 7, 48), one, one, 12),
        "points_long": conv(t(U8, 1, 2, 39, 16), one, one, 5, y=U8),
        "points_even": conv(t(S8, 1, 2, 31, 16), one, one, 16),
        "points_even_few": conv(t(S8, 1, 2, 31, 4), one, one, 4, factors=1),
        "points_32": conv(t(S8, 1, 2, 6, 32), one, one, 132),
        "points_64": conv(t(S8, 1, 2, 7, 64), one, one, 8, y=U8),
        "points_8": conv(t(S8, 1, 3, 7, 8), one, one, 8),
        "points_16": conv(t(S8, 1, 2, 5, 16), one, one, 12, factors=1),
        "points_8_rectified": _rectified(conv(t(S8, 1, 2, 9, 8), one, one, 4)),
        "deep_rectified": _rectified(conv(t(S8, 1, 2, 5, 80), one, one, 9)),
        "each_rectified": _rectified(each(t(S8, 1, 6, 9, 20), same, same)),
        "points_16_strided": conv(t(S8, 1, 5, 7, 16), window(1, 2), window(1, 2), 4),
        "points_in_line_16": conv(t(S8, 1, 19, 1, 16), one, one, 5),
        "points_in_line_80": _rectified(conv(t(S8, 1, 7, 1, 80), one, one, 9)),
        "points_in_line_unsigned": conv(t(U8, 1, 6, 1, 128), one, one, 8, factors=1, y=U8),
        "points_strided": conv(t(S8, 1, 5, 7, 32), window(1, 2), window(1, 2), 8),
        "first_long": conv(t(S8, 1, 3, 37, 3), same, same, 7),
        "first_half": conv(t(S8, 1, 5, 41, 3), half, half, 8),
        "first_unpadded": conv(t(S8, 1, 4, 21, 3), window(3), window(3), 5, factors=1),
        "first_far": conv(t(S8, 1, 4, 26, 4), same, window(3, 2, 1, 5, 4), 6),
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
        "each_5x5_strided": each(t(U8, 1, 7, 26, 11), window(5, 2, 1, 1, 2), window(5, 2, 1, 1, 2)),
        "each_7x7": each(t(S8, 1, 8, 8, 4), window(7, 1, 1, 3, 3), window(7, 1, 1, 3, 3)),
    }


def _rectified(case: Case) -> Case:
    """The layer with a ReLU behind it: its zero point is the type's least value, and so its least output."""
    assert isinstance(case.op, Conv2D)
    assert case.op.requant is not None
    return replace(case, op=replace(case.op, requant=replace(case.op.requant, zero_point=S8.low, low=S8.low)))


def geometry_cases(mode: Mode) -> Iterator[Case]:
    same, wide = window(3, 1, 1, 1, 1), window(3, 2, 2, 2, 1)
    geometries = (
        ((1, 6, 5, 3), 4, 1, same, same),
        ((1, 9, 8, 4), 4, 4, wide, same),
        ((1, 7, 6, 4), 6, 2, window(2, 3, 1, 1, 2), window(1, 2)),
        ((1, 4, 4, 8), 5, 1, window(1), window(1)),
        ((1, 8, 3, 2), 2, 1, window(5, 1, 1, 4, 4), same),
        ((1, 5, 5, 1), 3, 1, window(2, 4), window(2, 3)),
    )
    for i, (shape, outputs, groups, h, w) in enumerate(geometries):
        weights, bias = ints(S8, outputs, h.size, w.size, shape[3] // groups), ints(S16, outputs).astype(np.int32)
        op = Conv2D(h, w, groups, A.zero_point, spread_requant(mode, weights, S8, 3), S8, Y)
        yield Case(f"geometry_{i}", op, (t(S8, *shape, quant=A), weights, bias))


def transposed_cases(mode: Mode) -> Iterator[Case]:
    """Windows that overlap, touch and leave holes; pads beyond the window; output padding."""
    geometries = (
        ((1, 4, 5, 3), 4, 1, window(3, 2, 1, 1, 1), window(3, 2, 1, 1, 1), (1, 1)),
        ((1, 4, 3, 4), 4, 4, window(4, 2, 1, 1, 1), window(2, 2), (0, 0)),
        ((1, 3, 4, 4), 6, 2, window(2, 3, 1, 1, 0), window(1, 3), (2, 2)),
        ((1, 5, 3, 2), 3, 1, window(3, 2, 3, 2, 4), window(3, 4, 2, 2, 1), (2, 3)),
        ((1, 6, 2, 1), 2, 1, window(5, 1, 1, 2, 6), window(3, 1, 1, 1, 1), (0, 0)),
        ((1, 1, 1, 5), 1, 1, window(7, 3, 1, 2, 2), window(1), (0, 0)),
    )
    for i, (shape, outputs, groups, h, w, extra) in enumerate(geometries):
        weights, bias = ints(S8, outputs, h.size, w.size, shape[3] // groups), ints(S16, outputs).astype(np.int32)
        step = spread_requant(mode, weights, U8, 131)
        op = ConvTranspose2D(h, w, extra, groups, A.zero_point, step, U8, Quant(1.0, 131))
        yield Case(f"geometry_{i}", op, (t(S8, *shape, quant=A), weights, bias))


def wide_cases(mode: Mode) -> Iterator[Case]:
    """16-bit numbers with zero points, as from unsigned ones."""
    weights, bias, same = ints(S16, 5, 3, 3, 4), ints(S16, 5).astype(np.int32), window(3, 1, 1, 1, 1)
    step = step_of(mode, 1e-5, [1e-3, 2e-3, 1e-3, 1e-4, 1e-3], q(0.01, -20000), S16, wide=True, reach=1 << 38)
    yield Case("s16", Conv2D(same, same, 1, -32768, step, S16, None), (t(S16, 1, 4, 5, 4), weights, bias))


def sum_cases() -> Iterator[Case]:
    """Sums beyond 32 bits, and those that nothing scales."""
    same, bias = window(3, 1, 1, 1, 1), np.array([5, -6, 7], np.int32)
    over = requant("single", 1 << 36, 3, wide=True)
    most, least = np.full((3, 3, 3, 40), 32767, np.int16), np.full((3, 3, 3, 1), -32768, np.int16)
    deep = t(S16, 1, 3, 3, 40)
    yield Case("wide", Conv2D(same, same, 1, 11, over, S8, None), (deep, most, bias))
    yield Case("wide", ConvTranspose2D(same, same, (0, 0), 1, 11, over, S8, None), (deep, most, bias))
    yield Case("wide_depthwise", Conv2D(same, same, 3, 11, over, S8, None), (t(S16, 1, 3, 3, 3), least, bias))
    weights, bias = ints(S16, 3, 3, 3, 2), np.arange(3, dtype=np.int32)
    x = t(S16, 1, 4, 5, 2, quant=A)
    yield Case("sums", Conv2D(same, same, 1, 0, None, S32, None), (x, weights, bias))
    weights, touching = ints(S16, 3, 2, 2, 2), window(2, 2)
    transposed = ConvTranspose2D(touching, touching, (0, 0), 1, 7, None, S32, None)
    yield Case("sums", transposed, (t(S8, 1, 3, 2, 2, quant=A), weights, bias))


def _pixels(case: Case, of: tuple[int, ...]) -> int:
    return of[1] * of[2] * case.arrays[1].size


PRODUCTS: Mapping[type[Op], Callable[[Case], int]] = {
    Conv2D: lambda case: _pixels(case, case.op.infer(case.types)[0].shape),
    ConvTranspose2D: lambda case: _pixels(case, case.types[0].shape),
}
"""Each weight meets each pixel: of the output, or of a transposed convolution's input."""
