"""Sizes that contexts of several kernels have in common, and what follows from them."""

from __future__ import annotations

from codegen.records import record


@record(kw_only=True)
class GroupSizes:
    """Channels of a convolution in groups."""

    c_in: int
    c_out: int
    groups: int

    @property
    def c_group(self) -> int:
        """Input channels per group."""
        return self.c_in // self.groups

    @property
    def o_group(self) -> int:
        """Output channels per group."""
        return self.c_out // self.groups


class InBlocks:
    """What is summed a block at a time: channels, or outputs of a group."""

    __slots__ = ()

    @property
    def parted(self) -> tuple[int, int]:
        """How many there are, and how many at a time."""
        raise NotImplementedError

    @property
    def block(self) -> int:
        """How many are summed at a time."""
        return self.parted[1]

    @property
    def blocked(self) -> int:
        """Those in whole blocks."""
        return self.parted[0] - self.rest

    @property
    def rest(self) -> int:
        """Those of the last, partial block."""
        return self.parted[0] % self.parted[1]


@record(kw_only=True)
class MapSizes:
    """A map that is summed as a whole, row by row."""

    rows: int
    columns: int
    channels: int

    @property
    def last_row(self) -> int:
        """The row behind which the output is written."""
        return self.rows - 1


@record(kw_only=True)
class AlongSizes:
    """Elements before, along and behind an axis, and how a running total goes along it."""

    outer: int
    depth: int
    inner: int
    exclusive: bool
    reverse: bool

    @property
    def last(self) -> int:
        """The last place along the axis."""
        return self.depth - 1

    @property
    def slice(self) -> int:
        """Elements from one place before the axis to the next."""
        return self.depth * self.inner


@record(kw_only=True)
class RunSizes:
    """Windows read as runs: `run` taps lie together, `runs` times per kernel row at `run_step` elements.

    `unroll` taps make a turn of a loop.
    """

    c_in: int
    c_out: int
    kernel_h: int
    stride: int
    pad: int
    runs: int
    run: int
    run_step: int
    unroll: int

    @property
    def turns(self) -> int:
        """Whole turns of the inner loop in one run."""
        return self.run // self.unroll

    @property
    def left_over(self) -> int:
        """Taps of a run behind its whole turns."""
        return self.run % self.unroll

    @property
    def pixel_step(self) -> int:
        """Elements from the inputs of one pixel to those of the next."""
        return self.stride * self.c_in

    def outputs_by(self, size: int) -> tuple[tuple[int, int, int], ...]:
        """(first output, end, outputs at a time): whole groups of this size, then the outputs left over."""
        whole = self.c_out - self.c_out % size
        return tuple(g for g in ((0, whole, size), (whole, self.c_out, self.c_out - whole)) if g[0] < g[1])


class PixelSizes:
    """Pixels whose channels are made in pairs: where their inputs and outputs lie, with `c_out` channels.

    `piece` bytes are read for a pixel.
    """

    __slots__ = ()
    c_out: int
    piece: int

    @property
    def paired(self) -> int:
        """Channels that have a partner."""
        return self.c_out - self.c_out % 2

    @property
    def c_even(self) -> int:
        """Channels in pairs, the last of which may lack its second."""
        return self.c_out + self.c_out % 2

    def input_at(self, pixel: int) -> int:
        """From the inputs of the first pixel to those of another, where they lie together."""
        return pixel * self.piece

    def output_at(self, pixel: int, channel: int = 0) -> int:
        """From the first output of the first pixel to another."""
        return pixel * self.c_out + channel


class ColumnSizes(PixelSizes):
    """Such pixels, whose columns of widened inputs lie side by side, and the sums of some by some channels."""

    __slots__ = ()

    def column_at(self, pixel: int) -> int:
        """Words from the column of the first pixel to that of another beside it."""
        return 2 * pixel

    def sums_of(self, pixels: int, channels: int) -> int:
        """Sums of so many pixels by so many channels."""
        return pixels * channels

    def sum_at(self, pixels: int, pixel: int, channel: int) -> int:
        """The place of a sum: channel by channel, the pixels of each."""
        return channel * pixels + pixel
