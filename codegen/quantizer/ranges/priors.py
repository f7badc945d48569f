"""Thresholds from a few moments: the noise of rounding is taken as even, of numbers in a known distribution or in none.

Sources: R. Banner and others, Post training 4-bit quantization of convolutional networks (arXiv 1810.05723), for
`aciq_*`; C. Sakr and others, Optimal clipping and magnitude-aware differentiation (arXiv 2206.06501), for `octav`.
Numbers of one sign that get all integers have steps of half the size: they are treated as both halves of numbers that
get one bit more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from codegen.quantizer.ranges.extent import Range, held, within
from codegen.quantizer.spec import Spec
from codegen.quantizer.statistics import Statistics

_STEPS = 40


def _effective_bits(statistics: Statistics, spec: Spec) -> int:
    halved = statistics.one_sided and not (spec.centred and spec.signed)
    return spec.bits + int(halved)


def _zero(slope: Callable[[float], float]) -> float:
    """Where a rising function crosses zero, between 0 and 64."""
    low, high = 0.0, 64.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return low


@cache
def gauss_factor(bits: int) -> float:
    """The best threshold on numbers of normal distribution, over their standard deviation."""

    def slope(a: float) -> float:
        clipped = math.sqrt(2 / math.pi) * math.exp(-a * a / 2) - a * math.erfc(a / math.sqrt(2))
        return a / (3 * 4.0**bits) - clipped

    return _zero(slope)


@cache
def laplace_factor(bits: int) -> float:
    """The best threshold on numbers of Laplace distribution, over their mean |x|."""
    return _zero(lambda a: a / (3 * 4.0**bits) - math.exp(-a))


def aciq_gauss(statistics: Statistics, spec: Spec) -> Range:
    """The numbers that are not zero are taken as normally distributed."""
    mean, count = _centre(statistics, spec), max(statistics.nonzero, 1)
    deviation = math.sqrt(max(statistics.squares / count - mean**2, 0.0))
    return _around(mean, gauss_factor(_effective_bits(statistics, spec)) * deviation, statistics, spec)


def aciq_laplace(statistics: Statistics, spec: Spec) -> Range:
    """The numbers that are not zero are taken as Laplace distributed."""
    mean, histogram = _centre(statistics, spec), statistics.histogram
    distance = np.abs(histogram.edges[:-1] + histogram.width / 2 - mean)
    deviation = float(histogram.counts @ distance) / max(statistics.nonzero, 1)
    return _around(mean, laplace_factor(_effective_bits(statistics, spec)) * deviation, statistics, spec)


def _centre(statistics: Statistics, spec: Spec) -> float:
    """The mean of what is not zero; zero itself where the range is one threshold on |x|."""
    return 0.0 if spec.centred or statistics.one_sided else statistics.total / max(statistics.nonzero, 1)


def _around(mean: float, threshold: float, statistics: Statistics, spec: Spec) -> Range:
    return held(max(statistics.low, mean - threshold), min(statistics.high, mean + threshold), spec)


def octav(statistics: Statistics, spec: Spec) -> Range:
    """The fixed point of t <- sum of |x| beyond t / (4**-bits / 3 * count of |x| up to t + count beyond t)."""
    histogram = statistics.histogram.folded()
    if not statistics.nonzero:
        return held(0.0, 0.0, spec)
    counts = np.concatenate([[0.0], np.cumsum(histogram.counts)])
    middles = histogram.edges[:-1] + histogram.width / 2
    sums = np.concatenate([[0.0], np.cumsum(histogram.counts * middles)])
    noise = 4.0 ** -_effective_bits(statistics, spec) / 3
    threshold = statistics.magnitude / statistics.nonzero
    for _ in range(_STEPS):
        inside = np.interp(threshold, histogram.edges, counts)
        beyond = sums[-1] - np.interp(threshold, histogram.edges, sums)
        threshold = beyond / max(noise * inside + counts[-1] - inside, np.finfo(np.float64).tiny)
    return within(min(threshold, statistics.reach), statistics, spec)
