"""Rfft and Irfft: the spectrum of real frames of N = 2^n samples, and back, as kissfft has them in fixed point.

Rfft    x: s16 or s32[..., M], M <= N, zeros behind them -> y: as x [..., N + 2], pairs of real and imaginary part
Irfft   x: s16 or s32[..., N + 2] -> y: as x [..., N]

With Q = 2^15 - 1 of s16 and 2^31 - 1 of s32, and c[j] = floor(1/2 + Q cos(2 pi j / N)):

    a * b   of complex numbers: each part is the sum of two products, rounded half up by the bits of Q
    a / k   a part times floor(Q / k), rounded half up by the bits of Q
    w(j)    c[j] + i c[j + N/4], which turns by -2 pi j / N

The frame is N/2 complex numbers z.  They are put in the order of reversed digits, of which the first stage has radix 2
where N/2 is no power of four, and all others radix 4; each stage divides its numbers by its radix before it turns and
adds them.  The spectrum Z of that becomes the one of the frame, for k = 1 .. N/4:

    p = Z[k] / 2,  q = conj(Z[N/2 - k]) / 2,  t = (p - q) * w(k + N/4)
    y[k] = (p + q + t) >> 1,  y[N/2 - k] = conj(p + q - t) >> 1;  y[0] and y[N/2] of Z[0] / 2

Irfft does the same from behind without the last halves, with the transform turned the other way.  Everything wraps
around in the bits of x; the sums that are halved last have 32 bits.
Source: kissfft, kiss_fft.c, kiss_fftr.c, _kiss_fft_guts.h; tflite-micro, signal/micro/kernels/rfft.cc, irfft.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, never_in_place, whole
from codegen.ops.limits import limit, only_input, require, types_among
from codegen.records import record

_TYPES = (DType.S16, DType.S32)
LEAST, MOST = 4, 1 << 15
"""Lengths of a frame."""


def is_length(length: int) -> bool:
    """Whether frames may have so many samples."""
    return LEAST <= length <= MOST and not length & (length - 1)


_LENGTH = f"the length must be a power of two, {LEAST} to {MOST}"


@record
class Rfft:
    """The spectrum of real frames, in fixed point."""

    length: int

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-SIGNAL-08", 0, "the input", _TYPES),
        limit("LAM-OPS-SIGNAL-09", _LENGTH, lambda op, ins: is_length(op.length)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        fits = len(x.shape) >= 1 and x.shape[-1] <= self.length
        require(fits, self, f"frames of {self.length} samples from {list(x.shape)}")
        return (TensorType((*x.shape[:-1], self.length + 2), x.dtype),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        fixed = _Fixed(DType.of(x), self.length)
        padded = np.zeros((*x.shape[:-1], self.length), np.int64)
        padded[..., : x.shape[-1]] = x
        z = fixed.transformed(padded.reshape(*x.shape[:-1], -1, 2))
        return (fixed.real_spectrum(z).reshape(*x.shape[:-1], -1).astype(x.dtype),)

    def macs(self, ins: Types, outs: Types) -> int:
        """Those of the stages and of the last step."""
        return transform_macs(self.length) * math.prod(ins[0].shape[:-1])

    rows = whole
    in_place = never_in_place


@record
class Irfft:
    """The real frames that have a spectrum, in fixed point."""

    length: int

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-SIGNAL-10", 0, "the input", _TYPES),
        limit("LAM-OPS-SIGNAL-11", _LENGTH, lambda op, ins: is_length(op.length)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        fits = len(x.shape) >= 1 and x.shape[-1] == self.length + 2
        require(fits, self, f"frames of {self.length} samples from {list(x.shape)}")
        return (TensorType((*x.shape[:-1], self.length), x.dtype),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        fixed = _Fixed(DType.of(x), self.length)
        z = fixed.packed(x.astype(np.int64).reshape(*x.shape[:-1], -1, 2))
        # exchanged parts turn the transform the other way, to the bit
        y = fixed.transformed(z[..., ::-1])[..., ::-1]
        return (y.reshape(*x.shape[:-1], -1).astype(x.dtype),)

    def macs(self, ins: Types, outs: Types) -> int:
        """Those of the stages and of the first step."""
        return transform_macs(self.length) * math.prod(ins[0].shape[:-1])

    rows = whole
    in_place = never_in_place


def transform_macs(length: int) -> int:
    """Multiplications of one frame: three turns for each four numbers of a stage, one for each pair of the spectrum."""
    points = length // 2
    stages = (points.bit_length() - 1) // 2
    return stages * points * 3 + length


def cosines(dtype: DType, length: int) -> Array:
    """c[j] for j below `length`."""
    table = [_cosine(j, length, dtype.high) for j in range(length)]
    return np.array(table, dtype.numpy)


def _cosine(j: int, length: int, scale: int) -> int:
    return math.floor(0.5 + scale * math.cos(2 * math.pi * j / length))


def digits(points: int) -> Array:
    """Which number goes to each place: the radices are 4, but the last one 2 where `points` is no power of four."""
    radices, left = list[int](), points
    while left > 1:
        radices.append(4 if left % 4 == 0 else 2)
        left //= radices[-1]
    order, weight = np.zeros(1, np.int64), 1
    for radix in radices:
        order = (order[:, None] + weight * np.arange(radix)).reshape(-1)
        weight *= radix
    return order


class _Fixed:
    """Arithmetic in the bits of a type on arrays [..., numbers, 2] of int64, for frames of one length."""

    def __init__(self, dtype: DType, length: int) -> None:
        self._dtype = dtype.numpy
        self._high = dtype.high
        self._bits = 8 * dtype.bytes - 1
        self._half = 1 << (self._bits - 1)
        self._length = length
        self._cosine = cosines(dtype, length).astype(np.int64)

    def _wrapped(self, x: Array) -> Array:
        return np.asarray(x.astype(self._dtype).astype(np.int64))

    def _rounded(self, x: Array) -> Array:
        return self._wrapped((x + self._half) >> self._bits)

    def _over(self, x: Array, divisor: int) -> Array:
        return self._rounded(x * (self._high // divisor))

    def _turned(self, x: Array, places: Array) -> Array:
        """Each number times w(its place)."""
        cosine, sine = self._cosine[places % self._length], self._cosine[(places + self._length // 4) % self._length]
        r, i = x[..., 0], x[..., 1]
        return self._rounded(np.stack([r * cosine - i * sine, r * sine + i * cosine], -1))

    def transformed(self, z: Array) -> Array:
        """The spectrum of complex numbers."""
        points = z.shape[-2]
        z, done = z[..., digits(points), :], 1
        while done < points:
            radix = 2 if done == 1 and points.bit_length() % 2 == 0 else 4
            z = self._stage(z, radix, done)
            done *= radix
        return z

    def _stage(self, z: Array, radix: int, m: int) -> Array:
        """Spectra of m numbers each to those of radix * m."""
        parts = self._over(z.reshape(*z.shape[:-2], -1, radix, m, 2), radix)
        step = self._length // (radix * m)
        turned = [self._turned(parts[..., q, :, :], q * step * np.arange(m)) for q in range(radix)]
        first = parts[..., 0, :, :]
        if radix == 2:
            sums = [first + turned[1], first - turned[1]]
        else:
            even, odd = self._wrapped(first + turned[2]), self._wrapped(first - turned[2])
            both, apart = self._wrapped(turned[1] + turned[3]), self._wrapped(turned[1] - turned[3])
            sideways = np.stack([apart[..., 1], -apart[..., 0]], -1)
            sums = [even + both, odd + sideways, even - both, odd - sideways]
        return self._wrapped(np.stack(sums, -3)).reshape(z.shape)

    def _halves(self, z: Array, other: Array) -> tuple[Array, Array]:
        """Sum and difference of numbers and conjugates of the others, each halved first."""
        p, q = self._over(z, 2), self._over(self._conjugate(other), 2)
        return self._wrapped(p + q), self._wrapped(p - q)

    def _conjugate(self, z: Array) -> Array:
        return self._wrapped(z * np.array([1, -1]))

    def real_spectrum(self, z: Array) -> Array:
        """Of real numbers, from the spectrum of pairs of them."""
        points = z.shape[-2]
        k = np.arange(1, points // 2 + 1)
        total, difference = self._halves(z[..., k, :], z[..., points - k, :])
        turned = self._turned(difference, k + self._length // 4)
        y = np.zeros((*z.shape[:-2], points + 1, 2), np.int64)
        first = self._over(z[..., 0, :], 2)
        y[..., 0, 0], y[..., points, 0] = first[..., 0] + first[..., 1], first[..., 0] - first[..., 1]
        y[..., k, :] = self._halved(total + turned)
        behind = np.stack([total[..., 0] - turned[..., 0], turned[..., 1] - total[..., 1]], -1)
        y[..., points - k, :] = self._halved(behind)
        return y

    def _halved(self, x: Array) -> Array:
        """Of sums of 32 bits."""
        return np.asarray(x.astype(np.int32).astype(np.int64) >> 1)

    def packed(self, y: Array) -> Array:
        """The spectrum of pairs of real numbers, from that of the numbers."""
        points = y.shape[-2] - 1
        k = np.arange(1, points // 2 + 1)
        total, difference = self._halves(y[..., k, :], y[..., points - k, :])
        # the other way round: w(-j) is the conjugate of w(j)
        turned = self._conjugate(self._turned(self._conjugate(difference), k + self._length // 4))
        z = np.zeros((*y.shape[:-2], points, 2), np.int64)
        ends = self._wrapped(np.stack([y[..., 0, 0] + y[..., points, 0], y[..., 0, 0] - y[..., points, 0]], -1))
        z[..., 0, :] = self._over(ends, 2)
        z[..., k, :] = self._wrapped(total + turned)
        z[..., points - k, :] = self._conjugate(self._wrapped(total - turned))
        return z
