"""Weights that make up for what the layers before pass on: against direct least squares in float64."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.quantizer.passed import Passed
from codegen.quantizer.products import Product
from tests.support.products import CASES, product_of

FORMS = ("conv", "grouped", "depthwise", "transposed", "gemm", "matrix")


def layer(name: str, count: int, off: float, seed: int = 0) -> tuple[Product, Array, list[Array], list[Array]]:
    """A layer, its weights, what it reads in the float network, and the same with errors that depend on it."""
    rng = np.random.default_rng(seed)
    _, shape, weights_shape, _ = CASES[name]
    weights = rng.normal(0, 1, weights_shape).astype(np.float32)
    real = [rng.normal(0.5, 1, shape).astype(np.float32) for _ in range(count)]
    held = [(x * (1 - off) + off * rng.normal(0.3, 1, shape)).astype(np.float32) for x in real]
    return product_of(CASES[name], weights), weights, real, held


def taken(product: Product, real: list[Array], held: list[Array], lacking: list[Array] | None = None) -> Passed:
    passed = Passed(product, 10_000)
    passed.take_pairs(real, held, lacking)
    return passed


@pytest.mark.parametrize("centred", [0.0, 1.0])
@pytest.mark.parametrize("name", FORMS)
def test_weights_are_those_of_least_squares(name: str, centred: float) -> None:
    """The same minimum by numpy's own solver, over all terms of all samples, deviations from W held back alike."""
    product, weights, real, held = layer(name, 40, 0.3)
    found = product.matrix(taken(product, real, held).stood_in(weights, centred))
    everywhere = product.places(real[0].shape, 10_000, np.random.default_rng(0))
    x, y = (np.concatenate([product.samples(s, everywhere) for s in side], axis=1) for side in (real, held))
    for group, rows in enumerate(product.matrix(weights).astype(np.float64)):
        a, b = x[group].astype(np.float64), y[group].astype(np.float64)
        a, b = (side - centred * side.mean(axis=0) for side in (a, b))
        count, terms = b.shape
        damping = (0.02 + terms / count) * (b * b).mean()
        wide = np.concatenate([b, np.sqrt(damping * count) * np.eye(terms)])
        short = np.concatenate([(a - b) @ rows.T, np.zeros((terms, len(rows)))])
        expected = rows + np.linalg.lstsq(wide, short, rcond=None)[0].T
        np.testing.assert_allclose(found[group], expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("centred", [0.0, 1.0])
@pytest.mark.parametrize("name", FORMS)
def test_weights_make_up_for_what_a_sum_behind_lacks(name: str, centred: float) -> None:
    """Least squares again; the error is of the results' shape and part of it is told by what the layer reads."""
    product, weights, real, held = layer(name, 40, 0.3)
    rng = np.random.default_rng(2)
    told = [CASES[name][0].evaluate([y, rng.normal(0, 0.1, weights.shape).astype(np.float32)])[0] for y in held]
    lacking = [e + rng.normal(0.2, 0.1, e.shape).astype(np.float32) for e in told]
    found = product.matrix(taken(product, real, held, lacking).stood_in(weights, centred))
    everywhere = product.places(real[0].shape, 10_000, np.random.default_rng(0))
    x, y = (np.concatenate([product.samples(s, everywhere) for s in side], axis=1) for side in (real, held))
    e = np.concatenate([product.results(s, everywhere) for s in lacking], axis=1)
    for group, rows in enumerate(product.matrix(weights).astype(np.float64)):
        a, b, c = (side[group] - centred * side[group].mean(axis=0, dtype=np.float64) for side in (x, y, e))
        count, terms = b.shape
        damping = (0.02 + terms / count) * (b * b).mean()
        wide = np.concatenate([b, np.sqrt(damping * count) * np.eye(terms)])
        short = np.concatenate([(a - b) @ rows.T + c, np.zeros((terms, len(rows)))])
        expected = rows + np.linalg.lstsq(wide, short, rcond=None)[0].T
        np.testing.assert_allclose(found[group], expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", FORMS)
def test_results_come_closer_to_the_float_network_s_on_other_samples(name: str) -> None:
    product, weights, real, held = layer(name, 80, 0.3)
    stood_in = taken(product, real[:40], held[:40]).stood_in(weights)
    lost = []
    for numbers in (weights, stood_in):
        random = np.random.default_rng(1)
        places = [product.places(x.shape, 99, random) for x in real]
        pairs = [[product.samples(s, p) for s in both] for *both, p in zip(real, held, places, strict=True)]
        rows, wanted = np.swapaxes(product.matrix(numbers), 1, 2), np.swapaxes(product.matrix(weights), 1, 2)
        lost.append(sum(float(np.square(x @ wanted - y @ rows).sum()) for x, y in pairs[40:]))
    assert lost[1] < lost[0]


@pytest.mark.parametrize("name", FORMS)
def test_without_errors_weights_stay(name: str) -> None:
    product, weights, real, _ = layer(name, 10, 0.0)
    np.testing.assert_array_equal(taken(product, real, real).stood_in(weights, 0.95), weights)


def test_inputs_that_are_always_zero_leave_weights_as_they_are() -> None:
    product, weights, real, _ = layer("gemm", 10, 0.0)
    zeros = [np.zeros_like(x) for x in real]
    np.testing.assert_array_equal(taken(product, real, zeros).stood_in(weights), weights)
