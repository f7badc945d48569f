"""Layers whose weights have 2 or 4 bits: every field of an element, runs and channels that do not fill one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array, DType, Mode
from codegen.ops import Conv2D, ConvTranspose2D, Dense
from tests.contract.case import S8, S16, S32, U8, A, Case, in_modes, ints, requant, t, window

Source = Callable[[Mode, int], Iterator[Case]]
_IN_EVERY_MODE = ("one_odd", "window")


def few(bits: int, *shape: int) -> Array:
    """Weights of so many bits; the least and the greatest are among them."""
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    weights = np.random.default_rng([22, bits, *shape]).integers(low, high, shape, np.int8, endpoint=True)
    weights.flat[0], weights.flat[-1] = low, high
    return weights


def packed(source: Source) -> Iterator[Case]:
    """Cases of weights of 4 and 2 bits; two of 4 in every mode, the others in one; and all with own zero points."""
    yield from in_modes(lambda mode: _of_bits(source, mode))
    for bits in (4, 2):
        for case in source("single", bits):
            yield _apart(replace(case, name=f"apart_{case.name}_u{bits}", bits=bits))


def _apart(case: Case) -> Case:
    """The case whose weights are more by a number of each output, or of each of its blocks."""
    weights, half = np.asarray(case.ins[1]), 1 << (case.bits - 1)
    shape = (len(weights), *(1,) * (weights.ndim - 1))
    more = np.random.default_rng([24, *weights.shape]).integers(1 - half, half + 1, shape)
    more.flat[0], more.flat[-1] = 1 - half, half
    return replace(case, ins=(case.ins[0], (weights + more).astype(weights.dtype), *case.ins[2:]), apart=True)


def _of_bits(source: Source, mode: Mode) -> Iterator[Case]:
    for bits in (4, 2) if mode == "single" else (4,):
        for case in source(mode, bits):
            if mode == "single" or case.name in _IN_EVERY_MODE:
                yield replace(case, name=f"{case.name}_s{bits}", bits=bits)


def dense(mode: Mode, bits: int) -> Iterator[Case]:
    """One pixel and several, numbers of inputs and outputs that fill no element."""
    for name, dtype, pixels, n_in, n_out in (
        ("one", S8, 1, 64, 12),
        ("one_odd", U8, 1, 29, 7),
        ("one_rest", U8, 1, 64, 2),
        ("some", S8, 5, 32, 16),
        ("some_odd", U8, 3, 19, 9),
        ("words", S16, 2, 20, 6),
        ("words_some", S16, 5, 24, 6),
    ):
        step = requant(mode, 2**bits * dtype.high * np.sqrt(n_in), n_out)
        op = Dense(A.zero_point if dtype is S8 else dtype.low + 3, step, S8, None)
        yield Case(name, op, (t(dtype, pixels, n_in), few(bits, n_out, n_in), ints(S32, n_out) >> 20))


def grouped(mode: Mode) -> Iterator[Case]:
    """Weights that are numbers of 2, 4 and 8 bits times a factor of their group, of which the last may be smaller."""
    if mode != "single":
        shapes: tuple[tuple[int, int, int, int, int], ...] = ((4, 1, 40, 5, 32), (4, 1, 104, 20, 32))
    else:
        shapes = (
            (4, 2, 70, 6, 32),
            (4, 1, 13, 3, 5),
            (2, 1, 24, 4, 16),
            (2, 3, 21, 5, 10),
            (8, 1, 36, 4, 16),
            (4, 1, 9, 2, 32),
            (4, 1, 96, 16, 32),
            (4, 1, 104, 20, 32),
            (4, 2, 48, 24, 16),
            (4, 1, 144, 15, 64),
            (4, 1, 300, 20, 256),
            (2, 1, 88, 11, 32),
            (4, 9, 80, 37, 16),
            (4, 9, 64, 18, 32),
            (4, 9, 128, 20, 64),
            (4, 7, 72, 20, 32),
            (4, 18, 56, 9, 8),
            (4, 1, 60, 12, 16),
            (4, 5, 152, 7, 32),
            (4, 2, 32, 6, 16),
            (8, 1, 104, 20, 32),
            (8, 2, 48, 7, 16),
            (8, 9, 64, 17, 32),
            (8, 3, 88, 1, 8),
        )
    for bits, pixels, n_in, n_out, block in shapes:
        dtype = U8 if n_in in (60, 72, 88) or (n_out, mode) == (20, "tflite") else S8
        for apart in (False, True):
            yield in_groups(mode, few(bits, n_out, n_in), block, bits=bits, pixels=pixels, dtype=dtype, apart=apart)
    if mode == "single":
        yield from _wide_groups()


def in_groups(
    mode: Mode, numbers: Array, block: int, *, bits: int, pixels: int, dtype: DType, apart: bool, factors: int = 0
) -> Case:
    """A layer of numbers [outputs, inputs] times a factor of their group of so many inputs.

    `apart`: and more by a number of it.  `factors`: to requantize by, one for each output where it is 0.
    """
    n_out, n_in = numbers.shape
    groups, half = (n_out, -(-n_in // block)), 1 << (bits - 1)
    zero = A.zero_point if dtype is S8 else dtype.low + 3
    most = 250 if bits < 8 or not apart else 128
    own = np.random.default_rng([23, n_in]).integers(1, most, groups)
    more = np.random.default_rng([25, n_in]).integers(1 - half, 1 + half, groups)
    step = requant(mode, 2**bits * 125 * 128 * np.sqrt(n_in), factors or n_out)
    whole = numbers + apart * more.repeat(block, axis=1)[:, :n_in]
    weights = (whole * own.repeat(block, axis=1)[:, :n_in]).astype(np.int16)
    ins = (t(dtype, pixels, n_in), weights, ints(S32, n_out) >> 12)
    name, op = f"groups_{'u' if apart else ''}{bits}_{n_in}", Dense(zero, step, S8, None)
    return Case(name, op, ins, bits=bits, block=block, apart=apart and bits < 8)


def _wide_groups() -> Iterator[Case]:
    """Groups of words with a zero point, whose sums leave 32 bits."""
    for bits, n_in, block, dtype in ((4, 70, 32, S16), (2, 24, 5, S16), (8, 40, 16, S16)):
        factors = np.random.default_rng([26, n_in]).integers(200, 250, (3, -(-n_in // block)))
        for apart in (False, True):
            numbers = few(bits, 3, n_in) + apart * (factors % 5 - 2).repeat(block, axis=1)[:, :n_in]
            weights = (numbers * factors.repeat(block, axis=1)[:, :n_in]).astype(np.int16)
            op = Dense(-77, requant("single", 1 << 34, 3, S16, wide=True), S16, None)
            ins = (t(dtype, 2, n_in), weights, np.full(3, (1 << 31) - (1 << 20), np.int32))
            name = f"groups_wide_{'u' if apart else ''}{bits}"
            yield Case(name, op, ins, bits=bits, block=block, apart=apart and bits < 8)


def convolutions(mode: Mode, bits: int) -> Iterator[Case]:
    """Windows with strides, dilation, groups; depthwise ones, one with factors of up to 0.7."""
    same, strided, wide = window(3, 1, 1, 1, 1), window(3, 2, 1, 0, 1), window(3, 1, 2, 2, 2)
    for name, dtype, w, size, c_in, c_out, groups in (
        ("window", S8, same, 7, 8, 8, 1),
        ("first", U8, strided, 9, 3, 5, 1),
        ("apart", S8, wide, 8, 5, 6, 1),
        ("deep", S8, same, 4, 72, 4, 1),
        ("bounded", S8, same, 4, 6, 5, 1),
        ("bounded_pointwise", U8, window(1), 5, 12, 4, 1),
        ("eight_inputs", S8, window(1), 6, 8, 6, 1),
        ("depthwise", S8, same, 7, 9, 9, 9),
        ("depthwise_large", S8, same, 7, 8, 8, 8),
        ("depthwise_strided", U8, strided, 9, 16, 16, 16),
        ("depthwise_deep", S8, window(5, 1, 1, 2, 2), 6, 6, 6, 6),
        ("grouped", S8, same, 5, 6, 4, 2),
        ("grouped_odd", U8, strided, 9, 9, 9, 3),
        ("multiplied", S8, wide, 7, 4, 12, 4),
        ("words_window", S16, same, 5, 6, 5, 1),
        ("words_strided", S16, strided, 7, 8, 8, 1),
        ("words_apart", S16, wide, 6, 3, 2, 1),
        ("words_grouped", S16, same, 5, 6, 4, 2),
        ("words_depthwise", S16, same, 5, 19, 19, 19),
        ("words_depthwise_strided", S16, strided, 7, 5, 5, 5),
    ):
        depth, reach = c_in // groups, 500 if name == "depthwise_large" else 2**bits * 380
        reach *= 256 if dtype is S16 else 1
        step = requant(mode, reach, c_out)
        step = replace(step, low=-14, high=63) if name.startswith("bounded") else step
        op = Conv2D(w, w, groups, 3 if dtype is U8 else A.zero_point, step, S8, None)
        weights = few(bits, c_out, w.size, w.size, depth)
        yield Case(name, op, (t(dtype, 1, size, size, c_in), weights, ints(S32, c_out) >> 20))
    one, three = window(1), window(3, 1, 1, 1, 1)
    for name, dtype, h, length, c_in, c_out in (
        ("in_line_deep", S8, one, 7, 80, 9),
        ("in_line", U8, one, 19, 24, 6),
        ("in_line_window", S8, three, 6, 20, 5),
        ("in_line_window_deep", U8, three, 4, 140, 4),
    ):
        op = Conv2D(h, one, 1, 3 if dtype is U8 else A.zero_point, requant(mode, 2**bits * 380, c_out), S8, None)
        yield Case(name, op, (t(dtype, 1, length, 1, c_in), few(bits, c_out, h.size, 1, c_in), ints(S32, c_out) >> 20))
    if mode == "single":
        yield from _wide(bits)


def _wide(bits: int) -> Iterator[Case]:
    """Sums beyond 32 bits."""
    same, step = window(3, 1, 1, 1, 1), requant("single", 1 << 33, 3, S16, wide=True)
    for name, c_in, groups in (("wide_window", 6, 1), ("wide_grouped", 6, 3), ("wide_depthwise", 3, 3)):
        op = Conv2D(same, same, groups, -7, step, S16, None)
        weights, bias = few(bits, 3, 3, 3, c_in // groups), np.full(3, (1 << 31) - (1 << 20), np.int32)
        yield Case(name, op, (t(S16, 1, 5, 5, c_in), weights, bias))


def transposed(mode: Mode, bits: int) -> Iterator[Case]:
    """Transposed ones, in groups whose outputs do and do not fill bytes."""
    for name, dtype, h, w, c_in, c_out, groups in (
        ("transposed", S8, window(3, 2, 1, 1, 1), window(2, 2), 6, 4, 1),
        ("transposed_odd", U8, window(2, 2), window(3, 1, 1, 1, 1), 3, 5, 1),
        ("transposed_grouped", S8, window(3, 2, 1, 0, 1), window(3, 2, 1, 1, 0), 6, 8, 2),
        ("transposed_grouped_odd", S8, window(4, 2, 1, 1, 1), window(4, 2, 1, 1, 1), 5, 5, 5),
        ("transposed_words", S16, window(3, 2, 1, 1, 1), window(3, 1, 2, 2, 2), 4, 3, 1),
    ):
        reach = 2**bits * 380 * (256 if dtype is S16 else 1)
        op = ConvTranspose2D(h, w, (0, 0), groups, dtype.low + 3, requant(mode, reach, c_out), S8, None)
        weights = few(bits, c_out, h.size, w.size, c_in // groups)
        yield Case(name, op, (t(dtype, 1, 4, 3, c_in), weights, ints(S32, c_out) >> 20))
