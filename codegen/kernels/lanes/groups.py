"""Dense layers whose weights have a scale per group of inputs, with AVX-512 or AVX2: some pixels by many outputs.

Numbers without a sign by inputs with one: what vectors multiply needs no other form of either.  Bytes of one pixel
have a sign, and inputs none: products read these numbers where they lie.  4 bits of one pixel are in group_pairs.py.
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
    factor_fields,
    lanes_requant,
    packed_weights,
    sum_fields,
    takes_factors,
    wrapped_bias,
)
from codegen.kernels.lanes.dense import chunk_pixels, run_width
from codegen.kernels.packed import filled_to
from codegen.kernels.weighted import BYTES, FOLDED, signed_zero
from codegen.ops import Conv2D, Dense
from codegen.records import record

_SIGNED = replace(X86, signed=True)
"""The processor, as far as inputs have a sign."""
_STEP, _BITS, _HALF = 8, 4, 8
_BYTE_STEP, _BYTE_HALF = 4, 128
_PAIRED = "of each group, and times that what is taken off its numbers: they are stored as so much more"
_STORED_LESS = "of each group, added to its numbers: they are stored as so much less, without a sign"
_MOST_BLOCK = 1 << 15
"""Inputs of a group whose sum, its zero point's part with it, stays in 32 bits: products of 15 by 128 each."""
_MOST_PAIRED = 128
"""Inputs of a group whose sum fits 16 bits."""
_SLACK = 8
"""Bytes behind the inputs that the last ones may be read with."""
_SUMS = 30
"""Registers for the sums of groups, those of all of them, and weights."""
_MOST_PIXELS = 14
_IN_FLIGHT = 8
"""Sums below which one waits for the one before it."""


