"""Dense layers whose weights have a scale per group of inputs, with Helium: eight outputs of a pixel at a time.

Groups are whole vectors of 16 inputs, one, two or four: larger ones are cut into such, with the same factor.  Inputs
are copied to scratch where they have no sign or the last vector is not full.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, Requant
from codegen.kernels.common import range_field
from codegen.kernels.groups import Grouped, grouped
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.mve.common import (
    CHUNK,
    MVE,
    factor_fields,
    form_of,
    is_fast,
    lane_factors,
    padded,
    signed_bias,
    words,
)
from codegen.kernels.packed import nibbles
from codegen.kernels.weighted import BYTES
from codegen.ops import Conv2D, Dense
from codegen.records import record

_BLOCK = 8
_SIZES = (4, 2, 1)
"""Vectors of a group."""
_TURNS = (4, 2, 1)
"""Groups of a turn of the loop."""
_LESS_BYTES = 20
"""What is kept of a group."""
_HALF = 8
_MOST_FILLED = 5 / 4
"""How many times their outputs layers may take that fill blocks."""


@record
class MveGroupsContext:
    """Literals of one layer: `inputs` of a pixel, in groups of `chunks` vectors; `copied` to scratch.

    `each`: channels have factors of their own to requantize by; `apart`: groups have zero points.
    """

    mode: str
    each: bool
    apart: bool
    flip: int
    copied: bool
    inputs: int
    c_out: int
    chunks: int

    @property
    def whole(self) -> int:
        """Groups of so many vectors."""
        return self.inputs // (self.chunks * CHUNK)

    @property
    def rest(self) -> int:
        """Vectors of the last group where it is smaller."""
        return -(-(self.inputs - self.whole * self.chunks * CHUNK) // CHUNK)

    @property
    def groups(self) -> int:
        """All groups."""
        return self.whole + (self.rest > 0)

    @property
    def turn(self) -> int:
        """Groups of a turn of the loop."""
        return next(turn for turn in _TURNS if self.whole % turn == 0)

    @property
    def turns(self) -> int:
        """Turns of the loop."""
        return self.whole // self.turn

    @property
    def before_last(self) -> int:
        """Whole groups before those of the last turn."""
        return (self.turns - 1) * self.turn

    @property
    def eights(self) -> int:
        """Eights of groups with zero points."""
        return -(-self.groups // _BLOCK) if self.apart else 0

    @property
    def filled(self) -> int:
        """Inputs in whole vectors."""
        return (self.whole * self.chunks + self.rest) * CHUNK

    @property
    def fill(self) -> int:
        """Zeros behind the inputs, up to whole vectors."""
        return self.filled - self.inputs

    @property
    def group_inputs(self) -> int:
        """Inputs of a group that is not the last."""
        return self.chunks * CHUNK

    @property
    def rest_at(self) -> int:
        """Inputs before the last group where it is smaller."""
        return self.whole * self.group_inputs

    @property
    def full(self) -> int:
        """Channels of whole blocks."""
        return self.c_out // _BLOCK * _BLOCK

    @property
    def left(self) -> int:
        """Channels of the last block where it is not full."""
        return self.c_out - self.full

    @property
    def block_words(self) -> int:
        """Words of the stream per block of channels."""
        weights = 16 * (self.whole * self.chunks + self.rest) + 4 * self.groups
        return _BLOCK + 32 * self.eights + weights + (10 if self.each else 0)

    @property
    def full_words(self) -> int:
        """Words of the whole blocks."""
        return self.full // _BLOCK * self.block_words

    @property
    def words(self) -> int:
        """Words of the stream."""
        return -(-self.c_out // _BLOCK) * self.block_words

    @property
    def sums_at(self) -> int:
        """Bytes of scratch before the sums of inputs: behind inputs, and what is taken off."""
        return self.less_at + _LESS_BYTES * self.groups

    @property
    def sums_bytes(self) -> int:
        """Bytes of the sums of inputs, 16 bits per group, in eights."""
        return 2 * _BLOCK * self.eights

    @property
    def less_at(self) -> int:
        """Bytes of scratch before what is taken off."""
        return self.filled if self.copied else 0


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    made, requant = grouped(node), node.op.requant
    if made is None or requant is None or not _takes(made, node.outs[0].dtype, requant):
        return None
    k = _context(node, made, requant)
    if -(-k.c_out // _BLOCK) * _BLOCK > _MOST_FILLED * k.c_out or not k.whole:
        return None
    scratch = (Scratch("inputs", k.less_at), Scratch("less", _LESS_BYTES * k.groups), Scratch("sums", k.sums_bytes))
    stream = Field.later("stream", np.int32, k.words, lambda: _stream(made, requant, k))
    params = (stream, *factor_fields(requant), range_field(requant.zero_point, requant.low, requant.high))
    headers = ("lam_mve_groups.h", *(("lam_mve_window.h",) if k.copied else ()))
    return Fit(k, params, scratch, f"Helium, 8 outputs, {made.said}", headers=headers)


def _takes(made: Grouped, y: DType, requant: Requant) -> bool:
    """Whether inputs and outputs are bytes, numbers have 4 bits, groups whole vectors, and what is summed fits."""
    sums = made.sums
    if sums.x not in BYTES or y not in BYTES or not made.bits or made.block % CHUNK or not is_fast(requant):
        return False
    if made.less is None:
        return True
    sizes = np.abs(made.less * made.factors).max(), _vectors(made.block) * CHUNK * -DType.S8.low
    return max(sizes) <= -DType.S16.low and bool((made.less * made.factors).max() <= DType.S16.high)


def _vectors(block: int) -> int:
    """Vectors of the groups that a group is cut into."""
    return next(n for n in _SIZES if block % (n * CHUNK) == 0)


def _context(node: NodeOf[Conv2D | Dense], made: Grouped, requant: Requant) -> MveGroupsContext:
    inputs, unsigned = node.ins[0].shape[-1], made.sums.x is DType.U8
    return MveGroupsContext(
        mode=form_of(requant),
        each=requant.per_channel,
        apart=made.less is not None,
        flip=0x80 if unsigned else 0,
        copied=unsigned or inputs % CHUNK > 0,
        inputs=inputs,
        c_out=node.outs[0].shape[-1],
        chunks=_vectors(made.block),
    )


def _stream(made: Grouped, requant: Requant, k: MveGroupsContext) -> Array:
    numbers, factors = padded(made.numbers, _BLOCK), _cut(made, made.factors, k)
    bias = padded(signed_bias(made.sums), _BLOCK).reshape(-1, _BLOCK)
    zeros = () if made.less is None else _zeros(_cut(made, made.less, k) * factors)
    parts = (bias, *zeros, _groups(padded(numbers, CHUNK, axis=1), factors, k), *_own_factors(requant, k))
    return np.ascontiguousarray(np.concatenate(parts, axis=1)).reshape(-1)


def _cut(made: Grouped, groups: Array, k: MveGroupsContext) -> Array:
    """What is said of each group, [channels, groups], of those that are cut from it; channels in whole blocks."""
    return padded(groups, _BLOCK).repeat(made.block // k.group_inputs, axis=1)[:, : k.groups]


def _zeros(products: Array) -> tuple[Array]:
    """Products of factors and zero points, [channels, groups], as words [blocks, ...]: of each channel eight groups."""
    eights = padded(products, _BLOCK, axis=1).reshape(len(products) // _BLOCK, _BLOCK, -1, _BLOCK).swapaxes(1, 2)
    return (words(eights.astype("<i2")).reshape(len(products) // _BLOCK, -1),)


def _groups(numbers: Array, factors: Array, k: MveGroupsContext) -> Array:
    """Numbers [channels, inputs] and factors [channels, groups] as words [blocks, ...]."""
    blocks = len(numbers) // _BLOCK
    lower_first = numbers.reshape(blocks, 2, _BLOCK // 2, -1, CHUNK).transpose(0, 3, 2, 1, 4)
    lower_first = lower_first + np.array([_HALF, 0])[:, None]
    weights = words(nibbles(lower_first, axis=3)).reshape(blocks, -1, CHUNK)
    own = words(factors.reshape(blocks, _BLOCK, -1).swapaxes(1, 2).astype("<i2")).reshape(blocks, k.groups, -1)
    parts = []
    for g in range(k.groups):
        parts += [weights[:, g * k.chunks :][:, : k.chunks].reshape(blocks, -1), own[:, g]]
    return np.concatenate(parts, axis=1)


def _own_factors(requant: Requant, k: MveGroupsContext) -> tuple[Array, ...]:
    """Multipliers and shifts of the channels, as words [blocks, ...], where each has its own."""
    if not k.each:
        return ()
    multiplier, shift = lane_factors(requant, k.c_out)
    fours = padded(multiplier, _BLOCK).reshape(-1, 2, 4)
    places = words(padded(shift, _BLOCK, value=-1)).reshape(-1, 2, 1)
    return (np.concatenate([fours, places], axis=2).reshape(len(fours), -1),)


GROUPS: Kernel[Conv2D | Dense] = Kernel("mve_groups", "mve/groups.c.j2", "pixels", (Dense, Conv2D), _fit, MVE)
