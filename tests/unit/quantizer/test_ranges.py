"""Each method against its definition over the raw numbers in float64, on 200 tensors of twelve distributions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.ir.real import Stored
from codegen.quantizer.ranges import METHODS, exponent_for, range_of, stored_for
from codegen.quantizer.ranges.divergence import divergence
from codegen.quantizer.ranges.error import squared_error
from codegen.quantizer.ranges.priors import gauss_factor, laplace_factor
from codegen.quantizer.spec import Method, Spec
from codegen.quantizer.statistics import Statistics
from tests.support.tensors import statistics_of, tensors

Range = tuple[float, float]

RAW = tensors(200)
SEEN = [statistics_of(x) for x in RAW]
SPECS = tuple(
    Spec(bits=b, symmetric=s, signed=u)
    for b, s, u in ((8, False, True), (8, True, True), (4, False, False), (3, True, True))
)
CASES = tuple((x, seen, SPECS[i % len(SPECS)]) for i, (x, seen) in enumerate(zip(RAW, SEEN, strict=True)))


def error_of(x: Array, stored: Stored) -> float:
    """Sum of squared errors of the raw numbers."""
    wide, scale, zero = x.astype(np.float64), float(stored.scale), int(stored.zero_point)
    q = np.clip(np.round(wide / scale) + zero, stored.low, stored.high)
    return float(np.sum((wide - scale * (q - zero)) ** 2))


def held(low: float, high: float, spec: Spec) -> Range:
    low, high = min(low, 0.0), max(high, 0.0)
    return (-max(-low, high) * spec.signed, max(-low, high)) if spec.symmetric else (low, high)


def assert_ranges(found: Range, expected: Range, seen: Statistics, bins: float) -> None:
    assert abs(found[0] - expected[0]) <= bins * seen.histogram.width + 1e-12 * seen.reach, (found, expected)
    assert abs(found[1] - expected[1]) <= bins * seen.histogram.width + 1e-12 * seen.reach, (found, expected)


def test_minmax_is_exact() -> None:
    for x, seen, spec in CASES:
        assert range_of(seen, spec) == held(float(x.min()), float(x.max()), spec)


@pytest.mark.parametrize("join", ["mean", "median", "max"])
def test_statistics_of_samples_are_exact(join: str) -> None:
    for x, seen, spec in CASES:
        parts = np.array_split(x.astype(np.float64), 5)
        lows, highs = [p.min() for p in parts], [p.max() for p in parts]
        both = {"mean": (np.mean(lows), np.mean(highs)), "median": (np.median(lows), np.median(highs))}
        low, high = both.get(join, (min(lows), max(highs)))
        found = range_of(seen, replace(spec, statistic=join))  # type: ignore[arg-type]
        assert found == pytest.approx(held(float(low), float(high), spec), rel=1e-12)


def test_mode_is_the_widest_of_the_ranges_within_the_commonest_power_of_two() -> None:
    seen = Statistics()
    for reach in (3.0, 0.7, 2.5, 100.0, 3.5, -0.9):
        seen.first(np.array([-0.1, reach], np.float32))
    low, high = range_of(seen, Spec(statistic="mode"))
    assert (low, high) == (pytest.approx(-0.1), 3.5)


def test_moving_average_follows_its_recurrence() -> None:
    for x, seen, spec in CASES:
        parts = np.array_split(x.astype(np.float64), 5)
        low, high = parts[0].min(), parts[0].max()
        for part in parts[1:]:
            low, high = 0.9 * low + 0.1 * part.min(), 0.9 * high + 0.1 * part.max()
        found = range_of(seen, replace(spec, method="moving_average", momentum=0.1))
        assert found == pytest.approx(held(float(low), float(high), spec), rel=1e-9)


@pytest.mark.parametrize("percent", [99.99, 99.0, 90.0])
def test_percentile_is_within_a_bin_of_a_quantile_of_the_numbers(percent: float) -> None:
    for x, seen, spec in CASES:
        wide = x.astype(np.float64)
        low, high = -np.quantile(np.abs(wide), percent / 100), np.quantile(np.abs(wide), percent / 100)
        near = np.sort(np.abs(wide))
        if not spec.symmetric:
            low, high = np.quantile(wide, 1 - percent / 100), np.quantile(wide, percent / 100)
            near = np.sort(wide)
        # between two numbers, quantiles are a matter of taste: a bin more than their distance
        gap = max(_gap(near, percent / 100), _gap(near, 1 - percent / 100))
        found = range_of(seen, replace(spec, method="percentile", percentile=percent))
        assert_ranges(found, held(float(low), float(high), spec), seen, 1.01 + gap / seen.histogram.width)


def _gap(ordered: Array, share: float) -> float:
    at = int(share * (len(ordered) - 1))
    around = ordered[max(at - 1, 0) : at + 3]
    return float(around[-1] - around[0])


def test_entropy_is_the_least_divergence_over_histograms_made_of_the_numbers() -> None:
    for x, seen, spec in CASES[::9]:
        whole = not spec.signed or (not spec.symmetric and bool(x.min() >= 0 or x.max() <= 0))
        levels = 2 ** (spec.bits if whole else spec.bits - 1)
        width = seen.histogram.width
        magnitude = np.abs(x[x != 0].astype(np.float64))
        counts = np.bincount(np.floor(magnitude / width).astype(int))
        found = range_of(seen, replace(spec, method="entropy"))
        stop = round(max(-found[0], found[1]) / width)
        least = min(plain_divergence(counts, n, levels) for n in range(levels, len(counts) + 1, 48))
        if not stop >= len(counts) - 1:
            assert plain_divergence(counts, stop, levels) <= least + 0.01


def plain_divergence(counts: Array, stop: int, levels: int) -> float:
    """The definition, one bin after the other."""
    p = counts[:stop].astype(np.float64)
    p[-1] += counts[stop:].sum()
    q = np.zeros(stop)
    for level in range(levels):
        start, end = level * stop // levels, (level + 1) * stop // levels
        filled = [i for i in range(start, end) if p[i] > 0]
        for i in filled:
            q[i] = counts[start:end].sum() / len(filled)
    p, q = p / p.sum(), q / q.sum()
    return sum(a * math.log(a / max(b, 1e-6 / stop)) for a, b in zip(p, q, strict=True) if a > 0)


def test_divergence_is_its_definition() -> None:
    for seen in SEEN[:60]:
        counts = seen.histogram.folded().counts.astype(np.float64)
        for stop in (130, 500, 1500):
            if counts[:stop].sum() and stop < len(counts):
                assert divergence(counts, stop, 128) == pytest.approx(plain_divergence(counts, stop, 128), rel=1e-9)


def test_squared_error_of_a_histogram_is_that_of_its_numbers() -> None:
    for x, seen, spec in CASES:
        for share in (0.3, 0.8, 1.0):
            stored = stored_for(share * seen.low, share * seen.high, replace(spec, bits=min(spec.bits, 5)))
            # in bins: half a bin of each number's error
            slack = 0.5 * seen.histogram.width * math.sqrt(len(x) * error_of(x, stored))
            assert (
                abs(squared_error(seen.histogram, stored) - error_of(x, stored)) <= 0.02 * error_of(x, stored) + slack
            )


@pytest.mark.slow
def test_mse_is_no_worse_than_any_range_of_a_grid() -> None:
    for x, seen, spec in CASES:
        low, high = held(float(x.min()), float(x.max()), spec)
        shares = np.linspace(0.05, 1, 20)
        pairs = [(f * low, f * high) for f in shares]
        if not spec.symmetric and not seen.one_sided:
            pairs = [(f * low, g * high) for f in shares[1::2] for g in shares[1::2]]
        least = min(error_of(x, stored_for(a, b, spec)) for a, b in pairs)
        found = range_of(seen, replace(spec, method="mse"))
        slack = len(x) * (seen.histogram.width / 2) ** 2
        assert error_of(x, stored_for(*found, spec)) <= 1.02 * least + slack


def test_diffs_takes_the_power_of_two_of_least_error() -> None:
    for x, seen, _ in CASES:
        spec = Spec(symmetric=True, pot=True, method="diffs")
        wide = x.astype(np.float64)
        step = max(float(wide.min()) / -128.5, float(wide.max()) / 127.5)
        first = math.floor(math.log2(1 / step))
        errors = [
            float(np.sum((wide - np.clip(np.round(wide * 2.0**p), -128, 127) / 2.0**p) ** 2))
            for p in range(first, first + 5)
        ]
        stored = stored_for(*range_of(seen, spec), spec)
        exponent = -round(math.log2(float(stored.scale)))
        assert exponent in range(first, first + 5)
        assert errors[exponent - first] <= 1.01 * min(errors)


def test_diffs_without_symmetry_still_holds_powers_of_two() -> None:
    for x, seen, _ in CASES:
        spec = Spec(pot=True, method="diffs")
        stored = stored_for(*range_of(seen, spec), spec)
        assert math.log2(float(stored.scale)).is_integer()
        plain = stored_for(*range_of(seen, Spec(pot=True)), spec)
        assert error_of(x, stored) <= 1.01 * error_of(x, plain) + len(x) * seen.histogram.width**2


def test_octav_is_the_fixed_point_over_the_numbers() -> None:
    for x, seen, spec in CASES:
        magnitude = np.abs(x[x != 0].astype(np.float64))
        bits = spec.bits + int(bool(x.min() >= 0 or x.max() <= 0) and not (spec.symmetric and spec.signed))
        t = magnitude.mean()
        for _ in range(100):
            beyond = magnitude > t
            t = magnitude[beyond].sum() / (4.0**-bits / 3 * (~beyond).sum() + beyond.sum())
        found = range_of(seen, replace(spec, method="octav"))
        # the fixed point moves with every number that it passes: compared by what it costs
        near = held(max(float(x.min()), -t), min(float(x.max()), t), spec)
        assert max(abs(found[0] - near[0]), abs(found[1] - near[1])) <= 24 * seen.histogram.width or error_of(
            x, stored_for(*found, spec)
        ) <= 1.02 * error_of(x, stored_for(*near, spec))


@pytest.mark.parametrize("method", ["aciq_gauss", "aciq_laplace"])
def test_aciq_is_its_factor_times_the_numbers_deviation(method: Method) -> None:
    for x, seen, spec in CASES:
        wide = x[x != 0].astype(np.float64)
        one_sided = bool(wide.min() >= 0 or wide.max() <= 0)
        mean = 0.0 if spec.symmetric or one_sided else wide.mean()
        bits = spec.bits + int(one_sided and not (spec.symmetric and spec.signed))
        gauss = method == "aciq_gauss"
        deviation = math.sqrt(np.mean((wide - mean) ** 2)) if gauss else np.mean(np.abs(wide - mean))
        t = (gauss_factor if gauss else laplace_factor)(bits) * deviation
        expected = held(max(float(x.min()), mean - t), min(float(x.max()), mean + t), spec)
        assert_ranges(range_of(seen, replace(spec, method=method)), expected, seen, 10)


def test_aciq_factors_are_the_published_ones() -> None:
    assert [gauss_factor(8), gauss_factor(4)] == pytest.approx([3.92403337, 2.55913642], abs=2e-5)
    assert [laplace_factor(8), laplace_factor(4)] == pytest.approx([9.89675982, 5.02864014], abs=2e-5)


def test_mix_is_the_best_of_extremes_and_percentiles() -> None:
    for x, seen, spec in CASES:
        found = error_of(x, stored_for(*range_of(seen, replace(spec, method="mix")), spec))
        slack = len(x) * (seen.histogram.width / 2) ** 2
        for percent in (99.0, 99.9, 99.99):
            other = range_of(seen, replace(spec, method="percentile", percentile=percent))
            assert found <= 1.02 * error_of(x, stored_for(*other, spec)) + slack


def test_fixed_takes_what_it_is_given() -> None:
    assert range_of(SEEN[0], Spec(method="fixed", low=-1.0, high=6.0)) == (-1.0, 6.0)
    assert range_of(SEEN[0], Spec(method="fixed", high=6.0)) == (min(SEEN[0].low, 0.0), 6.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 7, 8, 16])
def test_every_method_holds_zero_and_no_more_than_was_seen(method: Method, bits: int) -> None:
    if method == "fixed":
        return
    for i, seen in enumerate([*SEEN[:12], statistics_of(np.zeros(9, np.float32))]):
        spec = Spec(bits=bits, symmetric=bool(i % 2), method=method)
        low, high = range_of(seen, spec)
        assert low <= 0 <= high
        if method != "diffs":
            assert max(-low, high) <= seen.reach
        stored = stored_for(low, high, spec)
        assert stored.scale.dtype == np.float32
        assert stored.scale > 0
        assert stored.low <= stored.zero_point <= stored.high


def test_integers_are_kept_in_the_next_larger_type() -> None:
    kinds = {(s.dtype.name, s.bits) for s in (stored_for(-1, 1, Spec(bits=b)) for b in (2, 7, 8, 16))}
    assert kinds == {("int8", 2), ("int8", 7), ("int8", 0), ("int16", 0)}
    assert stored_for(-1, 1, Spec(signed=False)).dtype == np.uint8


def test_range_and_integers_meet_at_the_ends() -> None:
    stored = stored_for(-1.0, 3.0, Spec())
    ends = [float(stored.scale) * (end - int(stored.zero_point)) for end in (stored.low, stored.high)]
    assert ends == pytest.approx([-1.0, 3.0], abs=float(stored.scale) / 2)
    assert int(stored_for(0.0, 3.0, Spec()).zero_point) == -128


def test_powers_of_two_hold_half_a_step_beyond_the_last_integer() -> None:
    spec = Spec(symmetric=True, pot=True)
    assert exponent_for(-1.0, 127.5, spec) == 0
    assert exponent_for(-1.0, 127.6, spec) == -1
    assert exponent_for(-128.5, 1.0, spec) == 0
    assert exponent_for(-128.6, 1.0, spec) == -1


def test_a_range_is_looked_for_once_and_again_when_more_has_been_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def slowly(statistics: Statistics, spec: Spec) -> tuple[float, float]:
        looked.append(spec.method)
        return statistics.low, statistics.high

    monkeypatch.setitem(METHODS, "mse", slowly)  # type: ignore[arg-type]
    seen, spec = Statistics(), Spec(method="mse")
    for reach in (1.0, 2.0):
        seen.first(np.array([-reach, reach], np.float32))
        assert range_of(seen, spec) == range_of(seen, spec) == (-reach, reach)
    assert looked == ["mse", "mse"]
