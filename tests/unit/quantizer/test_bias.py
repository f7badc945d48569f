"""Biases: one for each product, and the mean errors that they take up."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.quantizer.bias import expected_error, mean_error, passing_error, with_biases
from codegen.quantizer.moments import Moments
from codegen.quantizer.products import products
from codegen.quantizer.rewrite.fold import fold_affine
from tests.support.float_networks import assert_same, random_network
from tests.support.products import CASES, product_of


@pytest.mark.parametrize("seed", range(12))
def test_every_product_gets_a_bias_of_its_own_and_computes_what_it_did(seed: int) -> None:
    graph = fold_affine(random_network(seed)).graph
    made, names = with_biases(graph)
    assert_same(graph, made)
    assert len(set(names.values())) == len(names)
    assert names.keys() == {p.node.label for p in products(made)}
    for product in products(made):
        (reader,) = made.readers(names[product.node.label])
        assert reader.label == product.node.label or product.node.outputs[0] in reader.inputs


def test_mean_error_is_along_the_axis_that_is_named() -> None:
    wanted, made = np.arange(24.0).reshape(2, 3, 4), np.zeros((2, 3, 4))
    np.testing.assert_allclose(mean_error(wanted, made, 1), wanted.mean(axis=(0, 2)))
    np.testing.assert_allclose(mean_error(wanted, made, -1), wanted.mean(axis=(0, 1)))


@pytest.mark.parametrize("name", [n for n in CASES if "left" not in n and n != "matrices"])
def test_the_expected_error_is_the_mean_of_what_was_measured(name: str) -> None:
    op, shape, weights_shape, _ = CASES[name]
    random = np.random.default_rng(3)
    weights = random.normal(size=weights_shape).astype(np.float32)
    held = weights + random.normal(0, 0.1, weights_shape).astype(np.float32)
    product = product_of(CASES[name], weights)
    moments, errors = Moments(product, results=10**6), []
    for _ in range(4):
        x = random.normal(1, 1, shape).astype(np.float32)
        moments.take([x])
        errors.append(mean_error(op.evaluate([x, weights])[0], op.evaluate([x, held])[0], product.out_axis))
    np.testing.assert_allclose(expected_error(moments, weights, held), np.mean(errors, axis=0), atol=1e-4)


@pytest.mark.parametrize("shape", [(40, 3, 5, 7), (2, 300, 20, 20), (9, 4)])
def test_what_gets_through_is_right_on_average(shape: tuple[int, ...]) -> None:
    """Of each channel alone, however many there are; beside numbers that no bound cuts, the mean error."""
    rng = np.random.default_rng(5)
    wanted = rng.normal(1, 1, shape).astype(np.float32)
    made = (wanted + rng.normal(0.3, 0.1, (1, shape[1], *[1] * (len(shape) - 2)))).astype(np.float32)
    lack = passing_error(wanted, made, 1, 0.0, 6.0)
    back = np.clip(made + lack.reshape(1, -1, *[1] * (len(shape) - 2)), 0, 6)
    assert np.abs(mean_error(np.clip(wanted, 0, 6), back, 1)).max() < 1e-3
    free = passing_error(wanted, made, 1, -np.inf, np.inf)
    np.testing.assert_allclose(free, mean_error(wanted, made, 1), atol=1e-4)
