"""Dense layers whose weights have a scale per group of inputs: one pixel by four outputs, two or three by two.

Inputs are widened once.  Groups are eight, sixteen or 32 inputs: larger ones are cut into such, with the same factor.
Inputs behind the last whole group are a group of their own (runtime_c/isa/dsp/lam_armv7em_groups.h).
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Mix, Scratch
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.ir.shape import row_pixels
from codegen.kernels.dsp.panel_mix import spread_mix
from codegen.kernels.dsp.words import pack_few, pack_words
from codegen.kernels.fast import FastRequant, fast_fields, fast_requant, filled
from codegen.kernels.groups import Grouped, InGroups, grouped
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.packed import filled_to
from codegen.kernels.sizes import ColumnSizes
from codegen.kernels.weighted import BYTES, FOLDED
from codegen.ops import Conv2D, Dense
from codegen.records import record

_SUMS = 4
"""Pixels times channels that are summed together."""
_STEP = 8
"""Inputs of a word of each channel, of bytes of two."""
_SIZES = (32, 16, 8)
"""Inputs of a group."""
_SMALL = 16
_TOTALS, _HEAD = 4, 5
"""Words of a column: as lam_armv7em_groups.h has them."""
_BITS = 4
THREE = 3
_THREES_HEAD = 4
FEWEST = 5
"""Pixels that have three and others: four are two twos."""


@record
class GroupColumns(InGroups, ColumnSizes):
    """Literals of a layer in columns: `n_in` inputs in groups of `size`, `n_out` outputs.

    `threes`: pixels go by three, and what is left by `twos`; `apart`: groups have zero points.
    """

    y_t: str
    threes: bool
    twos: bool
    n_out: int
    apart: bool
    rq: FastRequant

    @property
    def c_out(self) -> int:  # type: ignore[override]
        """Outputs of a pixel."""
        return self.n_out

    @property
    def piece(self) -> int:  # type: ignore[override]
        """Bytes that are read for it."""
        return self.n_in

    @property
    def steps(self) -> int:
        """Words of a whole group's numbers."""
        return self.size // _STEP

    @property
    def fours(self) -> int:
        """Fours of inputs of a whole group."""
        return self.size // 4


