"""Ranges that are read off the numbers themselves: their extremes, an average of samples' extremes, quantiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from codegen.ir.quant import Array
from codegen.quantizer.spec import Spec, Statistic
from codegen.quantizer.statistics import Histogram, Statistics

Range = tuple[float, float]


def held(low: float, high: float, spec: Spec) -> Range:
    """The range with zero in it, and equal on both sides where it is to be symmetric."""
    low, high = min(low, 0.0), max(high, 0.0)
    if not spec.centred:
        return low, high
    reach = max(-low, high)
    return (-reach, reach) if spec.signed else (0.0, reach)


def within(threshold: float, statistics: Statistics, spec: Spec) -> Range:
    """The numbers' range, cut at a threshold on |x|."""
    return held(max(statistics.low, -threshold), min(statistics.high, threshold), spec)


def minmax(statistics: Statistics, spec: Spec) -> Range:
    """The extremes: of all samples, or a statistic of each sample's own."""
    if not statistics.count:
        return 0.0, 0.0
    if spec.statistic == "all":
        return held(statistics.low, statistics.high, spec)
    ranges = np.array(statistics.samples)
    return held(*_JOINED[spec.statistic](ranges), spec)


def _outermost(ranges: Array) -> Range:
    return float(ranges[:, 0].min()), float(ranges[:, 1].max())


def _mean(ranges: Array) -> Range:
    return float(ranges[:, 0].mean()), float(ranges[:, 1].mean())


def _median(ranges: Array) -> Range:
    return float(np.median(ranges[:, 0])), float(np.median(ranges[:, 1]))


def _commonest(ranges: Array) -> Range:
    """The widest of the ranges whose reach lies between the same two powers of two as most do; of two, the greater."""
    reach = np.abs(ranges).max(axis=1)
    power = np.ceil(np.log2(np.maximum(reach, np.finfo(np.float32).tiny)))
    found, counts = np.unique(power, return_counts=True)
    chosen = ranges[power == found[counts == counts.max()].max()]
    return _outermost(chosen)


_JOINED: Mapping[Statistic, Callable[[Array], Range]] = {
    "mean": _mean,
    "median": _median,
    "max": _outermost,
    "mode": _commonest,
}


def moving_average(statistics: Statistics, spec: Spec) -> Range:
    """Each sample's extremes move the range towards them by `momentum`, after the first sample's are the range."""
    if not statistics.samples:
        return 0.0, 0.0
    ranges = np.array(statistics.samples)
    average = ranges[0]
    for sample in ranges[1:]:
        average = (1 - spec.momentum) * average + spec.momentum * sample
    return held(float(average[0]), float(average[1]), spec)


def percentile(statistics: Statistics, spec: Spec) -> Range:
    """Symmetric: what `percentile` per cent of |x| do not exceed; asymmetric: that of x, on each side."""
    if not statistics.count:
        return 0.0, 0.0
    share = spec.percentile / 100
    histogram = statistics.histogram
    if spec.centred:
        reach = min(quantile(histogram.folded(), statistics.zeros, share), statistics.reach)
        return held(-reach, reach, spec)
    low = quantile(histogram, statistics.zeros, 1 - share)
    high = quantile(histogram, statistics.zeros, share)
    return held(max(low, statistics.low), min(high, statistics.high), spec)


def quantile(histogram: Histogram, zeros: int, share: float) -> float:
    """What a share of the numbers does not exceed, zeros among them, even within a bin."""
    edges, counts = histogram.edges, histogram.counts
    at = np.concatenate([[0], np.cumsum(counts)]) + np.where(edges > 0, zeros, 0)
    wanted = share * (counts.sum() + zeros)
    last = int(np.searchsorted(at, wanted))
    if last == 0:
        return float(edges[0])
    if last == len(at):
        return float(edges[-1])
    before, after = at[last - 1], at[last]
    if edges[last - 1] <= 0 < edges[last] and wanted <= before + zeros:
        return 0.0
    before += zeros if edges[last - 1] <= 0 < edges[last] else 0
    return float(edges[last - 1] + histogram.width * (wanted - before) / max(after - before, 1))


def fixed(statistics: Statistics, spec: Spec) -> Range:
    """The range that was given; on a side that was not, the numbers' own."""
    low, high = minmax(statistics, spec)
    return held(low if spec.low is None else spec.low, high if spec.high is None else spec.high, spec)
