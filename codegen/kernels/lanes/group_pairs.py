"""Dense layers of one pixel whose weights of 4 bits have a scale per group of inputs, with AVX-512 or AVX2.

Two groups and two outputs at a time (runtime_c/isa/lanes/lam_lanes_group_pairs.h), where sums of a group fit 16 bits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType
from codegen.kernels.groups import Grouped, InGroups, grouped
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.lanes.common import (
    LANES,
    LINE,
    X86,
    LanesRequant,
    block_channels,
    lanes_requant,
    sum_fields,
    takes_factors,
)
from codegen.kernels.packed import filled_to
from codegen.kernels.weighted import BYTES
from codegen.ops import Conv2D, Dense
from codegen.records import record

_STEP = 4
_HALF = 8
_PIECES = (128, 64, 32, 16)
"""Inputs of a group that are summed together: sums of 128 of them fit 16 bits."""
_LEAST = 16
"""And of 16 of them times numbers always do."""
_LESS = "of each group, taken off its numbers: they are stored as so much more"
_ORDER = "in the order of lam_lanes_group_pairs.h"


@record
class GroupPairsContext(InGroups):
    """Literals of one layer, of one pixel: `n_in` inputs in groups of `size`, outputs in blocks of `block`.

    `piece`: inputs of a group whose sum fits 16 bits, with another half for each number where that is `centred`.
    """

    block: int
    channels: int
    piece: int
    centred: bool
    apart: bool
    rq: LanesRequant

    @property
    def pairs(self) -> int:
        """Whole pairs of groups."""
        return self.whole // 2

    @property
    def shared(self) -> int:
        """Fours of inputs of a pair of the last two groups, where the last one is smaller and a whole one is left."""
        return -(-self.rest // _STEP) if self.whole % 2 else 0

    @property
    def halves(self) -> int:
        """Fours of inputs of one of the two halves of what is left of one of both."""
        left = self.size - _STEP * self.shared if self.whole % 2 else self.rest
        return -(-left // (2 * _STEP))

    @property
    def parts(self) -> tuple[tuple[int, tuple[tuple[int, int], tuple[int, int]]], ...]:
        """The pairs as they are summed: fours of each of its two, and of these (the first input, the one behind)."""
        found = []
        for at in range(0, 2 * self.pairs * self.size, 2 * self.size):
            found.append((self.size // _STEP, ((at, at + self.size), (at + self.size, at + 2 * self.size))))
        at, end = 2 * self.pairs * self.size, self.n_in
        if self.shared:
            then, first = at + self.size, min(at + _STEP * self.shared, at + self.size)
            found.append((self.shared, ((at, first), (then, self.n_in))))
            at, end = first, then
        if self.halves:
            middle = min(at + _STEP * self.halves, end)
            found.append((self.halves, ((at, middle), (middle, end))))
        return tuple(found)

    @property
    def steps(self) -> int:
        """Fours of each of two groups of all pairs."""
        return sum(steps for steps, _ in self.parts)

    @property
    def piece_steps(self) -> int:
        """Fours of inputs of a piece."""
        return self.piece // _STEP

    @property
    def sums(self) -> int:
        """Pairs of sums of inputs."""
        return sum(-(-_STEP * steps // self.piece) for steps, _ in self.parts)

    @property
    def sums_at(self) -> int:
        """Bytes of scratch before the sums of inputs: a whole vector behind whole pairs of groups that one holds."""
        whole, line = 2 * self.size * self.pairs, LINE if (self.shared or self.halves) and 2 * self.size <= LINE else 0
        return -(-max(2 * _STEP * self.steps, whole + line) // LINE) * LINE


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    made = grouped(node)
    if made is None or not made.bits or node.outs[0].elements != node.outs[0].shape[-1] or made.block % _STEP:
        return None
    sums, y = made.sums, node.outs[0].dtype
    if sums.x not in BYTES or not takes_factors(node.op.requant, y, sums.reach) or not _zeros_fit(made):
        return None
    k = _context(node, made)
    size = sum(2 * _STEP * k.steps * len(lanes) // 2 for lanes in _lanes(k))
    params = (
        *sum_fields(X86, sums),
        Field("factors", _by_pairs(made.factors, k).astype(np.int16)),
        *(() if made.less is None else (Field("w_shift", _by_pairs(-made.less, k).astype(np.int8), about=_LESS),)),
        Field.later("weights", np.uint8, size, lambda: _packed(made.numbers, k), _ORDER, alignment=LINE),
    )
    scratch = (Scratch("inputs", k.sums_at), Scratch("sums", 8 * k.sums))
    why = f"{X86.name}: two groups x {-(-min(k.channels, k.block) // LANES)} vectors of 16 channels, {made.said}"
    return Fit(k, params, scratch, why)


def _zeros_fit(made: Grouped) -> bool:
    """Whether zero points fit a byte, and times factors 16 bits."""
    less, factors = made.less, made.factors
    return less is None or bool(np.abs(less).max() <= DType.S8.high and np.abs(less * factors).max() <= DType.S16.high)


def _context(node: NodeOf[Conv2D | Dense], made: Grouped) -> GroupPairsContext:
    """The one of the largest pieces: a centred one takes a product more, two pieces twelve instructions."""
    k = GroupPairsContext(
        block=block_channels(X86, 1),
        n_in=node.ins[0].shape[-1],
        channels=node.outs[0].shape[-1],
        size=made.block,
        piece=_LEAST,
        centred=True,
        apart=made.less is not None,
        rq=lanes_requant(X86, made.sums, few=False),
    )
    sizes = sorted({min(size, made.block) for size in _PIECES}, reverse=True)
    options = (replace(k, piece=size, centred=centred) for size in sizes for centred in (False, True))
    return next((option for option in options if _fits(made.numbers, option)), k)


def _fits(numbers: Array, k: GroupPairsContext) -> bool:
    """Whether sums of pieces of inputs without a sign, times numbers, fit 16 bits."""
    twice = 2 * numbers + k.centred
    ends = [
        (at + first, min(at + first + k.piece, end))
        for steps, both in k.parts
        for at, end in both
        for first in range(0, _STEP * steps, k.piece)
        if at + first < end
    ]
    firsts, lasts = np.array(ends).T
    for part in (np.maximum(twice, 0), np.maximum(-twice, 0)):
        before = np.pad(part.cumsum(axis=1), ((0, 0), (1, 0)))
        if (before[:, lasts] - before[:, firsts]).max() * DType.U8.high // 2 >= DType.S16.high:
            return False
    return True


def _by_pairs(groups: Array, k: GroupPairsContext) -> Array:
    """What is said of each group, [channels, groups], of a block's channels pair by pair, both groups'; flat."""
    last = k.groups - 1
    at = np.array([[min(first // k.size, last) for first, _ in both] for _, both in k.parts])
    pairs = groups[:, at]
    blocks = [pairs[i : i + k.block] for i in range(0, k.channels, k.block)]
    return np.concatenate([block.transpose(1, 0, 2).reshape(-1) for block in blocks])


def _lanes(k: GroupPairsContext) -> list[Array]:
    """Of each block the channels of even lanes and those above them, [lanes, 2], from the first of the block on."""
    found = []
    for first in range(0, k.channels, k.block):
        count = min(k.block, k.channels - first)
        lanes = count + 1 if count % 4 == 1 else -(-count // 4) * 4
        lane = np.arange(lanes)
        low = lane // 4 * 4 + lane % 4 // 2
        found.append(first + np.stack([low, low + 2], axis=1))
    return found


def _packed(numbers: Array, k: GroupPairsContext) -> Array:
    """Numbers [channels, inputs] in the order of lam_lanes_group_pairs.h."""
    rows = filled_to(numbers, LANES, axis=0)
    found = []
    for lanes in _lanes(k):
        for steps, both in k.parts:
            parts = [np.pad(rows[:, at:end], ((0, 0), (0, _STEP * steps - (end - at)))) for at, end in both]
            fours = np.stack([part.reshape(len(rows), steps, _STEP) for part in parts], axis=1)
            group = np.arange(len(lanes)) % 2
            low, high = (fours[lanes[:, i], group] for i in (0, 1))
            found.append(((high << 4) + low + _HALF).transpose(1, 0, 2).reshape(-1))
    return (np.concatenate(found) & 0xFF).astype(np.uint8)


GROUP_PAIRS: Kernel[Conv2D | Dense] = Kernel(
    "x86_group_pairs",
    "lanes/group_pairs.c.j2",
    "pixels",
    (Dense, Conv2D),
    _fit,
    X86.needs,
    headers=("lam_lanes_group_pairs.h",),
)
