"""LayerNorm: each pixel's channels less their mean, over their standard deviation, times a gain and plus an offset.

x: s8|s16[..., C] -> y: s8|s16[..., C].  With N = C and q the input's integers, whose zero point cancels:

    S, Q = sum of q, sum of q^2 over the channels                  int64
    V    = N * Q - S^2 + epsilon                                   N^2 times the variance: below 2^63; 0 counts as 1
    M, r = 1 / sqrt(V) as M * 2^-(31 + r), M of 31 bits            ops/fixed_functions.py: inverse_sqrt_64
    z    = ((N * q - S) * M) >> (31 + r - 18), halves upwards      standard deviations in steps of 2^-18
    y    = clamp(zy + ((z * gain + offset * 2^18) >> (18 + shift)), halves upwards)

Where `around` is an integer and not the mean, q is the input's less that one, and S is 0: RMSNorm, and with a gain of
1 / sqrt(N) division by the length.

`gain` and `offset` are one number for each channel, or one for all, in steps of 2^-shift of the output's.  Instances
and groups have one for each `run` channels, and `sets` of those: pixel p has the set p % sets.

Source: ONNX LayerNormalization-17, RMSNormalization-23 and LpNormalization-22; the integers are Lamina's own, with two
roundings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit, Op, RowRule
from codegen.ir.permutation import Perm
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, in_place_when_equal, last_axis_stays, no_macs, same_row, whole
from codegen.ops.fixed_functions import inverse_sqrt_64
from codegen.ops.limits import limit, only_input, require, types_among
from codegen.records import record

BITS = 18
"""Fractional bits of standard deviations: sqrt(C) of them at most, which with a gain fit 63 bits."""
_FACTOR_BITS = 30
_MOST_SHIFT = 30
_EPSILON_BITS = 61


@record
class LayerNorm:
    """The channels of each pixel brought to a mean of 0, or to their distance from a number, and to a variance of 1.

    Then they are scaled and moved.
    """

    gain: tuple[int, ...]
    offset: tuple[int, ...]
    shift: int
    epsilon: int
    dtype: DType
    y_quant: Quant
    around: int | None = None
    sets: int = 1
    run: int = 1

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-REDUCTION-13", 0, "the input", (DType.S8, DType.S16)),
        limit(
            "LAM-OPS-REDUCTION-14",
            "channels times the numbers of the input's type must be 2^31 at most",
            lambda op, ins: ins[0].shape[-1] << 8 * ins[0].dtype.bytes <= 1 << 31,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(len(x.shape) >= 1, self, "takes a tensor of one axis or more")
        require(not x.shape[-1] % self.run, self, f"has runs of {self.run} of {x.shape[-1]} channels")
        fits = all(len(part) in (1, self.sets * x.shape[-1] // self.run) for part in (self.gain, self.offset))
        require(fits, self, f"has {len(self.gain)} gains and {len(self.offset)} offsets for {x.shape[-1]} channels")
        return (TensorType(x.shape, self.dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        count = x.shape[-1]
        pixels = x.reshape(-1, count).astype(np.int64) - (self.around or 0)
        total = pixels.sum(axis=1) * (self.around is None)
        spread = count * (pixels * pixels).sum(axis=1) - total * total + self.epsilon
        roots = np.array([inverse_sqrt_64(int(v)) for v in spread], np.int64).reshape(-1, 2)
        factor, right = roots[:, :1], roots[:, 1:] + (31 - BITS)
        z = _shifted((count * pixels - total[:, None]) * factor, right)
        gain, offset = (self._of_pixels(part, len(pixels), count) for part in (self.gain, self.offset))
        moved = z * gain + (offset << BITS)
        y = self.y_quant.zero_point + _shifted(moved, np.int64(BITS + self.shift))
        return (np.clip(y, self.dtype.low, self.dtype.high).astype(self.dtype.numpy).reshape(x.shape),)

    def _of_pixels(self, part: tuple[int, ...], pixels: int, channels: int) -> Array:
        """A gain or an offset for each channel, of every pixel where they differ."""
        if len(part) == 1:
            return np.array(part, np.int64)
        found = np.array(part, np.int64).reshape(self.sets, -1).repeat(self.run, axis=1)
        return found if self.sets == 1 else found[np.arange(pixels) % self.sets]

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """A row is made of the same row; with several sets everything at once, for rows do not know their places."""
        return (same_row if self.sets == 1 else whole)(self, index, ins, outs)

    def in_layout(self, perm: Perm) -> Op | None:
        """Something is done along the last axis; sets belong to the pixels' order."""
        return last_axis_stays(self, perm) if self.sets == 1 else None

    macs = no_macs
    in_place = in_place_when_equal


def scaled_layer_norm(
    x: TensorType, factors: tuple[Array, Array], epsilon: float, y: tuple[DType, Quant], *, centred: bool = True
) -> LayerNorm:
    """The operator for real gains and offsets, float64 of one element, C, or [pixels, C], between two scales.

    Not `centred`, the mean stays where it is, and numbers are measured from zero.

    Raises:
        OverflowError: a gain or an offset is 2^30 steps of the output or more, or no number.
    """
    assert x.quant is not None
    dtype, quant = y
    gain, offset = (np.atleast_1d(part).astype(np.float64) / quant.scale for part in factors)
    largest = float(np.abs(np.concatenate([gain.ravel(), offset.ravel(), [2.0**-_MOST_SHIFT]])).max())
    shift = min(_FACTOR_BITS - 1 - math.frexp(largest)[1], _MOST_SHIFT)
    if shift < 0 or not math.isfinite(largest):
        raise OverflowError(f"a factor of {largest:g} steps")
    steps = epsilon * (x.shape[-1] / x.quant.scale) ** 2
    sets, run, (gain, offset) = _in_sets(gain, offset)
    ints = [tuple(int(n) for n in np.rint(part * 2.0**shift)) for part in (gain, offset)]
    around = None if centred else x.quant.zero_point
    return LayerNorm(ints[0], ints[1], shift, round(min(steps, 2.0**_EPSILON_BITS)), dtype, quant, around, sets, run)


def _in_sets(*parts: Array) -> tuple[int, int, list[Array]]:
    """How many sets of factors there are and how many channels share one, and the factors, each once; flat."""
    wide = [part for part in parts if part.ndim > 1]
    if not wide:
        return 1, 1, list(parts)
    pixels, channels = wide[0].shape
    sets = next(n for n in range(1, pixels + 1) if not pixels % n and all(_repeats(p, n) for p in wide))
    changes = {int(i) + 1 for p in wide for i in np.flatnonzero((p[:, 1:] != p[:, :-1]).any(axis=0))}
    run = math.gcd(channels, *changes)
    return sets, run, [p if p.ndim == 1 else p[:sets, ::run].reshape(-1) for p in parts]


def _repeats(part: Array, count: int) -> bool:
    """Whether rows are the first `count` ones again and again."""
    return bool((part.reshape(-1, count, part.shape[1]) == part[:count]).all())


def _shifted(x: Array, right: Array | np.int64) -> Array:
    """Divided by 2^right, halves upwards; right >= 1."""
    return np.asarray((x + (np.int64(1) << (right - 1))) >> right)
