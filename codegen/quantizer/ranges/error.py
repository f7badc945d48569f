"""Ranges chosen for the least mean of squared errors, rounding and clipping together.

Decides: numbers are taken as spread evenly within their bin, and the error of a bin is the exact integral over it, so
that steps that are finer than bins are judged rightly too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import Stored
from codegen.quantizer.ranges.extent import Range, minmax, percentile
from codegen.quantizer.ranges.storing import exponent_for, stored_for
from codegen.quantizer.spec import Spec
from codegen.quantizer.statistics import Histogram, Statistics

_CANDIDATES = 100
_COARSE = tuple(i / 12 for i in range(1, 13))
_GOLDEN = (5**0.5 - 1) / 2
_MIXED = (99.0, 99.5, 99.9, 99.95, 99.99, 99.995, 99.999, 99.9999)


def squared_error(histogram: Histogram, stored: Stored) -> float:
    """Sum of (x - q(x))**2 over the histogram's numbers."""
    scale, zero = float(stored.scale), int(stored.zero_point)
    low, high = scale * (stored.low - zero), scale * (stored.high - zero)
    whole = _integral(histogram.edges, scale, low, high)
    return float(histogram.counts @ np.diff(whole)) / histogram.width


def _integral(x: Array, step: float, low: float, high: float) -> Array:
    """The integral of the squared error from `low` to x."""
    inside = np.clip(x, low, high)
    clipped = x - inside
    inside = (inside - low) / step
    nearest = np.floor(inside + 0.5)
    return np.asarray(step**3 * (nearest / 12 + _cube(inside - nearest) / 3) + _cube(clipped) / 3)


def _cube(x: Array) -> Array:
    """x**3, which numpy leaves to a general power."""
    return np.asarray(x * x * x)


def mse(statistics: Statistics, spec: Spec) -> Range:
    """The range of least squared error: one threshold, or of a grid of both ends, then each end in turn."""
    low, high = minmax(statistics, replace(spec, statistic="all"))
    error = _error(statistics, spec)
    if spec.centred or statistics.one_sided:
        fraction = _least(lambda f: error(f * low, f * high))
        return fraction * low, fraction * high
    below, above = _coarsely(lambda f, g: error(f * low, g * high))
    for _ in range(3):
        before = below, above
        above = _least(partial(_first, error, below * low, high), above)
        below = _least(partial(_second, error, above * high, low), below)
        if before == (below, above):
            break
    return below * low, above * high


def _error(statistics: Statistics, spec: Spec) -> Callable[[float, float], float]:
    histogram = statistics.histogram
    return lambda low, high: squared_error(histogram, stored_for(low, high, spec))


def _first(error: Callable[[float, float], float], low: float, high: float, fraction: float) -> float:
    return error(low, fraction * high)


def _second(error: Callable[[float, float], float], high: float, low: float, fraction: float) -> float:
    return error(fraction * low, high)


def _coarsely(error: Callable[[float, float], float]) -> Range:
    """The best pair of a grid of fractions."""
    tried = [(f, g) for f in _COARSE for g in _COARSE]
    return min(tried, key=lambda pair: error(*pair))


def _least(error: Callable[[float], float], known: float = 1.0) -> float:
    """The best fraction: the known one, one of a hundred, or one between the neighbours of the best."""
    tried = [known, *(i / _CANDIDATES for i in range(1, _CANDIDATES + 1))]
    best = min(tried, key=error)
    near = _golden(error, max(best - 1 / _CANDIDATES, 1e-4), min(best + 1 / _CANDIDATES, 1.0))
    return min(best, near, key=error)


def _golden(error: Callable[[float], float], low: float, high: float) -> float:
    """Where between two points a function with one valley is least."""
    inner = [high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)]
    values = [error(p) for p in inner]
    for _ in range(12):
        if values[0] < values[1]:
            high, inner = inner[1], [inner[1] - _GOLDEN * (inner[1] - low), inner[0]]
            values = [error(inner[0]), values[0]]
        else:
            low, inner = inner[0], [inner[1], inner[0] + _GOLDEN * (high - inner[0])]
            values = [values[1], error(inner[1])]
    return (low + high) / 2


def diffs(statistics: Statistics, spec: Spec) -> Range:
    """What integers hold at the power of two of least squared error: that of the extremes, or one of four finer."""
    pot = replace(spec, pot=True)
    low, high = minmax(statistics, spec)
    if high <= low:
        return low, high
    first = exponent_for(low, high, pot)
    errors = []
    for exponent in range(first, first + 5):
        stored = stored_for(*_at_exponent(exponent, low, high, pot), pot)
        errors.append(squared_error(statistics.histogram, stored))
    return _at_exponent(first + int(np.argmin(errors)), low, high, pot)


def _at_exponent(exponent: int, low: float, high: float, spec: Spec) -> Range:
    """The range that integers with steps of 2**-exponent hold; an asymmetric one keeps its lower end while it can."""
    step = 2.0**-exponent
    if spec.centred:
        return spec.least * step, spec.greatest * step
    span = (spec.greatest - spec.least) * step
    below = min(-low, span * -low / (high - low)) if -low + high > span else -low
    below = round(below / step) * step
    return -below, span - below


def mix(statistics: Statistics, spec: Spec) -> Range:
    """The extremes or one of several percentiles, whichever has the least squared error."""
    ranges = [minmax(statistics, spec)]
    ranges += [percentile(statistics, replace(spec, percentile=p)) for p in _MIXED[::-1]]
    errors = [squared_error(statistics.histogram, stored_for(*r, spec)) for r in ranges]
    return ranges[int(np.argmin(errors))]
