"""Dense layers whose weights have a scale per group of inputs, with Helium: many pixels share weights taken apart.

Groups are one vector of 16 inputs or two: larger ones are cut into such, with the same factor.  A group's weights of
four channels, with their zero points, serve all pixels that are made together, whose sums are kept in scratch.  Inputs
are brought there too, group by group, or read where they lie, so that scratch holds sums of more pixels.  Sums of eight
groups are taken up at a time where they fit 16 bits, else of four.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from codegen.ir.form import Field, Mix, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, Requant
from codegen.ir.shape import row_pixels
from codegen.kernels.common import range_field
from codegen.kernels.groups import Grouped, InGroups, grouped, in_even_parts
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
    signed_bias,
    words,
)
from codegen.kernels.packed import nibbles
from codegen.kernels.weighted import BYTES
from codegen.ops import Conv2D, Dense
from codegen.records import record

_SIZES = (2, 1)
"""Vectors of a group."""
_MOST_LANES = 8
_SCRATCH_BYTES = 8 << 10
_LEAST = 3
"""Fewer pixels never make up for taking weights apart."""
_MOST_STEP = 4095
"""Bytes that an instruction adds to where a pixel lies."""
_LOWER_MORE = np.array([8, 0, 8, 0])
"""By how much more lower bits have a block's numbers than upper ones."""


