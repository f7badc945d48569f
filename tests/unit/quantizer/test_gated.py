"""Moments of a layer's inputs for each output, as far as the activation behind it lets the results through."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.quantizer.gated import Gate, GatedMoments, results_of
from codegen.quantizer.moments import Moments
from codegen.quantizer.solving import solved
from codegen.quantizer.spec import Spec
from codegen.real.storage import Dequantize
from tests.support.products import CASES, product_of

FORMS = ("conv", "grouped", "depthwise", "transposed", "gemm", "matrix")


def layer(name: str, seed: int = 0) -> tuple[GatedMoments, Moments, Array, list[Array]]:
    """Moments with a gate that lets everything through, plain ones, the weights and the samples."""
    rng = np.random.default_rng(seed)
    _, x, weights_shape, _ = CASES[name]
    weights = rng.normal(0, 1, weights_shape).astype(np.float32)
    product = product_of(CASES[name], weights)
    samples = [rng.normal(0.5, 1, x).astype(np.float32) for _ in range(6)]
    gated = GatedMoments(product, Gate(weights, np.zeros(1), -np.inf, np.inf), 10_000)
    plain = Moments(product, 10_000)
    for sample in samples:
        gated.take([sample])
        plain.take([sample])
    return gated, plain, weights, samples


@pytest.mark.parametrize("name", FORMS)
def test_without_bounds_every_output_has_the_moments_of_its_group(name: str) -> None:
    gated, plain, weights, _ = layer(name)
    groups, outputs, terms = plain.product.matrix(weights).shape
    for share in (0.0, 0.95):
        every = gated.second(share).reshape(groups, outputs, terms, terms)
        for output in range(outputs):
            np.testing.assert_allclose(every[:, output], plain.second(share), atol=1e-4)
    rows = gated.rows(weights)
    assert rows.shape == (groups * outputs, 1, terms)
    np.testing.assert_array_equal(gated.weights(rows), weights)


def test_results_beyond_a_bound_count_less() -> None:
    rng = np.random.default_rng(3)
    weights = rng.normal(0, 1, (4, 5)).astype(np.float32)
    bias = rng.normal(0, 1, 4)
    product = product_of(CASES["gemm"], weights)
    x = rng.normal(0, 1, (400, 5)).astype(np.float32)
    gated = GatedMoments(product, Gate(weights, bias, 0.0, 2.0), 10_000)
    for row in x:
        gated.take([row[None]])
    made = x @ weights.T + bias
    for output in range(4):
        inside = (made[:, output] > 0) & (made[:, output] < 2)
        direct = (x[inside].T @ x[inside] + 0.2 * x[~inside].T @ x[~inside]) / len(x)
        # one sample at a time has no deviation, so that none is near a bound
        np.testing.assert_allclose(gated.second()[output], direct, rtol=1e-3, atol=1e-4)


def test_weights_lose_less_behind_an_activation() -> None:
    """Of a layer that reads what another activation gives, a bias taking up its mean error."""
    gains, spec = [], Spec(bits=3, symmetric=True, per_channel=True, narrow_range=True)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        weights, mixing = rng.normal(0, 1, (8, 24)).astype(np.float32), rng.normal(0, 0.2, (24, 24))
        x, test = (np.maximum(rng.normal(0, 1, (800, 24)) @ mixing, 0).astype(np.float32) for _ in range(2))
        product, real = product_of(CASES["gemm"], weights), x @ weights.T
        bias = -real.mean(axis=0) - real.std(axis=0)
        errors = []
        for moments in (Moments(product, 800), GatedMoments(product, Gate(weights, bias, 0.0, np.inf), 800)):
            moments.take([x])
            held = solved(weights, spec, moments, centred=0.95)
            made = Dequantize(held.stored).evaluate([held.data])[0]
            moved = bias + (real - x @ made.T).mean(axis=0)
            away = np.maximum(test @ made.T + moved, 0) - np.maximum(test @ weights.T + bias, 0)
            errors.append(float((away**2).sum()))
        gains.append(10 * np.log10(errors[0] / errors[1]))
    assert np.mean(gains) > 0.2


def test_layers_that_are_too_large_have_none() -> None:
    small = product_of(CASES["gemm"], np.zeros((4, 5), np.float32))
    assert results_of(small, 100, 256) == 256
    wide = product_of(CASES["gemm"], np.zeros((512, 512), np.float32))
    assert results_of(wide, 100, 256) == 0
    middle = product_of(CASES["gemm"], np.zeros((100, 400), np.float32))
    assert 0 < results_of(middle, 100, 256) < 256
