"""Shapes, spans and sliding-window arithmetic, written once.

A feature map is NHWC.  Its *rows* are what the scheduler moves: all leading axes but the last two make the row
number, the last two make the row's content.  A tensor of two axes or fewer is one row.
"""

from __future__ import annotations

import math

from codegen.records import record

Shape = tuple[int, ...]


def row_count(shape: Shape) -> int:
    """Number of rows of a tensor: N * H for NHWC, 1 for two axes or fewer."""
    return math.prod(shape[:-2])


def row_elements(shape: Shape) -> int:
    """Elements of one row: W * C for NHWC."""
    return math.prod(shape[-2:])


def row_pixels(shape: Shape) -> int:
    """Pixels of one row: W for NHWC; leading size for two axes; 1 for one axis."""
    return shape[-2] if len(shape) >= 2 else 1


@record
class Span:
    """Half-open interval [start, stop) of rows; empty when stop <= start."""

    start: int
    stop: int

    def __len__(self) -> int:
        """Rows in the span."""
        return max(0, self.stop - self.start)

    def clipped(self, length: int) -> Span:
        """The part inside [0, length)."""
        start = min(max(self.start, 0), length)
        return Span(start, max(start, min(self.stop, length)))


@record
class Window:
    """A sliding window along one axis: size, stride, dilation, padding before and after."""

    size: int
    stride: int = 1
    dilation: int = 1
    pad_before: int = 0
    pad_after: int = 0

    @property
    def extent(self) -> int:
        """Input positions from the first tap to the last, both included."""
        return (self.size - 1) * self.dilation + 1

    def out_len(self, length: int) -> int:
        """Output positions over an input of `length`; 0 or less when the window does not fit."""
        return (length + self.pad_before + self.pad_after - self.extent) // self.stride + 1

    def in_span(self, y: Span) -> Span:
        """Input positions that the output positions `y` touch, padding included (not clipped)."""
        if y.stop <= y.start:
            return Span(0, 0)
        first = y.start * self.stride - self.pad_before
        return Span(first, (y.stop - 1) * self.stride - self.pad_before + self.extent)

    def first(self, position: int) -> int:
        """Input position of the first tap of one output position."""
        return position * self.stride - self.pad_before

    def inner(self, length: int) -> Span:
        """The taps from the first to the last that some output position finds inside an input of `length`.

        Others only see padding.  There are more where padding would else be less than none, and all where none is.
        """
        outputs = range(self.out_len(length))
        inside = [
            tap for tap in range(self.size) if any(0 <= self.first(y) + tap * self.dilation < length for y in outputs)
        ]
        if not inside:
            return Span(0, self.size)
        last = self.size - 1 - self.pad_after // self.dilation
        return Span(min(inside[0], self.pad_before // self.dilation), 1 + max(inside[-1], last))

    def of_taps(self, taps: Span) -> Window:
        """The window of these taps alone, at the same output positions."""
        before, after = (n * self.dilation for n in (taps.start, self.size - taps.stop))
        return Window(len(taps), self.stride, self.dilation, self.pad_before - before, self.pad_after - after)
