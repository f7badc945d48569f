"""Dense layers whose weights have a scale per group of inputs: weights get 16 bits in scratch, for many pixels.

The numbers of two channels times their groups' factors are made once for all pixels that are widened at a time, and
summed two pixels by two channels like weights of 16 bits: groups take nothing there, with zero points or without.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Mix, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.ir.shape import row_pixels
from codegen.kernels.dsp.panel_mix import columns_mix, spread_mix
from codegen.kernels.dsp.words import pack_few, pack_words
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant, filled
from codegen.kernels.groups import GROUP_LESS, Grouped, InGroups, grouped, in_even_parts
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.packed import filled_to
from codegen.kernels.sizes import ColumnSizes
from codegen.kernels.weighted import BYTES, FOLDED
from codegen.ops import Conv2D, Dense
from codegen.records import record

_BITS, _STEP = 4, 8
_HALF_BYTE = 128
_SCRATCH_BYTES = 8 << 10
"""What widened pixels and the weights of two channels may take."""
_ALONE = 0.7
"""What a pixel without a partner takes of two."""
_LEAST = 3
"""Fewer pixels do not make up for bringing weights to 16 bits."""


@record
class OpenedContext(InGroups, ColumnSizes):
    """Literals of one layer: inputs of a pixel, in groups, and `together` pixels that are widened at a time.

    `odd`: the last pixel may have no partner; `apart`: groups have zero points; `bytes`: numbers are.
    """

    widen: str
    y_t: str
    c_out: int
    together: int
    odd: bool
    apart: bool
    bytes: bool
    rq: FastRequant

    @property
    def piece(self) -> int:  # type: ignore[override]
        """Bytes that are read for a pixel."""
        return self.n_in

    @property
    def fours(self) -> int:
        """Fours of inputs."""
        return -(-self.n_in // 4)

    @property
    def words(self) -> int:
        """Words of a channel's weights."""
        return self.eights * (2 if self.bytes else 1)

    @property
    def eights(self) -> int:
        """Eights of inputs."""
        return -(-self.n_in // _STEP)

    @property
    def steps(self) -> int:
        """Eights of a whole group."""
        return self.size // _STEP

    @property
    def rest_words(self) -> int:
        """Eights of the last one, where it is smaller."""
        return -(-self.rest // _STEP)

    @property
    def pair_words(self) -> int:
        """Words of two widened pixels."""
        return 4 * self.fours

    @property
    def columns_words(self) -> int:
        """Words of all that are widened at a time."""
        return self.together // 2 * self.pair_words

    @property
    def panel_words(self) -> int:
        """Words of the weights of two channels, in 16 bits."""
        return _STEP * self.eights


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    made = grouped(node)
    if made is None or made.bits not in (_BITS, 0) or made.sums.x not in BYTES or made.block % _STEP:
        return None
    k = _context(node, made)
    if k.together < _LEAST:
        return None
    op, reach = node.op, made.sums.reach
    params = (
        Field.later("weights", np.uint32, k.c_even * k.words, lambda: _packed(made, k), _order(k)),
        Field("factors", filled(made.factors, k.c_even).astype(np.int16).reshape(-1)),
        *_less_fields(made, k),
        Field.later("bias", np.int32, k.c_even, lambda: filled(made.sums.folded, k.c_even), FOLDED),
        *fast_fields(op.requant, reach, k.c_even),
    )
    scratch = (Scratch("columns", 4 * k.columns_words), Scratch("panel", 4 * k.panel_words))
    why = f"2 pixels x 2 channels, SMLAD, weights widened once for {k.together} pixels, {made.said}"
    return Fit(k, params, scratch, why, headers=k.rq.headers, mix=_mix(k, row_pixels(node.outs[0].shape)))


def _mix(k: OpenedContext, width: int) -> Mix:
    """What a row takes: counted in the disassembly, the weights of a channel for each part of it."""
    word, group = Mix(other=8, load=1, multiple=2, moved=4, multiply_add=4), Mix(other=8, load=2, taken=1)
    if k.bytes:
        word = Mix(other=10, load=2, multiple=2, moved=4, multiply_add=4)
    opened = word.times(k.eights) + group.times(k.groups)
    pairs = columns_mix(k.fours, 2, k.c_out, wide=True).times(width // 2 + _ALONE * k.odd)
    return pairs + spread_mix(k.n_in).times(width) + opened.times(-(-width // k.together) * k.c_even)


def _context(node: NodeOf[Conv2D | Dense], made: Grouped) -> OpenedContext:
    n_in, width = node.ins[0].shape[-1], row_pixels(node.outs[0].shape)
    return OpenedContext(
        widen=made.sums.x.value,
        y_t=node.outs[0].dtype.ctype,
        n_in=n_in,
        size=made.block,
        c_out=node.outs[0].shape[-1],
        together=_together(width, -(-n_in // _STEP) * _STEP),
        odd=width % 2 == 1,
        apart=made.less is not None,
        bytes=not made.bits,
        rq=fast_requant(node.op.requant, made.sums.reach),
    )


def _together(width: int, inputs: int) -> int:
    """Pixels that are widened at a time, in pairs: a row's in as few equal parts as memory allows; or 0."""
    most = (_SCRATCH_BYTES - 4 * inputs) // (4 * inputs) * 2
    return in_even_parts(width, most) if min(most, width) >= _LEAST else 0


def _order(k: OpenedContext) -> str:
    return "with 128 added" if k.bytes else "in the order of lam_armv7em_few.h"


def _packed(made: Grouped, k: OpenedContext) -> Array:
    if k.bytes:
        return pack_words(filled_to(filled(made.numbers, k.c_even), _STEP, axis=1) + _HALF_BYTE, 1, 1)
    return pack_few(filled(made.numbers, k.c_even), 1, 1, 1, _BITS)


def _less_fields(made: Grouped, k: OpenedContext) -> tuple[Field, ...]:
    if made.less is None:
        return ()
    less = filled(made.less - (_HALF_BYTE if k.bytes else 1 << (_BITS - 1)), k.c_even)
    return (Field("w_shift", less.astype(np.int16 if k.bytes else np.int8).reshape(-1), about=GROUP_LESS),)


OPENED: Kernel[Conv2D | Dense] = Kernel(
    "dsp_opened",
    "dsp/opened.c.j2",
    "pixels",
    (Dense, Conv2D),
    _fit,
    frozenset({"dsp"}),
    headers=("lam_armv7em.h", "lam_armv7em_opened.h", "lam_armv7em_wide.h"),
)
