"""The numbers of a tensor in the float network and in the quantized one, to be looked at: histograms, and pairs.

Decides: bins that are whole steps of the tensor's integers, so that no bin is left out by rounding, with room at both
ends for numbers that the integers do not reach; and which pairs are kept, evenly over the first sample.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import Stored
from codegen.records import record

_BINS, _BEYOND = 32, 4
"""Bins over what the integers hold, at most, and beyond it at each end."""
_PAIRS = 240
_DIGITS = 6


@record(kw_only=True)
class TensorNumbers:
    """One tensor of both networks, and what the quantized one calls it; `low` and `high` are what its integers hold.

    `real` and `held` count the numbers of the float network and of the quantized one in bins of equal width from
    `first` to `last`; what lies beyond counts in the outermost.  `pairs` are numbers of the first sample, float and
    quantized, evenly taken in the order of the tensor's elements, whose places are `at`.
    """

    tensor: str
    names: tuple[str, ...]
    low: float
    high: float
    first: float
    last: float
    real: tuple[int, ...]
    held: tuple[int, ...]
    at: tuple[int, ...]
    pairs: tuple[tuple[float, float], ...]


class Numbers:
    """Counts a tensor's numbers, sample by sample."""

    def __init__(self, tensor: str, names: tuple[str, ...], stored: Stored) -> None:
        """Bins for the integers that hold the tensor."""
        zero, scale = int(stored.zero_point.reshape(-1)[0]), float(stored.scale.reshape(-1)[0])
        codes = stored.high - stored.low + 1
        wide = max(1, codes // _BINS)
        count = -(-codes // wide) + 2 * _BEYOND
        low = stored.low - 0.5 - zero
        self._tensor, self._names = tensor, names
        self._ends = ((stored.low - zero) * scale, (stored.high - zero) * scale)
        self._edges: Array = (low + wide * (np.arange(count + 1) - _BEYOND)) * scale
        self._counts: Array = np.zeros((2, count), np.int64)
        self._at: Array = np.zeros(0, np.int64)
        self._pairs: Array = np.zeros((0, 2))

    def add(self, real: Array, held: Array) -> None:
        """One more sample of both, in the units that the quantized network has."""
        inside = (np.nextafter(self._edges[0], np.inf), np.nextafter(self._edges[-1], -np.inf))
        for counts, array in zip(self._counts, (real, held), strict=True):
            wide = np.clip(array.astype(np.float64).reshape(-1), *inside)
            counts += np.histogram(wide, self._edges)[0]
        if not self._at.size:
            self._at = np.unique(np.linspace(0, real.size - 1, min(real.size, _PAIRS)).astype(np.int64))
            self._pairs = np.stack([real.reshape(-1)[self._at], held.reshape(-1)[self._at]], axis=1)

    def record(self) -> TensorNumbers:
        """What has been counted."""
        first, last, low, high = (_short(x) for x in (self._edges[0], self._edges[-1], *self._ends))
        return TensorNumbers(
            tensor=self._tensor,
            names=self._names,
            low=low,
            high=high,
            first=first,
            last=last,
            real=tuple(self._counts[0].tolist()),
            held=tuple(self._counts[1].tolist()),
            at=tuple(self._at.tolist()),
            pairs=tuple((_short(a), _short(b)) for a, b in self._pairs.tolist()),
        )


def _short(number: float) -> float:
    return float(f"{float(number):.{_DIGITS}g}")
