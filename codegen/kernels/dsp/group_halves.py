"""Dense layers whose weights have a scale per small group of inputs, two groups at a time: two or three pixels by two.

Sums of groups fit 16 bits: those of two lie in the halves of a word, and one SMLAD multiplies them by both factors
(runtime_c/isa/dsp/lam_armv7em_group_halves.h).  Sums of inputs meet products of zero points and factors likewise.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Mix, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType
from codegen.ir.shape import row_pixels
from codegen.kernels.dsp.groups import FEWEST, THREE, GroupColumns, threes_of
from codegen.kernels.dsp.words import pack_few
from codegen.kernels.fast import fast_fields, fast_requant, filled
from codegen.kernels.groups import Grouped, grouped
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.weighted import BYTES, FOLDED, signed_bias
from codegen.ops import Conv2D, Dense
from codegen.records import record

_SIZES = (16, 8)
"""Inputs of a group."""
_BITS = 4
_TWO = 2
_HALF = 1 << 15


@record
class GroupHalvesContext(GroupColumns):
    """Literals of one layer, two groups at a time; `flip`: of a word of inputs the bits that give them a sign."""

    flip: str

    @property
    def twos_of_groups(self) -> int:
        """Groups, two at a time."""
        return self.groups // 2

    @property
    def last(self) -> int:
        """The last two."""
        return self.twos_of_groups - 1

    @property
    def inputs_of_two(self) -> int:
        """Inputs of two groups."""
        return 2 * self.size

    @property
    def left(self) -> int:
        """Outputs behind the last two."""
        return self.n_out % 2

    def biases(self, pixels: int) -> tuple[str, ...]:
        """What sums of so many pixels by two channels begin with."""
        return ("bias[o]",) * pixels + ("bias[o + 1]",) * pixels

    @property
    def column_words(self) -> int:
        """Words of the column of as many pixels as go together."""
        pixels = THREE if self.threes else _TWO
        return self.twos_of_groups * (1 + pixels * (1 + self.apart + self.size))

    @property
    def words(self) -> int:
        """Words of the weights of two channels."""
        return self.twos_of_groups * (4 * self.steps + 2 + 2 * self.apart)


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    made, width = grouped(node), row_pixels(node.outs[0].shape)
    if made is None or width < _TWO or not _takes(made):
        return None
    k = _context(node, made, width)
    if k.n_in % (2 * k.size) or made.signed_reach(k.size) >= _HALF:
        return None
    params = (
        Field.later("weights", np.uint32, k.c_even // 2 * k.words, lambda: _packed(made, k), _ORDER),
        Field.later("bias", np.int32, k.c_even, lambda: filled(signed_bias(made.sums), k.c_even), FOLDED),
        *fast_fields(node.op.requant, made.sums.reach, k.c_even),
    )
    why = f"{3 if k.threes else 2} pixels x 2 channels, SMLAD on inputs widened once, two groups, {made.said}"
    by_three = threes_of(width) * k.threes
    mix = _mix(k, 2).times((width - THREE * by_three) // 2) + _mix(k, THREE).times(by_three)
    return Fit(k, params, (Scratch("column", 4 * k.column_words),), why, headers=k.rq.headers, mix=mix)


def _takes(made: Grouped) -> bool:
    """Whether inputs are bytes, numbers have 4 bits, groups are small, and products of zero points fit 16 bits."""
    if made.bits != _BITS or made.sums.x not in BYTES or made.block % _SIZES[-1] or made.block > _SIZES[0]:
        return False
    return made.less is None or int(np.abs(made.less * made.factors).max()) < _HALF


def _mix(k: GroupHalvesContext, pixels: int) -> Mix:
    """What so many pixels take: counted in the assembly, and in the disassembly of what is around it."""
    three, two = pixels == THREE, 2 * k.threes
    step = (
        Mix(other=10, load=1, multiple=4, moved=12, multiply_add=24)
        if three
        else Mix(other=8 + two, load=1, multiple=2, moved=8, multiply_add=16)
    )
    ends = Mix(other=1 + 2 * pixels, load=4 if three else 2, multiple=3, moved=15, multiply_add=2 * pixels, taken=1)
    if k.apart:
        ends += Mix(load=2, multiply_add=2 * pixels)
    outputs = Mix(other=20 + 12 * pixels, load=6, store=2 * pixels, multiple=4, moved=14, taken=1)
    inner = (step.times(2 * k.steps) + ends).times(k.twos_of_groups) + outputs
    four = Mix(other=4, load=1, store=2, multiply_add=2).times(pixels * k.n_in // 4)
    once = Mix(other=14 * pixels, store=3 * pixels).times(k.twos_of_groups)
    return once + four + inner.times(k.c_even // 2)


_ORDER = "in the order of lam_armv7em_group_halves.h"


def _context(node: NodeOf[Conv2D | Dense], made: Grouped, width: int) -> GroupHalvesContext:
    threes = width == THREE or width >= FEWEST
    return GroupHalvesContext(
        y_t=node.outs[0].dtype.ctype,
        threes=threes,
        twos=not threes or width % THREE > 0,
        n_in=node.ins[0].shape[-1],
        n_out=node.outs[0].shape[-1],
        size=made.block,
        apart=made.less is not None,
        flip="0x80808080u" if made.sums.x is DType.U8 else "0u",
        rq=fast_requant(node.op.requant, made.sums.reach),
    )


def _packed(made: Grouped, k: GroupHalvesContext) -> Array:
    rows = filled(made.numbers, k.c_even)
    words = pack_few(rows, 1, 2, 1, _BITS).reshape(k.c_even // 2, k.twos_of_groups, -1)
    found = [_with_signs(words) if k.threes else words, _both(made.factors, k)]
    if made.less is not None:
        found.append(_both(made.less * made.factors, k))
    return np.ascontiguousarray(np.concatenate(found, axis=2)).reshape(-1)


def _with_signs(words: Array) -> Array:
    """Words with their fields the other way round in each half, those of even inputs with a sign."""
    fields = [(words >> np.uint32(4 * i) & np.uint32(0x000F000F)) << np.uint32(12 - 4 * i) for i in range(4)]
    turned: Array = np.bitwise_or.reduce(fields) ^ np.uint32(0x80808080)
    return turned


def _both(groups: Array, k: GroupHalvesContext) -> Array:
    """What is said of each group, [channels, groups], as words of two groups, [twos of channels, of groups, 2]."""
    halves = np.ascontiguousarray(filled(groups, k.c_even).astype("<i2"))
    return halves.view("<u4").astype(np.uint32).reshape(k.c_even // 2, 2, -1).swapaxes(1, 2)


GROUP_HALVES: Kernel[Conv2D | Dense] = Kernel(
    "dsp_group_halves",
    "dsp/group_halves.c.j2",
    "pixels",
    (Dense, Conv2D),
    _fit,
    frozenset({"dsp"}),
    headers=("lam_armv7em_group_halves.h", "lam_order.h"),
)
