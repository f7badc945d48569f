"""What is known of one tensor after the samples have been seen twice, in memory that does not grow with them.

Decides: the first pass finds extremes, moments and each sample's own range; the second one counts a histogram between
the extremes.  One edge of the histogram is zero, so that the histogram of |x| is the two sides added; zeros are counted
apart from it.  NaN and infinities are counted and left out of everything else; whoever asks refuses them.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from codegen.ir.quant import Array
from codegen.quantizer.cached import in_parts
from codegen.records import record

_MASKED = 64
"""Depths that a row lies below others that is masked as a whole."""
_NO_SCORE = -5000.0
"""Where no number of a sample is above this, all its rows are."""


@record(eq=False)
class Histogram:
    """Counts of the numbers that are not zero: bin i holds those from `width * (start + i)` to the next edge."""

    width: float
    start: int
    counts: Array

    @property
    def edges(self) -> Array:
        """Where bins begin, and where the last one ends."""
        return self.width * np.arange(self.start, self.start + len(self.counts) + 1)

    def folded(self) -> Histogram:
        """The histogram of |x|, from zero."""
        stop = max(self.start + len(self.counts), -self.start, 1)
        counts = np.zeros(stop, np.int64)
        at = np.arange(self.start, self.start + len(self.counts))
        np.add.at(counts, np.where(at < 0, -1 - at, at), self.counts)
        return Histogram(self.width, 0, counts)


class Statistics:
    """One tensor's numbers: `first` takes each sample, then `second` takes each of them again.

    Numbers that lie more than `depth` below the greatest of their row, over `axes` of one sample, count as if they lay
    that far below it; rows that lie much further below others do not count, for they are masked as a whole.
    """

    def __init__(self, bins: int = 2048, axes: tuple[int, ...] = (), depth: float = np.inf) -> None:
        self.bins, self._axes, self._depth = bins, axes, depth
        self.low = np.inf
        self.high = -np.inf
        self.count = 0
        self.zeros = 0
        self.total = 0.0
        self.squares = 0.0
        self.magnitude = 0.0
        self.unreal = 0
        self.samples: list[tuple[float, float]] = []
        self._counts: Array | None = None
        self.ranges: dict[Hashable, tuple[float, float]] = {}
        """What was found from all this, by what was asked for."""

    @property
    def reach(self) -> float:
        """The greatest |x|."""
        return max(self.high, -self.low, 0.0)

    @property
    def one_sided(self) -> bool:
        """Whether no two numbers have different signs."""
        return self.low >= 0 or self.high <= 0

    @property
    def nonzero(self) -> int:
        """How many numbers are not zero."""
        return self.count - self.zeros

    @property
    def histogram(self) -> Histogram:
        """What the second pass has counted."""
        assert self._counts is not None, "no second pass"
        return Histogram(self._width, self._start, self._counts)

    def first(self, array: Array) -> None:
        """A sample in the first pass."""
        self.ranges.clear()
        x = self._real(self._raised(array))
        self.unreal += array.size - x.size
        if not x.size:
            return
        low, high = float(x.min()), float(x.max())
        self.low, self.high = min(self.low, low), max(self.high, high)
        self.samples.append((low, high))
        self.count += x.size
        self.zeros += x.size - _nonzero(x)
        for part in in_parts(x):
            wide = part.astype(np.float64)
            total = float(wide.sum())
            self.total += total
            self.squares += float(np.vdot(wide, wide))
            self.magnitude += total if low >= 0 else float(np.abs(wide, out=wide).sum())

    def second(self, array: Array) -> None:
        """The same sample in the second pass."""
        self.ranges.clear()
        if self._counts is None:
            self._counts = np.zeros(self._stop - self._start, np.int64)
        last, start, width = len(self._counts) - 1, self._start, self._width
        for part in in_parts(self._real(self._raised(array))):
            steps = part.astype(np.float64)
            np.floor(np.divide(steps, width, out=steps), out=steps)
            steps -= start
            np.clip(steps, 0, last, out=steps)
            self._counts += np.bincount(steps.astype(np.int64), minlength=last + 1)
            self._counts[min(max(-start, 0), last)] -= part.size - _nonzero(part)

    @property
    def _width(self) -> float:
        extent = self.high - self.low if self.high > self.low else self.reach
        return extent / self.bins if np.isfinite(extent) and extent > 0 else 1.0

    @property
    def _start(self) -> int:
        return int(np.floor(self.low / self._width)) if self.count else 0

    @property
    def _stop(self) -> int:
        return int(np.floor(self.high / self._width)) + 1 if self.count else 1

    def _raised(self, array: Array) -> Array:
        """The numbers without what makes no difference to who reads them."""
        if not self._axes or not array.size:
            return array
        top, depth = array.max(axis=self._axes, keepdims=True), np.float32(self._depth)
        greatest = top.max() if top.max() > _NO_SCORE else depth
        raised = np.maximum(array, top - depth)
        return np.asarray(np.where(top < greatest - _MASKED * depth, greatest - depth, raised))

    @staticmethod
    def _real(array: Array) -> Array:
        flat = array.reshape(-1)
        real = np.isfinite(flat)
        return flat if real.all() else flat[real]


def _nonzero(array: Array) -> int:
    """How many numbers are not zero; numpy counts what is true several times sooner than real numbers."""
    return int(np.count_nonzero(array != 0))
