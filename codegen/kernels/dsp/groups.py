"""Dense layers whose weights have a scale per group of inputs: one pixel by four outputs, inputs widened once.

Groups are eight, sixteen or 32 inputs: larger ones are cut into such, with the same factor.  Inputs behind the last
whole group are a group of their own (runtime_c/isa/dsp/lam_armv7em_groups.h).
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Mix, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.ir.shape import row_pixels
from codegen.kernels.dsp.panel_mix import spread_mix
from codegen.kernels.dsp.words import pack_few
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant, filled
from codegen.kernels.groups import Grouped, InGroups, grouped
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.packed import filled_to
from codegen.kernels.weighted import BYTES, FOLDED
from codegen.ops import Conv2D, Dense
from codegen.records import record

_TOGETHER = 4
_STEP = 8
"""Inputs of a word of each channel."""
_SIZES = (32, 16, 8)
"""Inputs of a group."""
_SMALL = 16
_TOTALS, _HEAD = 4, 5
"""Words of a column: as lam_armv7em_groups.h has them."""
_BITS = 4


@record
class DspGroupsContext(InGroups):
    """Literals of one layer: `n_in` inputs in groups of `size`.

    `apart`: groups have zero points; `halves`: their sums fit 16 bits.
    """

    widen: str
    y_t: str
    n_out: int
    apart: bool
    halves: bool
    rq: FastRequant

    @property
    def last(self) -> int:
        """The last one of them."""
        return self.whole - 1

    @property
    def steps(self) -> int:
        """Words of a whole group's numbers."""
        return self.size // _STEP

    @property
    def fours(self) -> int:
        """Fours of inputs of a whole group."""
        return self.size // 4

    @property
    def rest_fours(self) -> int:
        """Fours of inputs of the last group."""
        return -(-self.rest // 4)

    @property
    def group_words(self) -> int:
        """Words of a whole group in the column."""
        return _HEAD + self.size // 2 + _TOTALS

    @property
    def totals_at(self) -> int:
        """Words of the column before the last totals."""
        return self.whole * self.group_words

    @property
    def rest_column(self) -> int:
        """Words of the column before the last group's pairs."""
        return self.totals_at + _TOTALS

    @property
    def column_words(self) -> int:
        """All words of the column."""
        return self.rest_column + 2 * self.rest_fours

    @property
    def left(self) -> int:
        """Channels behind the last whole four."""
        return self.n_out % _TOGETHER

    @property
    def zero_words(self) -> int:
        """Words of what is added to the fields of four channels: two in small groups, which it is more of."""
        return 0 if not self.apart else 1 if self.size > _SMALL else 2

    @property
    def words(self) -> int:
        """Words of four channels' weights."""
        return _TOGETHER * (self.whole * self.steps + -(-self.rest // _STEP)) + (2 + self.zero_words) * self.groups


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    made = grouped(node)
    if made is None or made.bits != _BITS or made.sums.x not in BYTES or made.block % _STEP:
        return None
    k = _context(node, made)
    if not k.whole:
        return None
    channels = -(-k.n_out // _TOGETHER) * _TOGETHER
    params = (
        Field.later("weights", np.uint32, channels // _TOGETHER * k.words, lambda: _packed(made, k), _ORDER),
        Field.later("bias", np.int32, channels, lambda: filled(made.sums.folded, channels), FOLDED),
        *fast_fields(node.op.requant, made.sums.reach, channels),
    )
    why = f"1 pixel x 4 channels, SMLAD on inputs widened once, {made.said}"
    headers = (*k.rq.headers, *(("lam_armv7em_few.h",) if k.rest else ()))
    column, mix = Scratch("column", 4 * k.column_words), _mix(k).times(row_pixels(node.outs[0].shape))
    return Fit(k, params, (column,), why, headers=headers, mix=mix)


def _mix(k: DspGroupsContext) -> Mix:
    """What a pixel takes: counted in the assembly, and in the disassembly of what is around it."""
    eight = Mix(other=16, load=4, multiple=1, moved=4, multiply_add=16)
    group = Mix(other=1, load=4 * (not k.halves), multiple=4 + k.halves, moved=13, multiply_add=4, taken=1)
    if k.apart:
        group += Mix(multiple=1, moved=2, multiply_add=4) if k.zero_words > 1 else Mix(load=4, multiply_add=4)
    outputs = Mix(other=50, load=14, store=8, multiple=4, moved=16, taken=3)
    four = eight.times(-(-k.n_in // _STEP)) + group.times(k.groups) + outputs
    once = Mix(other=12, load=2, store=5, taken=1).times(k.groups) + Mix(load=2, multiply_add=2).times(k.n_in / 4)
    return spread_mix(k.n_in) + once + four.times(-(-k.n_out // _TOGETHER))


_ORDER = "in the order of lam_armv7em_groups.h"


def _context(node: NodeOf[Conv2D | Dense], made: Grouped) -> DspGroupsContext:
    size = next(size for size in _SIZES if made.block % size == 0)
    return DspGroupsContext(
        widen=made.sums.x.value,
        y_t=node.outs[0].dtype.ctype,
        n_in=node.ins[0].shape[-1],
        n_out=node.outs[0].shape[-1],
        size=size,
        apart=made.less is not None,
        halves=made.reach(size) < 1 << 15,
        rq=fast_requant(node.op.requant, made.sums.reach),
    )


def _packed(made: Grouped, k: DspGroupsContext) -> Array:
    split = k.rest_at
    rows = filled(made.numbers, -(-k.n_out // _TOGETHER) * _TOGETHER)
    whole = rows[:, :split].reshape(len(rows), k.whole, k.size)
    parts = [_words(whole[:, g]) for g in range(k.whole)] + ([_words(rows[:, split:])] if k.rest else [])
    factors = _cut(made, made.factors, k, "<i2")
    zeros = None if made.less is None else _cut(made, made.less - (1 << (_BITS - 1)), k, f"<i{k.zero_words}")
    found: list[Array] = []
    for g, part in enumerate(parts):
        found += [part, factors[g]] if zeros is None else [zeros[g], part, factors[g]]
    return np.ascontiguousarray(np.concatenate(found, axis=1)).reshape(-1)


def _words(numbers: Array) -> Array:
    """A group's numbers [channels, inputs] as words, [fours of channels, words]."""
    packed = pack_few(filled_to(numbers, 4, axis=1), 1, _TOGETHER, 1, _BITS)
    return packed.reshape(len(numbers) // _TOGETHER, -1)


def _cut(made: Grouped, groups: Array, k: DspGroupsContext, dtype: str) -> Array:
    """What is said of each group, [channels, groups], of those that are cut from it, as words."""
    every = filled_to(groups, _TOGETHER, axis=0).repeat(made.block // k.size, axis=1)[:, : k.groups]
    fours = np.ascontiguousarray(every.T.reshape(k.groups, -1, _TOGETHER).astype(dtype))
    return fours.view("<u4").astype(np.uint32)


GROUPS: Kernel[Conv2D | Dense] = Kernel(
    "dsp_groups",
    "dsp/groups.c.j2",
    "pixels",
    (Dense, Conv2D),
    _fit,
    frozenset({"dsp"}),
    headers=("lam_armv7em.h", "lam_armv7em_groups.h", "lam_order.h"),
)