@record
class MveOpenedContext(InGroups):
    """Literals of one layer: inputs of a pixel, in groups of `chunks` vectors, and `together` pixels made at a time.

    `copied`: inputs are brought to scratch.

    `each`: channels have factors of their own to requantize by; `apart`: groups have zero points; `halves`: sums of
    groups fit 16 bits.
    """

    mode: str
    bounds: str
    each: bool
    apart: bool
    halves: bool
    flip: int
    c_out: int
    copied: bool
    together: int

    @property
    def chunks(self) -> int:
        """Vectors of a group."""
        return self.size // CHUNK

    @property
    def whole(self) -> int:
        """Groups of so many vectors; inputs may not fill the last one."""
        return _vectors(self.n_in) // self.chunks

    @property
    def rest(self) -> int:
        """Vectors of the last group where it is smaller."""
        return _vectors(self.n_in) % self.chunks

    @property
    def filled_groups(self) -> int:
        """Groups whose inputs fill their vectors."""
        return self.n_in // self.size

    @property
    def last_at(self) -> int:
        """Inputs before the last group, where they do not."""
        return self.filled_groups * self.size

    @property
    def last_chunks(self) -> int:
        """Vectors of that group; 0 where there is none."""
        return _vectors(self.n_in - self.last_at)

    @property
    def last_inputs(self) -> int:
        """Inputs of its last vector."""
        return (self.n_in - 1) % CHUNK + 1

    @property
    def own(self) -> int:
        """How the assembly calls zero points."""
        return int(self.apart)

    @property
    def lanes(self) -> int:
        """Groups that are taken at a time."""
        return _MOST_LANES if self.halves and self.groups > LANES else LANES

    @property
    def sets(self) -> int:
        """How often groups fill these."""
        return -(-self.groups // self.lanes)

    @property
    def whole_words(self) -> int:
        """Words of a block's whole groups."""
        return self.whole * (2 * LANES * self.chunks + self.own)

    @property
    def weights_words(self) -> int:
        """Words of a block's weights."""
        return self.whole_words + self.rest * (2 * LANES + self.own)

    @property
    def block_words(self) -> int:
        """Words of the stream per block of channels."""
        return self.weights_words + LANES + LANES // 2 * self.lanes * self.sets + (LANES + 1 if self.each else 0)

    @property
    def blocks(self) -> int:
        """Blocks of four channels, of which the last may be partial."""
        return -(-self.c_out // LANES)

    @property
    def full(self) -> int:
        """Channels of whole blocks."""
        return self.c_out // LANES * LANES

    @property
    def left(self) -> int:
        """Channels of the last block where it is not full."""
        return self.c_out % LANES

    @property
    def inputs_bytes(self) -> int:
        """What the inputs of all pixels take that are made together, where they are copied."""
        return self.together * CHUNK * _vectors(self.n_in) if self.copied else 0

    @property
    def sums_bytes(self) -> int:
        """What their sums take, up to the lanes."""
        return self.together * 4 * LANES * self.lanes * self.sets

    @property
    def aside_at(self) -> int:
        """Bytes of scratch before the outputs of a partial block."""
        return self.inputs_bytes + self.sums_bytes

    @property
    def aside_bytes(self) -> int:
        """What these take."""
        return LANES * self.together if self.left else 0

    @property
    def set_bytes(self) -> int:
        """Pixels' bytes from the groups of the lanes to the next ones."""
        return 4 * LANES * self.lanes

    @property
    def inputs_together(self) -> int:
        """Inputs of the pixels that are made together."""
        return self.together * self.n_in

    @property
    def outputs_together(self) -> int:
        """Their outputs."""
        return self.together * self.c_out


def _vectors(inputs: int) -> int:
    """Vectors that hold so many inputs."""
    return -(-inputs // CHUNK)


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    return _fit_tile(node) if row_pixels(node.outs[0].shape) >= _LEAST else None


def _fit_tile(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    """For any number of pixels."""
    made, requant = grouped(node), node.op.requant
    if made is None or requant is None or not _takes(made, node.outs[0].dtype, requant):
        return None
    width = row_pixels(node.outs[0].shape)
    contexts = [k for k in _contexts(node, made, requant) if k.together and k.whole]
    if not contexts:
        return None
    k = min(contexts, key=lambda found: (_mix(found, width).instructions, found.inputs_bytes))
    scratch = (
        Scratch("inputs", k.inputs_bytes),
        Scratch("sums", k.sums_bytes),
        Scratch("aside", k.aside_bytes),
    )
    stream = Field.later("stream", np.int32, k.blocks * k.block_words, lambda: _stream(made, requant, k))
    params = (stream, *factor_fields(requant), range_field(requant.zero_point, requant.low, requant.high))
    why = f"Helium, 4 outputs, weights taken apart once for {k.together} pixels, {made.said}"
    return Fit(k, params, scratch, why, mix=_mix(k, width), tiles=_fit_tile)


def _mix(k: MveOpenedContext, width: int) -> Mix:
    """What a row takes: counted in the assembly, and in the disassembly of what is around it."""
    chunks, apart = k.whole * k.chunks + k.rest, not k.copied
    opened = (13 + 8 * k.chunks + 6 * k.apart + 2 * apart) * k.groups + 54
    pair = 13 * chunks + (2 * apart - 1) * k.groups + (26 * k.sets + 36 if k.sets > 1 else 46)
    blocks = opened * -(-width // k.together) + pair * -(-width // 2) + 22 * (width % 2)
    return Mix(other=k.blocks * blocks + 9 * k.groups * width * k.copied)


def _takes(made: Grouped, y: DType, requant: Requant) -> bool:
    """Whether inputs and outputs are bytes, numbers have 4 bits, groups whole vectors, and zero points are bytes."""
    if made.sums.x not in BYTES or y not in BYTES or not made.bits or made.block % CHUNK or not is_fast(requant):
        return False
    return fit(made.whole_numbers, 8) and (made.less is None or fit(made.less - _LOWER_MORE.max(), 8))


def _contexts(node: NodeOf[Conv2D | Dense], made: Grouped, requant: Requant) -> Iterator[MveOpenedContext]:
    """With inputs in scratch; or where they lie: whole vectors with a sign, of pixels that all have a partner."""
    k, width = _context(node, made, requant), row_pixels(node.outs[0].shape)
    yield replace(k, together=_together(width, k))
    if not k.flip and k.n_in % CHUNK == 0 and k.n_in <= _MOST_STEP and width % 2 == 0:
        lying = replace(k, copied=False)
        yield replace(lying, together=_together(width, lying))


def _context(node: NodeOf[Conv2D | Dense], made: Grouped, requant: Requant) -> MveOpenedContext:
    """For one pixel."""
    n_in, y = node.ins[0].shape[-1], node.outs[0]
    size = CHUNK * next(n for n in _SIZES if made.block % (n * CHUNK) == 0)
    return MveOpenedContext(
        n_in=n_in,
        size=size,
        mode=form_of(requant),
        bounds=bounds_of(y.dtype, requant),
        each=requant.per_channel,
        apart=made.less is not None,
        halves=made.whole_reach(size) <= DType.S16.high,
        flip=0x80 if made.sums.x is DType.U8 else 0,
        c_out=y.shape[-1],
        copied=True,
        together=1,
    )


def _together(pixels: int, one: MveOpenedContext) -> int:
    """Pixels that are made at a time, an even number: a row's in as few equal parts as memory allows; or 0."""
    most = _SCRATCH_BYTES // (one.inputs_bytes + one.sums_bytes + one.aside_bytes) // 2 * 2
    return in_even_parts(pixels, most) if most else 0


def _stream(made: Grouped, requant: Requant, k: MveOpenedContext) -> Array:
    bias = padded(signed_bias(made.sums), LANES).reshape(k.blocks, LANES)
    factors = padded(_cut(made, made.factors, k), k.lanes, axis=1).reshape(k.blocks, LANES, k.sets, k.lanes)
    of_groups = words(factors.swapaxes(1, 2).astype("<i2")).reshape(k.blocks, -1)
    parts = (_weights(made, k), bias, of_groups, *_own_factors(requant, k))
    return np.ascontiguousarray(np.concatenate(parts, axis=1)).reshape(-1)


def _cut(made: Grouped, groups: Array, k: MveOpenedContext) -> Array:
    """What is said of each group, [channels, groups], of those that are cut from it; channels in whole blocks."""
    return padded(groups, LANES).repeat(made.block // k.size, axis=1)[:, : k.groups]


def _weights(made: Grouped, k: MveOpenedContext) -> Array:
    """Numbers as words [blocks, ...]: of each group those of 16 inputs at a time, then its zero points."""
    rows = padded(padded(made.numbers, LANES), k.size, axis=1).reshape(k.blocks, LANES, -1, CHUNK)
    shared = nibbles(rows.transpose(0, 2, 1, 3) + _LOWER_MORE[:, None], axis=2)
    by_group = words(shared).reshape(k.blocks, k.groups, -1)
    if made.less is not None:
        less = _cut(made, made.less, k).reshape(k.blocks, LANES, -1).swapaxes(1, 2) - _LOWER_MORE
        # those of the last group are behind its vectors, though they may be fewer
        last = by_group[:, -1, : 2 * LANES * (k.rest or k.chunks)]
        added = words(less.astype(np.int8)).reshape(k.blocks, k.groups, 1)
        before = np.concatenate([by_group, added], axis=2)[:, :-1].reshape(k.blocks, -1)
        return np.concatenate([before, last, added[:, -1]], axis=1)
    return by_group.reshape(k.blocks, -1)[:, : k.weights_words]


def _own_factors(requant: Requant, k: MveOpenedContext) -> tuple[Array, ...]:
    """Multipliers and shifts of the channels, as words [blocks, ...], where each has its own."""
    if not k.each:
        return ()
    multiplier, shift = lane_factors(requant, k.c_out)
    shifts = words(padded(shift, LANES, value=-1)).reshape(-1, 1)
    return (np.concatenate([padded(multiplier, LANES).reshape(-1, LANES), shifts], axis=1),)


OPENED: Kernel[Conv2D | Dense] = Kernel(
    "mve_opened", "mve/opened.c.j2", "pixels", (Dense, Conv2D), _fit, MVE, headers=("lam_mve_opened.h",)
)
