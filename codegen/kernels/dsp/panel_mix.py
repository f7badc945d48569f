"""What panels take: instructions by kind, counted in the assembly of lam_armv7em_panel.h and the C around it.

By that they are weighed against other kernels, by the cycles that the core's file gives each kind.
"""

from __future__ import annotations

from codegen.ir.form import Mix
from codegen.kernels.dsp.bounds import added_instructions, byte_instructions
from codegen.records import record

_TURN = 16
"""Groups of a turn of the assembly's loop."""
_CALL = Mix(other=18, load=1, store=7, multiple=6, moved=26, multiply_add=1, taken=2)
"""Around the channels of a panel: registers are kept, and where to jump is made."""
_SPREAD_CALL = Mix(other=14, multiple=2, moved=12, taken=4)
"""Around the bytes that one call widens, with its tests of how many are left over."""
_PIECE = Mix(other=6, load=1, taken=1)
"""Around a piece that is widened in straight code."""
_EDGE = Mix(other=40, load=8, store=4, multiple=2, moved=10, taken=6)
"""Around a piece that may read padding, which is copied first."""
_WAITING = Mix(other=8, load=4, store=1, multiply_add=1)
"""An output whose sum waits in memory, requantized in C; the store of its bias with it."""


@record
class Panel:
    """A panel of `pixels` pixels with `groups` of four values in each column; weights `wide`, or stored `shifted`.

    `bits`: weights have few, or 0; `own`: with zero points of their own.
    """

    pixels: int
    groups: int
    wide: bool
    shifted: bool
    form: str
    saturate: str
    bits: int = 0
    own: bool = False

    @property
    def group(self) -> Mix:
        """The products of four values with two channels."""
        multiple = (4 if self.pixels == 3 else 2) if self.wide else (3 if self.pixels == 3 else 2)
        moved = (4 if self.wide else 2) + 2 * self.pixels
        unpacked = 0 if self.wide else 4
        if self.bits:  # one is loaded alone, in place of two, for as many groups as it has
            multiple, moved = multiple - 1, moved - 2
        return Mix(unpacked, load=self.bits / 4, multiple=multiple, moved=moved, multiply_add=4 * self.pixels)

    @property
    def sums(self) -> Mix:
        """All groups of two channels, with the jump into the first turn and the ends of turns."""
        turns = max(1, -(-(self.groups - 1) // _TURN))
        return self.group.times(self.groups) + Mix(other=turns + 1, load=turns, taken=turns)

    @property
    def outputs(self) -> Mix:
        """From the sums of two channels to bytes."""
        lined = int(self.form == "lined")
        each, around = added_instructions(self.saturate)
        byte = Mix(other=byte_instructions(self.form) + each, store=1, multiply_add=1)
        return byte.times(2 * self.pixels) + Mix(2 + lined, around, store=1, multiple=3, moved=9, taken=1)

    @property
    def shares(self) -> Mix:
        """What is added to the sums of two channels whose weights are stored as so much less."""
        own = Mix(other=3, load=2, multiple=1, moved=2, multiply_add=2 * self.pixels)
        return own if self.own else self._added

    @property
    def _added(self) -> Mix:
        """The same for both channels."""
        added = Mix(other=2 * self.pixels + bool(self.bits), load=1, multiple=1, moved=2)
        return added if self.shifted or self.bits else Mix()

    @property
    def share(self) -> Mix:
        """The sums of columns of which that is made."""
        summed = 2 * self.pixels
        if self.bits:
            return Mix(other=0.75, multiple=1, moved=summed, multiply_add=summed).times(self.groups)
        each = Mix(other=3, load=self.pixels, load_next=self.pixels, multiply_add=summed)
        return each.times(self.groups) if self.shifted else Mix()

    def channels(self, count: int) -> Mix:
        """A whole panel of so many, the last of which may have no partner."""
        pairs, odd = divmod(count, 2)
        found = (self.sums + self.outputs + self.shares).times(pairs) + (_CALL if pairs else Mix())
        return found + self.share + (self._odd if odd else Mix())

    @property
    def _odd(self) -> Mix:
        """A channel without a partner, in C."""
        loads, turn = 2 * self.pixels + (1 if self.wide else 0), 8 // self.bits if self.bits else 1
        other = 2 + 2 / turn if self.bits else 5 - 2 * self.wide
        group = Mix(other, 1 / turn, load_next=loads, multiply_add=2 * self.pixels, taken=1 / turn)
        byte = Mix(byte_instructions(self.form) + 3, store=1)
        return group.times(self.groups) + byte.times(self.pixels) + _SPREAD_CALL

    def waiting(self, count: int, rows: int) -> Mix:
        """A panel whose sums wait in memory for each of so many kernel rows."""
        kept = Mix(load=1, multiple=3, moved=2 + 4 * self.pixels, store=1, other=2, taken=1)
        pairs = -(-count // 2)
        sums = (self.sums + self._added + kept).times(pairs) + self.share + _CALL
        output = _WAITING + Mix(load=1, multiply_add=1) if self.own else _WAITING
        return sums.times(rows) + output.times(self.pixels * count)


def columns_mix(groups: int, width: int, channels: int, *, wide: bool) -> Mix:
    """The products of a row of columns, two pixels by two channels at a time, and their outputs in C."""
    products = Panel(2, groups, wide=wide, shifted=False, form="single", saturate="s8").group.times(groups)
    outputs = Mix(other=36, load=12, store=4, taken=3)
    return (products + outputs).times(-(-width // 2) * -(-channels // 2))


def spread_mix(size: int, *, straight: bool = False) -> Mix:
    """So many bytes of a pixel, widened by a call or in straight code."""
    words = -(-size // 4)
    turn = Mix() if straight else Mix(other=3, taken=1).times(size // 16)
    return Mix(other=2, load=0.5, load_next=0.5, store=2).times(words) + turn + (_PIECE if straight else _SPREAD_CALL)


def shared_mix(size: int, step: int) -> Mix:
    """So many bytes of each of three pixels, `step` apart: what they have in common is read and widened once."""
    words, read = size // 4, (size + 2 * step) // 4
    return Mix(other=2.75, load=0.5, load_next=0.5, taken=0.25).times(read) + Mix(store=6).times(words) + _SPREAD_CALL


def joined_mix(words: int, parts: int) -> Mix:
    """So many words of a pixel, put together in registers of so many parts."""
    more = parts - words
    return Mix(other=2, store=2).times(words) + Mix(load=1).times(parts) + Mix(other=2).times(more) + _PIECE


def edge_mix(size: int) -> Mix:
    """The copy of a piece that may read padding."""
    return _EDGE + Mix(load=0.25, store=0.25).times(size)


def cut(width: int) -> tuple[tuple[int, int], ...]:
    """The panels of a row: (pixels, how many), three at a time, but never so that one is left."""
    if width == 1:
        return ((1, 1),)
    threes = (width - (0, 4, 2)[width % 3]) // 3
    return tuple((pixels, n) for pixels, n in ((3, threes), (2, (width - 3 * threes) // 2)) if n)
