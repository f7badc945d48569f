"""Streamed statistics against numpy over the whole tensor in float64."""

from __future__ import annotations

import numpy as np

from codegen.quantizer.statistics import Statistics
from tests.support.tensors import statistics_of, tensors


def test_moments_and_extremes_are_those_of_the_whole_tensor() -> None:
    for x in tensors(48):
        found, wide = statistics_of(x), x.astype(np.float64)
        assert (found.low, found.high, found.count) == (wide.min(), wide.max(), wide.size)
        assert found.zeros == np.sum(x == 0)
        expected = [wide.sum(), np.sum(wide**2), np.abs(wide).sum()]
        np.testing.assert_allclose([found.total, found.squares, found.magnitude], expected, rtol=1e-9)


def test_histogram_counts_each_number_once_between_edges_of_which_one_is_zero() -> None:
    for x in tensors(48):
        histogram, wide = statistics_of(x, 256).histogram, x[x != 0].astype(np.float64)
        expected, _ = np.histogram(wide, histogram.edges)
        assert histogram.counts.sum() == wide.size
        assert np.abs(histogram.counts - expected).sum() <= 2
        assert 256 <= len(histogram.counts) <= 258


def test_long_tensors_are_counted_as_short_ones_are() -> None:
    """Direct counts of numbers of both signs, many of them zero, and of numbers of one sign far from zero."""
    rng = np.random.default_rng(4)
    for x in (np.maximum(rng.normal(0, 1, 200_001), -0.5), rng.normal(9, 1, 150_000), -rng.normal(9, 1, 70_000)):
        x = x.astype(np.float32)
        x[rng.random(x.size) < 0.3] = 0 if x.min() < 0 < x.max() else x[0]
        found = Statistics(64)
        found.first(x)
        found.second(x)
        histogram = found.histogram
        bins = np.floor(x[x != 0].astype(np.float64) / histogram.width).astype(int) - histogram.start
        np.testing.assert_array_equal(histogram.counts, np.bincount(bins, minlength=len(histogram.counts)))
        wide = x.astype(np.float64)
        np.testing.assert_allclose(
            [found.total, found.squares, found.magnitude], [wide.sum(), (wide**2).sum(), np.abs(wide).sum()], rtol=1e-12
        )


def test_folded_histogram_is_that_of_magnitudes() -> None:
    for x in tensors(48):
        folded, wide = statistics_of(x, 256).histogram.folded(), np.abs(x[x != 0].astype(np.float64))
        expected, _ = np.histogram(wide, folded.edges)
        assert folded.counts.sum() == wide.size
        assert np.abs(folded.counts - expected).sum() <= 4


def test_what_is_no_number_is_counted_and_left_out() -> None:
    x = np.array([1.0, np.nan, -2.0, np.inf, 0.0, -np.inf], np.float32)
    found = statistics_of(x, parts=2)
    assert (found.unreal, found.count, found.low, found.high, found.zeros) == (3, 3, -2.0, 1.0, 1)
    assert found.histogram.counts.sum() == 2


def test_tensors_of_one_number_and_of_none_have_a_histogram() -> None:
    for x, counted in ((np.zeros(8), 0), (np.full(8, 3.0), 8), (np.full(8, -3.0), 8), (np.zeros(0), 0)):
        assert statistics_of(x.astype(np.float32)).histogram.counts.sum() == counted