@record
class DspGroupsContext(GroupColumns):
    """Literals of one layer, `pixels` (1 or 2) at a time.

    `halves`: sums of groups fit 16 bits; `bytes`: numbers are, else they have 4 bits.
    """

    widen: str
    pixels: int
    halves: bool
    bytes: bool

    @property
    def b(self) -> str:
        """What the names of products of bytes end in."""
        return "b" if self.bytes else ""

    @property
    def dot(self) -> str:
        """The products of the last group."""
        return f"lam_dot_{self.pixels}x{self.together}{'' if self.bytes else 's4'}"

    @property
    def behind(self) -> int:
        """Words behind the numbers of the last group that fill it to whole eights."""
        return self.together * (2 * self.rest_steps - self.rest_fours) if self.bytes else 0

    @property
    def begins(self) -> bool:
        """Whether sums begin with those of inputs."""
        return self.apart or not self.bytes

    @property
    def together(self) -> int:
        """Channels at a time."""
        return _SUMS // self.pixels

    @property
    def last(self) -> int:
        """The last one of them."""
        return self.whole - 1

    @property
    def rest_fours(self) -> int:
        """Fours of inputs of the last group."""
        return -(-self.rest // 4)

    @property
    def group_words(self) -> int:
        """Words of a whole group in the column."""
        return _HEAD + self.pixels * self.size // 2 + _TOTALS

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
        pairs = self.rest_column + 2 * self.pixels * self.rest_fours
        return max(pairs * self.twos, self.threes_words)

    @property
    def rest_steps(self) -> int:
        """Words of the last group's numbers."""
        return -(-self.rest // _STEP)

    @property
    def threes_words(self) -> int:
        """All words of the column of three pixels, of whose last group inputs fill words."""
        steps = self.whole * self.steps + self.rest_steps
        return (_THREES_HEAD * self.groups + THREE * _STEP // 2 * steps) * self.threes

    @property
    def left(self) -> int:
        """Channels behind the last whole ones."""
        return self.n_out % self.together

    @property
    def zero_words(self) -> int:
        """Words of what is added to the fields of these channels: of four a byte each, in small groups 16 bits."""
        return 0 if not self.apart else 1 if self.size > _SMALL and not self.bytes else self.factor_words

    @property
    def factor_words(self) -> int:
        """Words of their factors."""
        return self.together // 2

    @property
    def words(self) -> int:
        """Words of the weights of these channels."""
        of_group = self.factor_words + self.zero_words
        numbers = (2 if self.bytes else 1) * (self.whole * self.steps + self.rest_steps)
        return self.together * numbers + of_group * self.groups

    @property
    def channels(self) -> int:
        """Channels with those that fill up the last ones."""
        return -(-self.n_out // self.together) * self.together


def _fit(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    return _fit_pixels(node, 1)


def _fit_pairs(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    return _fit_pixels(node, 2) if row_pixels(node.outs[0].shape) % 2 == 0 else None


def _fit_threes(node: NodeOf[Conv2D | Dense]) -> Fit | None:
    width = row_pixels(node.outs[0].shape)
    return _fit_pixels(node, 2, threes=True) if width == THREE or width >= FEWEST else None


def _fit_pixels(node: NodeOf[Conv2D | Dense], pixels: int, *, threes: bool = False) -> Fit | None:
    made = grouped(node)
    if made is None or made.bits not in (_BITS, 0) or made.sums.x not in BYTES or made.block % _STEP:
        return None
    k = _context(node, made, pixels, threes=threes)
    if not k.whole:
        return None
    size = k.channels // k.together * k.words
    params = (
        Field.later("weights", np.uint32, size, lambda: _packed(made, k), _ORDER),
        Field.later("bias", np.int32, k.channels, lambda: filled(made.sums.folded, k.channels), FOLDED),
        *fast_fields(node.op.requant, made.sums.reach, k.channels),
    )
    why = f"{_SHAPES[THREE if threes else pixels]}, SMLAD on inputs widened once, {made.said}"
    few = ("lam_armv7em_few.h",) if k.rest and not k.bytes else ()
    headers = (*k.rq.headers, *(("lam_armv7em.h", *few) if k.twos else ()))
    column, width = Scratch("column", 4 * k.column_words), row_pixels(node.outs[0].shape)
    by_three = threes_of(width) * threes
    mix = _mix(k).times((width - THREE * by_three) // pixels) + _threes_mix(k).times(by_three)
    return Fit(k, params, (column,), why, headers=headers, mix=mix)


_SHAPES = {1: "1 pixel x 4 channels", 2: "2 pixels x 2 channels", 3: "3 pixels x 2 channels"}


def threes_of(width: int) -> int:
    """Threes of so many pixels, where what is left is none, two or four."""
    return width // THREE - (width % THREE == 1)


def _mix(k: DspGroupsContext) -> Mix:
    """What a pixel takes, or two: counted in the assembly, and in the disassembly of what is around it."""
    single = k.pixels == 1
    eight = Mix(other=16 if single else 8, load=4 * single, multiple=1 if single else 3, moved=4 if single else 10)
    if k.bytes:
        eight = Mix(other=16 if single else 8, multiple=4, moved=12)
    ends = Mix(other=1, multiple=4, moved=13, multiply_add=4, taken=1)
    if single:
        ends += Mix(multiple=1, moved=2) if k.halves else Mix(load=4)
    else:
        ends += Mix(load=1 if k.halves else 2)
    if k.apart:
        ends += Mix(multiply_add=4) + (Mix(multiple=1, moved=2) if k.zero_words > 1 else Mix(load=4 if single else 1))
    outputs = Mix(other=50, load=14, store=8, multiple=4, moved=16, taken=3)
    inner = (eight + Mix(multiply_add=16)).times(-(-k.n_in // _STEP)) + ends.times(k.groups) + outputs
    once = Mix(other=12, load=2, store=5, taken=1).times(k.groups)
    if k.begins:
        once += Mix(load=2, multiply_add=2).times(k.n_in / 4)
    return (spread_mix(k.n_in) + once).times(k.pixels) + inner.times(k.channels // k.together)


def _threes_mix(k: DspGroupsContext) -> Mix:
    """What three pixels take, counted likewise."""
    loads = Mix(multiple=6, moved=16) if k.bytes else Mix(load=3, multiple=5, moved=14)
    eight = Mix(other=8, multiply_add=24) + loads
    ends = Mix(other=1, load=3 - k.halves, multiple=3, moved=15, multiply_add=6, taken=1)
    if k.apart:
        ends += Mix(load=1, multiply_add=6)
    outputs = Mix(other=62, load=14, store=12, multiple=4, moved=24, taken=2)
    inner = eight.times(-(-k.n_in // _STEP)) + ends.times(k.groups) + outputs
    once = Mix(other=14, load=2, store=4, taken=1).times(k.groups)
    four = Mix(other=9, load=3, store=6, multiply_add=6, taken=0.5).times(-(-k.n_in // 4))
    return once + four + inner.times(k.channels // k.together)


_ORDER = "in the order of lam_armv7em_groups.h"


def _context(node: NodeOf[Conv2D | Dense], made: Grouped, pixels: int, *, threes: bool) -> DspGroupsContext:
    size = next(size for size in _SIZES if made.block % size == 0)
    return DspGroupsContext(
        widen=made.sums.x.value,
        y_t=node.outs[0].dtype.ctype,
        pixels=pixels,
        threes=threes,
        twos=not threes or row_pixels(node.outs[0].shape) % THREE > 0,
        n_in=node.ins[0].shape[-1],
        n_out=node.outs[0].shape[-1],
        size=size,
        apart=made.less is not None,
        halves=made.reach(size) < 1 << 15,
        bytes=not made.bits,
        rq=fast_requant(node.op.requant, made.sums.reach),
    )


def _packed(made: Grouped, k: DspGroupsContext) -> Array:
    split = k.rest_at
    rows = filled(made.numbers, k.channels)
    whole = rows[:, :split].reshape(len(rows), k.whole, k.size)
    parts = [_words(whole[:, g], k) for g in range(k.whole)] + ([_words(rows[:, split:], k)] if k.rest else [])
    factors = _cut(made, made.factors, k, "<i2")
    zeros = _zeros(made, k)
    found: list[Array] = []
    for g, part in enumerate(parts):
        found += [part, factors[g]] if zeros is None else [zeros[g], part, factors[g]]
    return np.ascontiguousarray(np.concatenate(found, axis=1)).reshape(-1)


def _zeros(made: Grouped, k: DspGroupsContext) -> Array | None:
    """What is added to the fields of each group, as words, where they have zero points."""
    if made.less is None:
        return None
    bits = 32 * k.zero_words // k.together
    return _cut(made, made.less - (0 if k.bytes else 1 << (_BITS - 1)), k, f"<i{bits // 8}")


def _words(numbers: Array, k: DspGroupsContext) -> Array:
    """A group's numbers [channels, inputs] as words, [channels at a time, words]."""
    if k.bytes:
        packed = pack_words(filled_to(numbers, _STEP, axis=1), 1, k.together)
    else:
        packed = pack_few(filled_to(numbers, 4, axis=1), 1, k.together, 1, _BITS)
    return packed.reshape(len(numbers) // k.together, -1)


def _cut(made: Grouped, groups: Array, k: DspGroupsContext, dtype: str) -> Array:
    """What is said of each group, [channels, groups], of those that are cut from it, as words."""
    every = filled_to(groups, k.together, axis=0).repeat(made.block // k.size, axis=1)[:, : k.groups]
    channels = np.ascontiguousarray(every.T.reshape(k.groups, -1, k.together).astype(dtype))
    return channels.view("<u4").astype(np.uint32)


_HEADERS = ("lam_armv7em_groups.h", "lam_order.h")

GROUPS: Kernel[Conv2D | Dense] = Kernel(
    "dsp_groups",
    "dsp/groups.c.j2",
    "pixels",
    (Dense, Conv2D),
    _fit,
    frozenset({"dsp"}),
    headers=_HEADERS,
)

PAIRS: Kernel[Conv2D | Dense] = Kernel(
    "dsp_group_pairs",
    "dsp/group_pairs.c.j2",
    "pixels",
    (Dense, Conv2D),
    _fit_pairs,
    frozenset({"dsp"}),
    headers=_HEADERS,
)

THREES: Kernel[Conv2D | Dense] = Kernel(
    "dsp_group_threes",
    "dsp/group_pairs.c.j2",
    "pixels",
    (Dense, Conv2D),
    _fit_threes,
    frozenset({"dsp"}),
    headers=_HEADERS,
)
