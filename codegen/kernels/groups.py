"""Weights with a scale per group of inputs, as numbers of few bits times a factor of their group.

The layer's weights are the products of both, which fit 16 bits; what is stored are the numbers and the factors.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from codegen.ir.op import NodeOf
from codegen.ir.quant import PACKED_BITS, Array, DType, packed_bits, taken_off
from codegen.kernels.conv2d import is_pointwise
from codegen.kernels.packed import filled_to
from codegen.kernels.weighted import Weighted, few_said, weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record

_BYTE = 8
GROUP_LESS = "of each group, added to its numbers: they are stored as so much less"
"""Said of params."""


@record
class InGroups:
    """`n_in` inputs of a pixel in groups of `size`, of which the last may be smaller."""

    n_in: int
    size: int

    @property
    def whole(self) -> int:
        """Groups of so many inputs."""
        return self.n_in // self.size

    @property
    def rest(self) -> int:
        """Inputs of the last group where it is smaller."""
        return self.n_in % self.size

    @property
    def rest_at(self) -> int:
        """Inputs before it."""
        return self.whole * self.size

    @property
    def groups(self) -> int:
        """All groups."""
        return self.whole + (self.rest > 0)


def in_even_parts(pixels: int, most: int) -> int:
    """The pixels of a part, an even number: of as few equal parts as there can be of at most `most`, which is even."""
    return -(-pixels // -(-pixels // most)) + 1 & ~1


@record(eq=False, slots=False)
class Grouped:
    """The sums of one node, whose inputs are in groups of `block`, of which the last may be smaller.

    `numbers` [outputs, inputs] are what is stored, in `bits`, 0 for bytes; `less` [outputs, groups] is added to those
    of a group, where groups have zero points of their own, or no byte holds their numbers; `factors` [outputs, groups].
    """

    sums: Weighted
    block: int
    numbers: Array
    factors: Array
    bits: int
    less: Array | None

    @property
    def said(self) -> str:
        """What is said of a form beside its blocks."""
        return f"a factor per {self.block} {few_said(self.bits or _BYTE, own=self.less is not None)}"

    @cached_property
    def whole_numbers(self) -> Array:
        """The numbers with what they are less."""
        return self.numbers if self.less is None else self.numbers + _by_input(self.less, self.block, self.numbers)

    @property
    def fits_words(self) -> bool:
        """Whether a group's sum of inputs, their zero point taken off, times numbers fits 32 bits."""
        parts = np.abs(_by_parts(self.whole_numbers, self.block, self.block)).sum(axis=2)
        return int(parts.max()) * self.sums.x.reach(self.sums.op.x_zero_point) < 1 << 31

    @property
    def fits_halves(self) -> bool:
        """Whether a group's sum of inputs, which are made to have a sign, times numbers fits 16 bits."""
        return self.whole_reach(self.block) < 1 << 15

    def reach(self, part: int) -> int:
        """Largest size of the sum of inputs times numbers, of so many inputs of a group."""
        return self._reach(self.whole_numbers, self.sums.x, part)

    def signed_reach(self, part: int) -> int:
        """The same of what is stored, and inputs that are made to have a sign."""
        return self._reach(self.numbers, DType.S8, part)

    def whole_reach(self, part: int) -> int:
        """The same of whole numbers."""
        return self._reach(self.whole_numbers, DType.S8, part)

    def _reach(self, numbers: Array, x: DType, part: int) -> int:
        ends = [end * numbers for end in (x.low, x.high)]
        most, least = (_by_parts(pick(*ends), self.block, part).sum(axis=2) for pick in (np.maximum, np.minimum))
        return int(max(most.max(), -least.min()))


@lru_cache(maxsize=4)
def grouped(node: NodeOf[Conv2D | Dense], *, wide: bool = False) -> Grouped | None:
    """The sums of a dense layer, or of a pointwise convolution, whose weights are such numbers; None of all others.

    `wide`: sums may leave 32 bits.
    """
    sums, block = weighted(node, apart=True), node.ins[1].block
    if sums is None or not block or (sums.wide and not wide) or not is_pointwise(node.op):
        return None
    numbers, factors = factored(sums.weights.reshape(len(sums.weights), -1), block)
    bits, less = packed_bits(numbers, max(PACKED_BITS)), None
    if not bits and node.ins[1].apart:
        numbers, less = _apart(numbers, block, node.ins[1].bits)
        bits = packed_bits(numbers, max(PACKED_BITS))
    if not _are_bytes(numbers) and np.abs(numbers).max() <= DType.U8.high:  # bytes less a zero point
        numbers, less = _apart(numbers, block, _BYTE)
    return Grouped(sums, block, numbers, factors, bits, less) if _are_bytes(numbers) else None


def _are_bytes(numbers: Array) -> bool:
    return bool(numbers.min() >= DType.S8.low and numbers.max() <= DType.S8.high)


def factored(weights: Array, block: int) -> tuple[Array, Array]:
    """Weights [outputs, inputs] as numbers, int64, and the largest factors [outputs, groups] that they share."""
    groups = filled_to(weights.astype(np.int64), block, axis=1).reshape(len(weights), -1, block)
    factors = np.maximum(np.gcd.reduce(groups, axis=2), 1)
    numbers = (groups // factors[:, :, None]).reshape(len(weights), -1)[:, : weights.shape[1]]
    return numbers, factors


def _apart(numbers: Array, block: int, bits: int) -> tuple[Array, Array | None]:
    """Numbers [outputs, inputs] less what is taken off each group, [outputs, groups]; as they are where nothing is."""
    starts = _by_input(numbers[:, ::block], block, numbers)
    # a group that is not full is filled with one of its own numbers
    groups = filled_to(numbers - starts, block, axis=1).reshape(len(numbers), -1, block) + numbers[:, ::block, None]
    less = taken_off(groups, bits)
    return (numbers, None) if less is None else (numbers - _by_input(less, block, numbers), less)


def _by_input(groups: Array, block: int, like: Array) -> Array:
    """What is said of each group, for each of its inputs."""
    return groups.repeat(block, axis=1)[:, : like.shape[1]]


def _by_parts(values: Array, block: int, part: int) -> Array:
    """Values [outputs, inputs] as [outputs, parts, inputs of one], zeros where a group or its last part is not full."""
    full = filled_to(values, block, axis=1).reshape(len(values), -1, block)
    return filled_to(full, part, axis=2).reshape(len(values), -1, part)
