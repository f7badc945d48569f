"""Scales and integers of constants: definitions, the floor, and what searching gains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from codegen.errors import CompileError
from codegen.ir.quant import Array
from codegen.quantizer.moments import Moments
from codegen.quantizer.scheme import Weight
from codegen.quantizer.solving import Effort, solved
from codegen.quantizer.spec import Method, Rounding, Spec
from codegen.quantizer.weights import least_scales, quantized, rounded, stored_weights
from tests.support.products import CASES, product_of

PLAIN = Spec(symmetric=True, narrow_range=True)
FREE = Spec(symmetric=False, narrow_range=None)
SPECS = {
    "tensor": PLAIN,
    "channel": replace(PLAIN, per_channel=True),
    "group": replace(PLAIN, group=2),
    "pot": replace(PLAIN, pot=True),
    "pot, channel": replace(PLAIN, pot=True, per_channel=True),
    "tensor, zero points": FREE,
    "channel, zero points": replace(FREE, per_channel=True),
    "group, zero points": replace(FREE, group=2),
}


def real(weight: Weight, shape: tuple[int, ...]) -> Array:
    """The numbers that integers hold."""
    scale, zero = weight.stored.spread(shape)
    return np.asarray((weight.data.astype(np.float64) - zero) * scale.astype(np.float64))


def test_each_rounding_goes_its_way_at_halves() -> None:
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1.2, -1.7])
    expected: dict[Rounding, list[float]] = {
        "half_even": [-2, -2, 0, 0, 2, 2, 1, -2],
        "half_up": [-2, -1, 0, 1, 2, 3, 1, -2],
        "half_away": [-3, -2, -1, 1, 2, 3, 1, -2],
        "half_down": [-2, -1, 0, 0, 1, 2, 1, -2],
    }
    for rounding, values in expected.items():
        np.testing.assert_array_equal(rounded(x, rounding), values)


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("name", SPECS)
def test_integers_hold_the_numbers_to_half_a_step(name: str, bits: int) -> None:
    array = np.random.default_rng(bits).normal(0.7, size=(6, 8)).astype(np.float32)
    spec = replace(SPECS[name], bits=bits)
    weight = quantized(array, spec, 0)
    assert weight.data.dtype == np.int8
    assert (weight.stored.bits or 8) == bits
    assert weight.data.min() >= spec.least
    assert weight.data.max() <= spec.greatest
    scale = np.broadcast_to(weight.stored.spread(array.shape)[0], array.shape)
    zero = np.broadcast_to(weight.stored.spread(array.shape)[1], array.shape)
    assert zero.any() == ("zero points" in name)
    ends = [scale * (end - zero) * (1 + 1e-6) for end in (spec.least, spec.greatest)]
    inside = (ends[0] <= array) & (array <= ends[1]) if spec.centred else np.isfinite(array)
    assert (np.abs(real(weight, array.shape) - array)[inside] <= scale[inside] * 0.5001).all()
    if spec.pot:
        assert np.log2(scale).astype(float) == pytest.approx(np.rint(np.log2(scale)))
    else:
        assert inside.all()


def test_scales_span_the_tensor_its_outputs_or_groups_of_terms() -> None:
    array = np.array([[1.0, -2.0, 0.5, 0.25], [8.0, 4.0, -1.0, 2.0]], np.float32)
    spans = {"tensor": 8.0, "channel": [2.0, 8.0], "group": [[2.0, 0.5], [8.0, 2.0]]}
    for name, span in spans.items():
        np.testing.assert_allclose(stored_weights(array, SPECS[name], 0).scale * 127, span, rtol=1e-6)
    np.testing.assert_allclose(
        stored_weights(array.T, SPECS["group"], 1).scale * 127, np.array(spans["group"]).T, rtol=1e-6
    )


def test_outputs_without_weights_take_the_least_scale_of_the_others() -> None:
    array = np.array([[1.0, 2.0], [0.0, 0.0], [0.5, 0.1]], np.float32)
    np.testing.assert_allclose(stored_weights(array, SPECS["channel"], 0).scale * 127, [2.0, 0.5, 0.5], rtol=1e-6)
    assert stored_weights(0 * array, SPECS["channel"], 0).scale.tolist() == [1.0, 1.0, 1.0]


def test_no_scale_is_below_its_floor() -> None:
    array = np.array([[1e-9, 2e-9], [1.0, 2.0]], np.float32)
    bias = np.array([3.0, -3.0], np.float32)
    floor = least_scales(bias, 0.01, 0.5, 2)
    for name in ("channel", "pot, channel"):
        found = quantized(array, SPECS[name], 0, floor=floor).stored.scale.astype(np.float64)
        assert (np.abs(bias) / (0.01 * found) <= 2.0**30).all()
        assert (0.01 * found / 0.5 >= 2.0**-31).all()
    assert float(quantized(1e-9 * array, SPECS["tensor"], 0, floor=floor).stored.scale) >= floor.max()


def test_importance_moves_the_scale_to_what_counts() -> None:
    array = np.array([[2.0, *np.linspace(-1, 1, 50)]], np.float32)
    spec, counts = replace(SPECS["channel"], bits=4), np.ones_like(array)
    counts[0, 0] = 1e-6
    searched = quantized(array, spec, 0, importance=counts)
    error = [(counts * (real(w, array.shape) - array) ** 2).sum() for w in (searched, quantized(array, spec, 0))]
    assert error[0] < error[1]


EFFORTS: tuple[Effort, ...] = ("nearest", "search", "feedback", "descent")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("spec", SPECS)
def test_no_effort_is_worse_than_the_one_before(name: str, spec: str) -> None:
    case = CASES[name]
    if "group" in spec and not name.startswith("gemm"):
        return
    random = np.random.default_rng(8)
    weights = random.normal(size=case[2]).astype(np.float32)
    moments = Moments(product_of(case, weights), results=64)
    for _ in range(20):
        moments.take([np.maximum(random.normal(0.3, 1, case[1]), 0).astype(np.float32)])
    for bits in (3, 8):
        losses = []
        for effort in EFFORTS:
            found = solved(weights, replace(SPECS[spec], bits=bits), moments, effort=effort)
            assert found.data.shape == weights.shape
            error = moments.rows(real(found, weights.shape) - weights)
            losses.append(((error @ moments.likely()) * error).sum())
        assert losses[0] >= losses[1] * (1 - 1e-6)
        assert min(losses[0], losses[1]) >= losses[2] * (1 - 1e-6)
        assert losses[2] >= losses[3] * (1 - 1e-6)


def test_solved_weights_keep_to_the_floor() -> None:
    case = CASES["gemm"]
    random = np.random.default_rng(9)
    weights = random.normal(size=case[2]).astype(np.float32)
    moments = Moments(product_of(case, weights))
    moments.take([random.normal(size=(30, 5)).astype(np.float32)])
    floor = np.array([0.0, 0.1, 0.0, 0.2])
    found = solved(weights, SPECS["channel"], moments, floor=floor)
    assert (found.stored.scale >= floor.astype(np.float32)).all()


@pytest.mark.parametrize("bits", [3, 4])
def test_zero_points_fit_integers_to_numbers_that_lie_to_one_side(bits: int) -> None:
    array = np.random.default_rng(7).gamma(2.0, size=(40, 90)).astype(np.float32) - np.float32(0.5)
    counts = np.ones_like(array)

    def error(spec: Spec, importance: Array | None) -> float:
        return float(((real(quantized(array, spec, 0, importance=importance), array.shape) - array) ** 2).sum())

    free = replace(FREE, bits=bits, per_channel=True)
    around = replace(free, symmetric=True)
    assert error(free, None) < 0.5 * error(around, None)
    assert error(free, counts) < 0.6 * error(around, counts)
    assert error(free, counts) < 0.95 * error(free, None)


@pytest.mark.parametrize("bits", [2, 3, 4, 7])
@pytest.mark.parametrize("group", [0, 3])
@pytest.mark.parametrize("searched", [False, True])
def test_channels_of_nothing_or_of_one_number_are_held_as_they_are(bits: int, group: int, searched: bool) -> None:
    """Groups of three of five numbers: the last one is short, and what fills it up is none of its numbers."""
    rows = [[0.0] * 5, [0.5] * 5, [-0.25] * 5, [0.0, 0.0, 1e-30, 1e-30, 0.0], [-3e30, 0.0, 0.0, -3e30, 0.0]]
    array = np.array(rows, np.float32)
    spec = replace(FREE, bits=bits, per_channel=not group, group=group)
    found = quantized(array, spec, 0, importance=np.ones_like(array) if searched else None)
    np.testing.assert_allclose(real(found, array.shape), array, rtol=1e-6, atol=1e-36)
    assert not np.broadcast_to(found.stored.spread(array.shape)[1], array.shape)[0].any()
    assert (found.stored.zero_point >= spec.least).all()
    assert (found.stored.zero_point <= spec.greatest).all()


def test_a_search_finds_the_best_zero_point_and_step_of_a_fine_grid() -> None:
    rng = np.random.default_rng(8)
    spec, beyond = replace(FREE, bits=4, per_channel=True), []
    for _ in range(20):
        row = rng.laplace(rng.normal(), 1, (1, 60)).astype(np.float32)
        least = np.inf
        for step in np.linspace(0.2, 1.05, 200) * (max(row.max(), 0) - min(row.min(), 0)) / 15:
            for zero in range(16):
                held = (np.clip(np.rint(row / step) + zero, 0, 15) - zero) * step
                least = min(least, float(((held - row) ** 2).sum()))
        found = real(quantized(row, spec, 0, importance=np.ones_like(row)), row.shape)
        beyond.append(((found - row) ** 2).sum() / least)
    assert np.mean(beyond) < 1.1


@pytest.mark.parametrize("method", ["percentile", "octav", "mix", "mse"])
def test_a_method_for_weights_finds_the_range_of_each_output(method: Method) -> None:
    rng = np.random.default_rng(6)
    array = rng.laplace(0, 1, (5, 400)).astype(np.float32) * np.exp2(np.arange(5))[:, None].astype(np.float32)
    spec = replace(PLAIN, bits=4, per_channel=True, method=method, percentile=99.0, bins=512)
    found = stored_weights(array, spec, 0).scale
    for row, scale in zip(array, found, strict=True):
        assert scale < np.abs(row).max() / spec.greatest
        if method == "percentile":
            assert scale * spec.greatest == pytest.approx(np.quantile(np.abs(row), 0.99), rel=0.05)
    errors = [
        ((real(quantized(array, s, 0), array.shape) - array) ** 2).sum() for s in (spec, replace(spec, method="minmax"))
    ]
    assert errors[0] < errors[1]


@pytest.mark.parametrize("rounding", ["half_even", "half_up", "half_away", "half_down"])
def test_weights_alone_are_rounded_as_is_asked_for(rounding: Rounding) -> None:
    array = np.random.default_rng(1).integers(-13, 13, (6, 8)).astype(np.float32) / 2
    array[0, 0] = 7.0
    spec = replace(PLAIN, bits=4, rounding=rounding)
    moments = Moments(product_of(CASES["gemm"], array))
    found = solved(array, spec, moments, effort="nearest")
    np.testing.assert_array_equal(found.data, rounded(array, rounding))


@pytest.mark.parametrize("effort", ["nearest", "search", "feedback", "descent"])
def test_scales_that_are_given_stay(effort: Effort) -> None:
    array = np.random.default_rng(8).normal(size=(4, 5)).astype(np.float32)
    given = (0.5, 0.25, 0.125, 1.0)
    spec = replace(PLAIN, per_channel=True, scales=given)
    moments = Moments(product_of(CASES["gemm"], array))
    moments.take([np.random.default_rng(9).normal(size=(30, 5)).astype(np.float32)])
    for weight in (quantized(array, spec, 0), solved(array, spec, moments, effort=effort)):
        np.testing.assert_array_equal(weight.stored.scale, np.float32(given))
    one = quantized(array, replace(PLAIN, scales=(0.5,)), 0)
    assert one.stored.scale.item() == 0.5
    with pytest.raises(CompileError, match="4 scales are given, 3 are needed"):
        quantized(array[:3], spec, 0)
