"""Dense layers whose weights have a scale per group of inputs, with Helium: eight outputs of a pixel at a time.

Groups are whole vectors of 16 inputs, one, two or four: larger ones are cut into such, with the same factor.  Inputs
are copied to scratch where they have no sign or the last vector is not full.

Sums of all groups are kept in scratch for a block of outputs, and taken from there one output after another: of eight
groups at a time where they fit 16 bits, else of four, as of few groups, whose factors take less room so, and of bytes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.form import Field, Mix, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, Requant
from codegen.ir.shape import row_pixels
from codegen.kernels.common import range_field
from codegen.kernels.groups import Grouped, grouped
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.mve.common import (
    CHUNK,
    LANES,
    MVE,
    factor_fields,
    fit,
    form_of,
    is_fast,
    lane_factors,
    padded,
    words,
)
from codegen.kernels.packed import nibbles
from codegen.kernels.weighted import BYTES, signed_bias
from codegen.ops import Conv2D, Dense
from codegen.records import record

_BLOCK = 8
_SIZES = (4, 2, 1)
"""Vectors of a group."""
_TURNS = (8, 4, 2, 1)
"""Groups of a turn of the loop, of as many vectors at most, or of four groups."""
_FOURS = np.arange(_BLOCK).reshape(2, -1).T.reshape(-1)
"""Channels of a block, the first one and that of which it has the lower bits, and so on."""
_HALF = 8
_MOST_FILLED = 5 / 4
"""How many times their outputs layers may take that fill blocks."""


@record
class MveGroupsContext:
    """Literals of one layer: `inputs` of a pixel, in groups of `chunks` vectors; `copied` to scratch.

    `bytes`: numbers are, else they have 4 bits; `each`: channels have factors of their own to requantize by; `apart`:
    groups have zero points, and `raw`: 8 is taken off with them; `halves`: sums of groups fit 16 bits.
    """

    mode: str
    bytes: bool
    each: bool
    apart: bool
    raw: bool
    flip: int
    copied: bool
    inputs: int
    c_out: int
    chunks: int
    halves: bool

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
        most = max(_TURNS[0] // self.chunks, _TURNS[1])
        return next(turn for turn in _TURNS if turn <= most and self.whole % turn == 0)

    @property
    def turns(self) -> int:
        """Turns of the loop."""
        return self.whole // self.turn

    @property
    def most(self) -> int:
        """Groups, and as many more where they have zero points."""
        return self.groups * (2 if self.apart else 1)

    @property
    def lanes(self) -> int:
        """Groups that are taken at a time."""
        return _BLOCK if self.halves and self.most > _BLOCK // 2 else _BLOCK // 2

    @property
    def folds(self) -> bool:
        """Whether sums of inputs are kept as more groups, whose factors are products of zero points and factors."""
        return self.apart and not self.bytes and self.most <= self.lanes

    @property
    def own(self) -> bool:
        """Whether zero points have products of their own."""
        return self.apart and not self.folds

    @property
    def zeros(self) -> str:
        """How the assembly calls that."""
        if self.bytes:
            return "BYTES_OWN" if self.own else "BYTES"
        if not self.apart:
            return "AROUND"
        raw = "RAW" if self.raw else ""
        return "_".join(filter(None, (raw, "FOLDED"))) if self.folds else raw or "OWN"

    @property
    def in_lanes(self) -> int:
        """Groups, and what fills up lanes."""
        lanes = _BLOCK if self.bytes and self.own else self.lanes  # of bytes zero points are taken in eight
        return -(-(self.most if self.folds else self.groups) // lanes) * lanes

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
        weights = CHUNK * (2 if self.bytes else 1) * (self.whole * self.chunks + self.rest)
        factors = _BLOCK // 2 * self.in_lanes * (2 if self.own else 1)
        return weights + _BLOCK + factors + (10 if self.each else 0)

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
        """Bytes of scratch before the sums of groups: behind inputs."""
        return self.filled if self.copied else 0

    @property
    def sums_words(self) -> int:
        """Words of these, with lanes that nothing is in."""
        return _BLOCK * self.in_lanes

    @property
    def kept_at(self) -> int:
        """Words of these before the sums of inputs, where they are kept among them."""
        return _BLOCK * self.groups

    @property
    def rest_kept(self) -> int:
        """Words from there to that of the last group where it is smaller."""
        return _BLOCK * self.whole

    @property
    def sums_bytes(self) -> int:
        """What these take, and a word behind them."""
        return 4 * (self.sums_words + 1)

    @property
    def inputs_at(self) -> int:
        """Bytes of scratch before the sums of inputs where they are apart."""
        return self.sums_at + self.sums_bytes

    @property
    def inputs_times(self) -> int:
        """How many times the sums of inputs are kept there: as what is taken off sums, or once, or not at all."""
        return int(self.own) or (0 if self.bytes or (self.apart and self.raw) else _HALF)

    @property
    def inputs_t(self) -> str:
        """The type of these."""
        return "int16_t" if self.own else "uint16_t" if self.lanes == _BLOCK else "int32_t"

    @property
    def inputs_bytes(self) -> int:
        """Bytes of these, up to the lanes."""
        size = 4 if self.inputs_t == "int32_t" else 2
        return size * self.in_lanes if self.inputs_times else 0


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    made, requant = grouped(node), node.op.requant
    if made is None or requant is None or not _takes(made, node.outs[0].dtype, requant):
        return None
    k = _context(node, made, requant)
    if -(-k.c_out // _BLOCK) * _BLOCK > _MOST_FILLED * k.c_out or not k.whole:
        return None
    scratch = (
        Scratch("inputs", k.sums_at),
        Scratch("sums", k.sums_bytes),
        Scratch("sums_of_inputs", k.inputs_bytes),
    )
    stream = Field.later("stream", np.int32, k.words, lambda: _stream(made, requant, k))
    params = (stream, *factor_fields(requant), range_field(requant.zero_point, requant.low, requant.high))
    headers = ("lam_mve_groups.h", *(("lam_mve_window.h",) if k.copied else ()))
    mix = _mix(k).times(row_pixels(node.outs[0].shape))
    return Fit(k, params, scratch, f"Helium, 8 outputs, {made.said}", headers=headers, mix=mix)


def _mix(k: MveGroupsContext) -> Mix:
    """What a pixel takes: counted in the assembly, and in the disassembly of what is around it."""
    sums = 17 * (k.whole * k.chunks + k.rest) + k.groups + 2 * k.turns
    of_lanes = 27 + 8 * k.own if k.bytes else 34 + 17 * k.own + 5 * (k.inputs_times == _HALF)
    lanes = of_lanes * k.in_lanes // k.lanes
    blocks = -(-k.c_out // _BLOCK) * (sums + lanes + 36)
    inputs = (12 + 3 * k.chunks) * k.groups * (k.own or not k.bytes)
    return Mix(other=blocks + inputs + 30 + 3 * k.copied * k.filled // CHUNK)


def _takes(made: Grouped, y: DType, requant: Requant) -> bool:
    """Whether inputs and outputs are bytes, groups whole vectors, and what is summed fits."""
    sums = made.sums
    if sums.x not in BYTES or y not in BYTES or made.block % CHUNK or not is_fast(requant):
        return False
    return made.less is None or fit(made.less * made.factors, 16)


def takes_raw(made: Grouped, chunks: int, lanes: int) -> bool:
    """Whether 8 is taken off with zero points: that fits 16 bits, and so do 16 inputs times 15."""
    fits = made.less is not None and fit((made.less - _HALF) * made.factors, 16)
    return fits and (chunks == 1 or lanes == LANES)


def _vectors(block: int) -> int:
    """Vectors of the groups that a group is cut into."""
    return next(n for n in _SIZES if block % (n * CHUNK) == 0)


def _context(node: NodeOf[Conv2D | Dense], made: Grouped, requant: Requant) -> MveGroupsContext:
    inputs, unsigned, chunks = node.ins[0].shape[-1], made.sums.x is DType.U8, _vectors(made.block)
    k = MveGroupsContext(
        mode=form_of(requant),
        bytes=not made.bits,
        each=requant.per_channel,
        apart=made.less is not None,
        raw=False,
        flip=0x80 if unsigned else 0,
        copied=unsigned or inputs % CHUNK > 0,
        inputs=inputs,
        c_out=node.outs[0].shape[-1],
        chunks=chunks,
        halves=made.bits > 0 and made.signed_reach(chunks * CHUNK) <= DType.S16.high,
    )
    return replace(k, raw=made.bits > 0 and takes_raw(made, chunks, k.lanes))


def _stream(made: Grouped, requant: Requant, k: MveGroupsContext) -> Array:
    numbers, factors = padded(padded(made.numbers, _BLOCK), CHUNK, axis=1), _cut(made, made.factors, k)
    bias = padded(signed_bias(made.sums), _BLOCK).reshape(-1, _BLOCK)
    zeros = None if made.less is None else (_cut(made, made.less, k) - _taken_off(k)) * factors
    if zeros is not None and k.folds:
        factors, zeros = np.concatenate([factors, zeros], axis=1), None
    if k.bytes:
        by_lanes = _by_lanes(padded(factors, k.in_lanes, axis=1), k.lanes)
    else:
        by_lanes = _by_lanes(factors, k.lanes)[:, :, _FOURS]
    if zeros is not None:
        own = _by_lanes(zeros, _BLOCK if k.bytes else k.lanes)
        by_lanes = np.concatenate([part.reshape(*own.shape[:2], -1) for part in (by_lanes, own)], axis=2)
    of_groups = words(by_lanes.astype("<i2")).reshape(len(bias), -1)
    parts = (_bytes(numbers) if k.bytes else _pairs(numbers), bias, of_groups, *_own_factors(requant, k))
    return np.ascontiguousarray(np.concatenate(parts, axis=1)).reshape(-1)


def _taken_off(k: MveGroupsContext) -> Array:
    """What is taken off the numbers of each channel with its zero points, [channels, 1]."""
    lower = np.arange(-(-k.c_out // _BLOCK) * _BLOCK) % _BLOCK < _BLOCK // 2
    return (_HALF * k.raw * lower)[:, None]


def _cut(made: Grouped, groups: Array, k: MveGroupsContext) -> Array:
    """What is said of each group, [channels, groups], of those that are cut from it; channels in whole blocks."""
    return padded(groups, _BLOCK).repeat(made.block // k.group_inputs, axis=1)[:, : k.groups]


def _by_lanes(groups: Array, lanes: int) -> Array:
    """What is said of each group, [channels, groups], as [blocks, lanes full of groups, channels of a block, lanes]."""
    return padded(groups, lanes, axis=1).reshape(len(groups) // _BLOCK, _BLOCK, -1, lanes).swapaxes(1, 2)


def _pairs(numbers: Array) -> Array:
    """Numbers [channels, inputs] as words [blocks, ...]: of 16 inputs those of channels that share bytes."""
    lower_first = numbers.reshape(len(numbers) // _BLOCK, 2, _BLOCK // 2, -1, CHUNK).transpose(0, 3, 2, 1, 4)
    lower_first = lower_first + np.array([_HALF, 0])[:, None]
    return words(nibbles(lower_first, axis=3)).reshape(len(numbers) // _BLOCK, -1)


def _bytes(numbers: Array) -> Array:
    """Numbers [channels, inputs] as words [blocks, ...]: of 16 inputs those of each channel."""
    blocks = numbers.reshape(len(numbers) // _BLOCK, _BLOCK, -1, CHUNK).swapaxes(1, 2)
    return words(blocks.astype(np.int8)).reshape(len(blocks), -1)


def _own_factors(requant: Requant, k: MveGroupsContext) -> tuple[Array, ...]:
    """Multipliers and shifts of the channels, as words [blocks, ...], where each has its own."""
    if not k.each:
        return ()
    multiplier, shift = lane_factors(requant, k.c_out)
    fours = padded(multiplier, _BLOCK).reshape(-1, 2, 4)
    places = words(padded(shift, _BLOCK, value=-1)).reshape(-1, 2, 1)
    return (np.concatenate([fours, places], axis=2).reshape(len(fours), -1),)


GROUPS: Kernel[Conv2D | Dense] = Kernel("mve_groups", "mve/groups.c.j2", "pixels", (Dense, Conv2D), _fit, MVE)
