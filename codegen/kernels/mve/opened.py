"""Dense layers whose weights have a scale per group of inputs, with Helium: four pixels share weights taken apart.

Groups are one vector of 16 inputs or two: larger ones are cut into such, with the same factor.  Inputs of a group
and four pixels stay in registers for all channels of a part.  Sums of eight groups are kept in scratch and taken up at
a time where they fit 16 bits, or numbers are bytes, else of four; where there are more groups their totals are kept
there, too.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from codegen.ir.form import Field, Mix, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, Requant
from codegen.ir.shape import row_pixels
from codegen.kernels.common import range_field
from codegen.kernels.groups import Grouped, InGroups, grouped
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.mve.common import (
    CHUNK,
    LANES,
    MVE,
    bounds_of,
    factor_fields,
    fit,
    form_of,
    is_fast,
    lane_factors,
    padded,
    words,
)
from codegen.kernels.mve.groups import takes_raw
from codegen.kernels.packed import nibbles
from codegen.kernels.weighted import BYTES, signed_bias
from codegen.ops import Conv2D, Dense
from codegen.records import record

_SIZES = (2, 1)
"""Vectors of a group."""
_MOST_LANES = 8
_SCRATCH_BYTES = 8 << 10
"""What sums and totals of a part may take."""
_PIXELS = 4
_LEAST = 3
"""Fewer pixels never make up for four of them."""
_KEPT_BYTES = 64
"""What the sums of a group take, or the totals, of a block of channels."""
_LOWER_MORE = np.array([8, 0])
"""By how much more lower bits have a number than upper ones."""


@record
class MveOpenedContext(InGroups):
    """Literals of one layer: inputs of a pixel, in groups of `chunks` vectors; four pixels are made at a time.

    `each`: channels have factors of their own to requantize by; `zeros`: how the assembly calls zero points of groups;
    `halves`: sums of groups fit 16 bits; `most`: blocks of four channels that are made together;
    `tail`: pixels behind the last four, where all lie in one row.
    """

    mode: str
    bounds: str
    each: bool
    zeros: str
    halves: bool
    flip: int
    c_out: int
    most: int
    tail: int

    @property
    def few(self) -> str:
        """How the form of the pixels behind the last four is called that makes more channels of fewer pixels."""
        even = self.part % 2 == self.last_blocks % 2 == 0
        if self.bytes:
            return ""
        return "_few" if self.tail == 2 or (self.tail == 1 and even) else ""

    @property
    def apart(self) -> bool:
        """Whether groups have zero points."""
        return self.zeros not in ("AROUND", "BYTES")

    @property
    def around(self) -> bool:
        """Whether 8 times the sums of inputs is taken off sums."""
        return self.zeros in ("AROUND", "OWN")

    @property
    def bytes(self) -> bool:
        """Whether numbers are."""
        return self.zeros.startswith("BYTES")

    @property
    def sign(self) -> str:
        """How the assembly calls inputs."""
        return "UNSIGNED" if self.flip else "SIGNED"

    @property
    def chunks(self) -> int:
        """Vectors of a group."""
        return self.size // CHUNK

    @property
    def vectors(self) -> int:
        """Vectors of a pixel's inputs, which may not fill the last one."""
        return -(-self.n_in // CHUNK)

    @property
    def before_last(self) -> int:
        """Inputs before the last group, where they do not fill it."""
        return self.rest_at

    @property
    def last_chunks(self) -> int:
        """Vectors of that group; 0 where there is none."""
        return -(-self.rest // CHUNK)

    @property
    def last_inputs(self) -> int:
        """Inputs of its last vector."""
        return (self.n_in - 1) % CHUNK + 1

    @property
    def filled(self) -> bool:
        """Whether that vector has to be filled."""
        return self.n_in % CHUNK > 0

    @property
    def last_bytes(self) -> int:
        """Bytes of a pixel's inputs of that group, filled."""
        return self.last_chunks * CHUNK

    @property
    def lanes(self) -> int:
        """Groups that are taken at a time."""
        return _MOST_LANES if (self.halves or self.bytes) and self.groups > LANES else LANES

    @property
    def parts_before(self) -> int:
        """Parts before the last."""
        return self.parts - 1

    @property
    def sets_before(self) -> int:
        """How often groups fill lanes before the last ones."""
        return self.sets - 1

    @property
    def sets(self) -> int:
        """How often groups fill these."""
        return -(-self.groups // self.lanes)

    @property
    def in_last_set(self) -> int:
        """Groups that fill their vectors in the last of these."""
        return self.whole - self.sets_before * self.lanes

    @property
    def blocks(self) -> int:
        """Blocks of four channels."""
        return -(-self.c_out // LANES)

    @property
    def part(self) -> int:
        """Blocks of a part but the last; there are two parts where channels fill no block, and some are made twice."""
        least = 2 if self.c_out % LANES and not self.aside else 1
        part = -(-self.blocks // max(least, -(-self.blocks // self.most)))
        # of one pixel two blocks are made at a time
        return part + (self.tail == 1 and not self.bytes and part % 2 == 1 and part < min(self.most, self.blocks - 1))

    @property
    def parts(self) -> int:
        """Parts of these, of which the last one ends with the last channel."""
        return -(-self.blocks // self.part)

    @property
    def last_blocks(self) -> int:
        """Blocks of the last part."""
        return self.blocks - self.parts_before * self.part

    @property
    def part_outputs(self) -> int:
        """Channels of a part but the last."""
        return LANES * self.part

    @property
    def last_output(self) -> int:
        """Channels before those of the last part."""
        return self.c_out - LANES * self.last_blocks

    @property
    def aside(self) -> bool:
        """Whether there are fewer channels than a block has."""
        return self.c_out < LANES

    @property
    def sums_words(self) -> int:
        """Words of the sums of groups in lanes."""
        return _KEPT_BYTES // 4 * self.part * self.lanes

    @property
    def kept_bytes(self) -> int:
        """What they take, and totals."""
        return 4 * self.sums_words + (_KEPT_BYTES * self.part if self.sets > 1 else 0)

    @property
    def inputs_at(self) -> int:
        """Bytes of scratch before the sums of inputs."""
        return self.kept_bytes

    @property
    def inputs_bytes(self) -> int:
        """What these take."""
        return 2 * _PIXELS * self.lanes if self.apart else 0

    @property
    def last_at(self) -> int:
        """Bytes of scratch before the inputs of the last group, where they are filled."""
        return self.inputs_at + self.inputs_bytes

    @property
    def all_last_bytes(self) -> int:
        """What these take."""
        return _PIXELS * self.last_bytes if self.filled else 0

    @property
    def aside_at(self) -> int:
        """Bytes of scratch before the outputs of a block that is not full."""
        return self.last_at + self.all_last_bytes

    @property
    def block_words(self) -> int:
        """Words of the stream per block of channels."""
        of_set = (2 if self.apart else 1) * 2 * self.lanes
        return (
            (4 if self.bytes else 2) * LANES * self.vectors
            + of_set * self.sets
            + LANES
            + (2 * LANES if self.each else 0)
        )

    @property
    def four_inputs(self) -> int:
        """Inputs of four pixels."""
        return _PIXELS * self.n_in

    @property
    def four_outputs(self) -> int:
        """Their outputs."""
        return _PIXELS * self.c_out


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    return _fit_tile(node) if row_pixels(node.outs[0].shape) >= _LEAST else None


def _fit_tile(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    """For any number of pixels."""
    made, requant = grouped(node), node.op.requant
    if made is None or requant is None or not _takes(made, node.outs[0].dtype, requant):
        return None
    k = _context(node, made, requant)
    if not k.whole:
        return None
    scratch = (
        Scratch("sums", k.kept_bytes),
        Scratch("sums_of_inputs", k.inputs_bytes),
        Scratch("last", k.all_last_bytes),
        Scratch("aside", _PIXELS * LANES if k.aside else 0),
    )
    stream = Field.later("stream", np.int32, k.blocks * k.block_words, lambda: _stream(made, requant, k))
    params = (stream, *factor_fields(requant), range_field(requant.zero_point, requant.low, requant.high))
    why = f"Helium, 4 pixels, 4 outputs, {made.said}"
    headers = ("lam_mve_opened_few.h",) if k.few else ()
    mix = _mix(k, row_pixels(node.outs[0].shape))
    return Fit(k, params, scratch, why, headers=headers, mix=mix, tiles=_fit_tile)


def _mix(k: MveOpenedContext, width: int) -> Mix:
    """What a row takes: counted in the assembly, and in the disassembly of what is around it."""
    fours, left = divmod(width, _PIXELS)
    behind = _few_taken(k, k.tail) if k.few else _taken(k, k.tail or _PIXELS)
    return Mix(other=fours * _taken(k, _PIXELS) + (behind if left else 0) + 50)


def _groups_taken(k: MveOpenedContext, pixels: int) -> int:
    """What groups take of so many pixels beside their channels."""
    of_sums = 1 if k.bytes and not k.apart else 2
    return (20 + 2 * k.around + (2 * pixels + 6) * k.apart) * k.groups + (of_sums + (k.flip > 0)) * pixels * k.vectors


def _few_taken(k: MveOpenedContext, pixels: int) -> int:
    """What one pixel or two take, of which as many more channels are made at a time."""
    twos = _PIXELS // pixels
    sums = (8 + 2 * twos) * k.vectors + (2 + k.around + (pixels == 1)) * k.groups
    sets = (24 + 2 * twos + (2 + twos * (1 + 3 * pixels)) * k.apart) * k.sets
    outputs = 36 + 4 * k.each + (3 + 8 * (k.sets - 1) if k.sets > 1 else 0)
    return k.blocks * pixels * (sums + sets + outputs) // 2 + k.parts * (_groups_taken(k, pixels) + 24 * k.sets + 50)


def _taken(k: MveOpenedContext, pixels: int) -> int:
    """What so many pixels take that are made together."""
    around, all_pixels = k.around, pixels == _PIXELS
    groups = _groups_taken(k, pixels) + 4 * all_pixels * (k.vectors - k.groups)
    two = (2 * pixels + 2) * k.vectors + 2 * all_pixels * (k.vectors - k.groups) + (1 + around) * k.groups
    of_pixels = 2 + 6 * pixels
    if k.bytes:
        of_pixels = (2 + 4 * pixels) * (k.lanes // LANES) + 1
    sets = (of_pixels + (3 + 3 * pixels) * k.apart) * k.sets
    outputs = 16 + 3 * k.each + (3 + 8 * (k.sets - 1) if k.sets > 1 else 0)
    block = 2 * (two + sets + outputs) + k.groups * k.chunks + 12 + pixels
    return k.blocks * block + k.parts * (groups + 24 * k.sets + 40)


def _takes(made: Grouped, y: DType, requant: Requant) -> bool:
    """Whether inputs and outputs are bytes, groups whole vectors, and zero points are factors."""
    if made.sums.x not in BYTES or y not in BYTES or made.block % CHUNK or not is_fast(requant):
        return False
    return made.less is None or fit(-made.less * made.factors, 16)


def _context(node: NodeOf[Conv2D | Dense], made: Grouped, requant: Requant) -> MveOpenedContext:
    y, width = node.outs[0], row_pixels(node.outs[0].shape)
    size = CHUNK * next(n for n in _SIZES if made.block % (n * CHUNK) == 0)
    k = MveOpenedContext(
        n_in=node.ins[0].shape[-1],
        size=size,
        mode=form_of(requant),
        bounds=bounds_of(y.dtype, requant),
        each=requant.per_channel,
        zeros=("AROUND" if made.less is None else "OWN")
        if made.bits
        else "BYTES"
        if made.less is None
        else "BYTES_OWN",
        halves=made.bits > 0 and made.signed_reach(size) <= DType.S16.high,
        flip=0x80 if made.sums.x is DType.U8 else 0,
        c_out=y.shape[-1],
        most=1,
        tail=width % _PIXELS if math.prod(y.shape[:-1]) == width else 0,
    )
    most = max(1, _SCRATCH_BYTES // (_KEPT_BYTES * (k.lanes + (k.sets > 1))))
    return replace(k, zeros="RAW" if made.bits and takes_raw(made, k.chunks, k.lanes) else k.zeros, most=most)


def _stream(made: Grouped, requant: Requant, k: MveOpenedContext) -> Array:
    """Part by part; channels in the order [blocks, two of them that share bytes, which of both]."""
    blocks = np.split(np.arange(k.blocks), range(k.part, k.blocks, k.part))[: k.parts]
    shift = 0 if k.aside else k.last_output - LANES * k.part * k.parts_before
    moved = [0] * k.parts_before + [shift]
    channels = [(LANES * b[:, None] + np.arange(LANES) + more) for b, more in zip(blocks, moved, strict=True)]
    every = _Numbers.of(made, requant, k)
    return np.ascontiguousarray(np.concatenate([every.part(c.reshape(-1, 2, 2).swapaxes(1, 2), k) for c in channels]))


@record(eq=False, slots=False)
class _Numbers:
    """What the stream has of each channel: numbers, and of its groups factors, and zero points times them."""

    numbers: Array
    factors: Array
    zeros: Array | None
    bias: Array
    own: Array | None

    @classmethod
    def of(cls, made: Grouped, requant: Requant, k: MveOpenedContext) -> _Numbers:
        """Of a layer; channels are filled up to a block."""
        factors, zeros = _cut(made, made.factors, k), None
        if made.less is not None:
            zeros = -_cut(made, made.less, k) * factors
        multiplier, shift = lane_factors(requant, k.c_out)
        own = padded(multiplier, LANES), padded(shift, LANES, value=-1).astype(np.int32)
        return cls(
            padded(padded(made.numbers, LANES), CHUNK, axis=1),
            padded(factors, k.lanes, axis=1),
            None if zeros is None else padded(zeros, k.lanes, axis=1),
            padded(signed_bias(made.sums), LANES),
            np.stack(own, axis=1) if k.each else None,
        )

    def part(self, channels: Array, k: MveOpenedContext) -> Array:
        """The words of a part."""
        rows = self.numbers[channels].reshape(*channels.shape, k.vectors, CHUNK)
        if k.bytes:
            shared = rows.swapaxes(2, 3).astype(np.int8)
        else:
            shared = nibbles(rows + _LOWER_MORE[:, None, None], axis=2)[:, :, 0]
        found: list[Array] = []
        for first in range(0, k.groups, k.lanes):
            for g in range(first, min(first + k.lanes, k.groups)):
                found.append(words(shared[:, :, g * k.chunks : (g + 1) * k.chunks]))
            last = first + k.lanes >= k.groups
            found.append(self._of_groups(channels, slice(first, first + k.lanes), k, last=last))
        return np.concatenate(found)

    def _of_groups(self, channels: Array, groups: slice, k: MveOpenedContext, *, last: bool) -> Array:
        """What two channels have of groups in lanes, and behind that of the last ones, as words."""
        twos = channels.reshape(-1, 2)
        lower = 8 * self.factors[twos[:, :1], groups] * (np.arange(2) == 0)[:, None]
        parts = [self.factors[twos, groups].astype("<i2")]
        if self.zeros is not None:
            parts.append((self.zeros[twos, groups] + lower * (k.zeros == "RAW")).astype("<i2"))
        rows = [words(np.concatenate(parts, axis=1)).reshape(len(twos), -1)]
        if last:
            rows += [self.bias[twos]] + ([] if self.own is None else [self.own[twos].reshape(len(twos), -1)])
        return np.concatenate(rows, axis=1).astype(np.int32).reshape(-1)


def _cut(made: Grouped, groups: Array, k: MveOpenedContext) -> Array:
    """What is said of each group, [channels, groups], of those that are cut from it; channels in whole blocks."""
    return padded(groups, LANES).repeat(made.block // k.size, axis=1)[:, : k.groups]


OPENED: Kernel[Conv2D | Dense] = Kernel(
    "mve_opened", "mve/opened.c.j2", "pixels", (Dense, Conv2D), _fit, MVE, headers=("lam_mve_opened.h",)
)