@record
class LanesGroupsContext(InGroups):
    """Literals of one layer: `n_in` inputs in groups of `size`, outputs in blocks of `block`; `one`: of one pixel.

    `pixels` by `vectors` are summed together, `chunk` pixels made at a time.  `bytes`: numbers are; `words`: sums of
    groups fit 16 bits; `copied`: inputs are brought to scratch, as they get a sign or lose
    it or the last ones are read with others.
    """

    block: int
    pixels: int
    vectors: int
    chunk: int
    channels: int
    one: bool
    bytes: bool
    apart: bool
    words: bool
    copied: bool
    rq: LanesRequant

    @property
    def step(self) -> int:
        """Inputs of a word of each channel."""
        return _BYTE_STEP if self.bytes else _STEP

    @property
    def steps(self) -> int:
        """Such of a whole group."""
        return self.size // self.step

    @property
    def rest_steps(self) -> int:
        """Such of the last one."""
        return -(-self.rest // self.step)

    @property
    def sums(self) -> bool:
        """Whether there are sums of inputs."""
        return self.apart or not self.turned

    @property
    def turned(self) -> bool:
        """Whether numbers have a sign, and inputs none."""
        return self.bytes and self.pixels == 1

    @property
    def paired(self) -> bool:
        """Whether zero points lie beside factors, as their products."""
        return self.apart and self.bytes

    @property
    def begins(self) -> bool:
        """Whether sums begin with zero points."""
        return self.apart and not self.bytes

    @property
    def begin_times(self) -> int:
        """What a group begins with, of the sum of its inputs, or what that is times its zero point."""
        if self.bytes:
            return -1 if self.apart else -_BYTE_HALF
        return 1 if self.apart else -_HALF

    @property
    def sums_at(self) -> int:
        """Bytes of scratch before the sums of groups."""
        return -(-(self.chunk * self.n_in + _SLACK) // LINE) * LINE if self.copied else 0


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    made = grouped(node)
    if made is None or made.block % (_STEP if made.bits else _BYTE_STEP) or made.block > _MOST_BLOCK:
        return None
    sums, y = made.sums, node.outs[0].dtype
    if made.bits and run_width(node) == 1:
        return None
    if sums.x not in BYTES or not takes_factors(node.op.requant, y, sums.reach) or made.block % _size(made):
        return None
    k = _context(node, made)
    size = k.channels * (k.whole * k.steps + k.rest_steps) * 4
    params = (
        *(_byte_fields(made) if k.turned else sum_fields(_SIGNED, sums)),
        Field("factors", _factors(made, k), about=_PAIRED if k.paired else ""),
        *_less_fields(made, k),
        Field.later("weights", np.uint8, size, lambda: _packed(made, k), _ORDER, alignment=LINE),
    )
    scratch = (Scratch("inputs", k.sums_at), Scratch("sums", 4 * k.groups * k.chunk * k.sums))
    why = f"{X86.name}: {k.pixels} pixels x {k.vectors} vectors of 16 channels, {made.said}"
    return Fit(k, params, scratch, why, headers=_COPIED if k.copied else ())


def _size(made: Grouped) -> int:
    """Inputs of a group: larger ones of bytes with zero points are cut, with the same factors."""
    return min(made.block, _MOST_PAIRED) if not made.bits and made.less is not None else made.block


def _byte_fields(made: Grouped) -> tuple[Field, ...]:
    """The bias for inputs with 128 added, which numbers as they are stored meet, and the factors."""
    sums = made.sums

    def bias() -> Array:
        times = made.factors.repeat(made.block, axis=1)[:, : made.numbers.shape[1]]
        stored = (made.numbers.astype(np.int64) * times).sum(axis=1)
        return wrapped_bias(sums.weights, sums.bias.astype(np.int64) - _BYTE_HALF * stored, signed_zero(sums))

    folded = Field.later("bias", np.int32, sums.bias.size, bias, FOLDED)
    return (folded, *factor_fields(sums.op.requant, sums.reach))


def _context(node: NodeOf[Conv2D | Dense], made: Grouped) -> LanesGroupsContext:
    x, y = node.ins[0], node.outs[0]
    n_in, channels, width = x.shape[-1], y.shape[-1], run_width(node)
    block, pixels = block_channels(X86, width), _together(width, made.block // _STEP)
    step, signed = _STEP if made.bits else _BYTE_STEP, made.bits > 0 or pixels > 1
    most = -(-min(channels, block) // LANES)
    return LanesGroupsContext(
        block=block,
        pixels=pixels,
        vectors=most if pixels == 1 else min(most, _vectors(pixels)),
        chunk=chunk_pixels(n_in, pixels, -(-y.elements // channels // pixels)),
        n_in=n_in,
        channels=channels,
        one=y.elements == channels,
        bytes=not made.bits,
        size=_size(made),
        apart=made.less is not None,
        words=made.bits > 0 and made.fits_halves,
        copied=(x.dtype is DType.S8) != signed or n_in % step > 0,
        rq=lanes_requant(_SIGNED, made.sums, few=False),
    )


def _together(width: int, steps: int) -> int:
    """Pixels that are summed together: the number that takes least for `width` of them."""

    def of_vector(pixels: int) -> int:
        # of each pixel two products an eight, a beginning and an end; of all, weights taken apart, and the loop
        return pixels * (2 * steps + 3) + 3 * steps + 8

    return min(range(1, min(width, _MOST_PIXELS) + 1), key=lambda p: -(-width // p) * of_vector(p))


def _vectors(pixels: int) -> int:
    """Vectors of channels that are summed together with so many pixels: as few as keep the multipliers busy."""
    return next((v for v in (1, 2, 4) if pixels * v >= _IN_FLIGHT and v * (2 * pixels + 1) <= _SUMS), 4)


_ORDER = "in the order of lam_lanes_groups.h"
_COPIED = ("lam_lanes_vector.h",)


def _factors(made: Grouped, k: LanesGroupsContext) -> Array:
    """The factors, and beside each its zero point times it, where these lie there."""
    factors = _by_blocks(_cut(made, made.factors, k), k)
    if k.paired and made.less is not None:
        factors = np.stack([factors, _by_blocks(_cut(made, -made.less * made.factors, k), k)], axis=1).reshape(-1)
    return factors.astype(np.int16)


def _less_fields(made: Grouped, k: LanesGroupsContext) -> tuple[Field, ...]:
    if made.less is None or k.paired:
        return ()
    return (Field("w_shift", _by_blocks(made.less - _HALF, k).astype(np.int8), about=_STORED_LESS),)


def _cut(made: Grouped, groups: Array, k: LanesGroupsContext) -> Array:
    """What is said of each group, [channels, groups], of those that are cut from it."""
    return groups.repeat(made.block // k.size, axis=1)[:, : k.groups]


def _by_blocks(groups: Array, k: LanesGroupsContext) -> Array:
    """What is said of each group, [channels, groups], of a block's channels group by group; flat."""
    return np.concatenate([groups[at : at + k.block].T.reshape(-1) for at in range(0, k.channels, k.block)])


def _packed(made: Grouped, k: LanesGroupsContext) -> Array:
    fields = made.numbers + (0 if k.turned else _BYTE_HALF if k.bytes else _HALF)
    whole = fields[:, : k.rest_at].reshape(k.channels, k.whole, k.size)
    rest = filled_to(fields[:, None, k.rest_at :], k.step, axis=2)
    parts = [part for part in (whole, rest) if part.size]
    blocks = range(0, k.channels, k.block)
    found = [packed_weights(part[at : at + k.block], k.block, few=not k.bytes) for at in blocks for part in parts]
    return np.concatenate(found).astype(np.uint8)


GROUPS: Kernel[Conv2D | Dense] = Kernel(
    "x86_groups", "lanes/groups.c.j2", "pixels", (Dense, Conv2D), _fit, X86.needs, headers=("lam_lanes_groups.h",)
)
