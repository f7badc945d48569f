"""TFLite Micro's signal operators: frames of every kind of length, channels of a mel scale and of none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import Array
from codegen.ops.signal import (
    Energy,
    FilterBank,
    FilterBankLog,
    FilterBankRoot,
    Framer,
    Headroom,
    Irfft,
    OverlapAdd,
    Pcan,
    Rfft,
    ShiftLeft,
    SignalWindow,
    SpectralSubtraction,
)
from tests.contract.case import S16, S32, Case, ints, t


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _frames()
    yield from _transforms()
    yield from _channels()


def _frames() -> Iterator[Case]:
    yield Case("frames", SignalWindow(12), (t(S16, 3, 20), ints(S16, 20)))
    yield Case("computed", SignalWindow(15), (t(S16, 1, 7), t(S16, 7)))
    yield Case("known", SignalWindow(0), (ints(S16, 2, 5), t(S16, 5)))
    for few in (0, 3, 1):
        yield Case(f"{few}", Headroom(), (t(S16, 30),), few=few)
    yield Case("bits", ShiftLeft(), (t(S16, 9), t(S32)), few=16)
    yield Case("wraps", ShiftLeft(), (t(S16, 9), np.array(3, np.int32)))
    yield Case("known", ShiftLeft(), (ints(S16, 9), t(S32)))
    for start, stop in ((0, 17), (3, 11), (5, 5)):
        yield Case(f"{start}_{stop}", Energy(start, stop), (t(S16, 34),))
    for shape, past, size, step in (((12,), 3, 5, 4), ((2, 8), 20, 8, 8), ((2, 3, 6), 4, 4, 2)):
        yield Case(f"{size}_{step}", Framer(size, step), (t(S16, *shape), t(S16, *shape[:-1], past)))
    yield Case("known", Framer(3, 2), (ints(S16, 4), t(S16, 1)))
    for shape, step in (((1, 12), 5), ((2, 3, 8), 8), ((3, 2, 5), 1)):
        sums = t(S16, *shape[:-2], shape[-1])
        yield Case(f"{shape[-1]}_{step}", OverlapAdd(step), (t(S16, *shape), sums))
    yield Case("known", OverlapAdd(2), (ints(S16, 2, 4), t(S16, 4)))


def _transforms() -> Iterator[Case]:
    for kind in (S16, S32):
        for length, samples in ((4, 4), (8, 5), (16, 16), (64, 50), (128, 128)):
            yield Case(f"{kind.value}_{length}", Rfft(length), (t(kind, samples),))
            yield Case(f"{kind.value}_{length}", Irfft(length), (t(kind, length + 2),))
        yield Case(f"{kind.value}_frames", Rfft(32), (t(kind, 2, 3, 31),))
        yield Case(f"{kind.value}_frames", Irfft(32), (t(kind, 2, 34),))


def _channels() -> Iterator[Case]:
    width, first = np.array([2, 5, 0, 7, 3], np.int16), np.array([1, 3, -7, 8, 15], np.int16)
    weight = np.array([0, 4, 99, 12, 20], np.int16)
    w = np.abs(ints(S16, 24)) % 4097
    for name, weights, others in (("mel", w, 4096 - w), ("apart", w, w[::-1]), ("signed", ints(S16, 24), -w)):
        bank = (weights.astype(np.int16), others.astype(np.int16), first, weight, width)
        yield Case(name, FilterBank(), (t(S32, 20), *bank))
    empty = np.zeros(2, np.int16)
    yield Case("empty", FilterBank(), (t(S32, 4), ints(S16, 3), ints(S16, 3), empty, empty, empty))
    yield Case("long", FilterBankRoot(), (t(S32, 9, 2), t(S32)))
    for name, sums in (("words", _WORDS), ("ends", _ENDS)):
        yield Case(name, FilterBankRoot(), (sums, t(S32)), few=40)
    yield Case("shifted", FilterBankRoot(), (t(S32, 6, 2), np.array(3, np.int32)))
    for clamping in (True, False):
        op = SpectralSubtraction((409, 983), (15975, 15401), 819, 10, 14, clamping)
        yield Case(f"speech_{clamping}", op, (t(S32, 11), t(S32, 11)))
        yield Case(f"small_{clamping}", op, (t(S32, 11), t(S32, 11)), few=9999)
    yield Case("wide", SpectralSubtraction((2**32 - 1, 5), (3, 2**31), 77, 0, 31, False), (t(S32, 5), t(S32, 5)))
    yield Case("known", SpectralSubtraction((1, 5), (3, 2), 77, 2, 3, False), (ints(S32, 5), t(S32, 5)))
    yield Case("gains", Pcan(6), (t(S32, 40), t(S32, 40), ints(S16, 125)))
    yield Case("small", Pcan(20), (t(S32, 40), t(S32, 40), np.abs(ints(S16, 130))), few=9999)
    yield Case("computed", Pcan(0), (t(S32, 3), ints(S32, 3), t(S16, 125)))
    for few in (0, 70000, 3):
        yield Case(f"{few}", FilterBankLog(3, 64), (t(S32, 30),), few=few)
    yield Case("scaled", FilterBankLog(0, -5), (t(S32, 30),))


_WORDS = np.array([[0, 0], [1, 0], [2, 0], [3, 0], [-1, 0], [-65536, 0], [-65535, 0], [0, 1]], np.int32)
_ENDS = np.array([[-1, -1], [1, -2], [2, -2], [0, 1 << 30], [-131071, 0], [7, 3], [-1, 1]], np.int32)


def _transform(case: Case) -> int:
    length: int = case.op.length  # type: ignore[attr-defined]
    points, frames = length // 2, math.prod(case.types[0].shape[:-1])
    radix_four = sum(4**i <= points for i in range(1, 16))
    return frames * (3 * points * radix_four + 4 * (points // 2))


def _weights(case: Case) -> int:
    weights: Array = case.arrays[1]
    return 2 * weights.size


PRODUCTS: Mapping[type[Op], Callable[[Case], int]] = {
    Rfft: _transform,
    Irfft: _transform,
    FilterBank: _weights,
}
"""Three turns, of four products each, for each four numbers of a stage, and one for each pair of a spectrum."""
