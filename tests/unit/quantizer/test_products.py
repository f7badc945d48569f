"""Layers as matrix products, against the layers themselves as the float engine computes them."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.ir.shape import Window
from codegen.quantizer.moments import Moments, parts_of
from codegen.quantizer.products import Product
from codegen.real.window import Conv, ConvTranspose
from tests.support.products import CASES, Case, product_of


def expected_results(case: Case, product: Product, x: Array, weights: Array) -> Array:
    """The layer's own results as [groups, samples, outputs]."""
    y = case[0].evaluate([weights, x] if case[3] == 0 else [x, weights])[0]
    y = np.moveaxis(y, product.out_axis, -1)
    if isinstance(case[0], Conv | ConvTranspose):
        return np.moveaxis(y.reshape(-1, product.groups, y.shape[-1] // product.groups), 1, 0)
    return y.reshape(product.groups, -1, y.shape[-1])


@pytest.mark.parametrize("name", CASES)
def test_a_layer_is_the_product_of_its_matrix_and_its_samples(name: str) -> None:
    case = CASES[name]
    random = np.random.default_rng(1)
    x = random.integers(-9, 9, case[1]).astype(np.float32)
    weights = random.integers(-9, 9, case[2]).astype(np.float32)
    product = product_of(case, weights)
    matrix, samples = product.matrix(weights), product.samples(x, product.places(x.shape, 10**6, random))
    np.testing.assert_array_equal(samples @ np.swapaxes(matrix, 1, 2), expected_results(case, product, x, weights))
    np.testing.assert_array_equal(product.weights(matrix), weights)


@pytest.mark.parametrize("name", CASES)
def test_results_are_taken_where_samples_are(name: str) -> None:
    case = CASES[name]
    random = np.random.default_rng(1)
    x = random.integers(-9, 9, case[1]).astype(np.float32)
    weights = random.integers(-9, 9, case[2]).astype(np.float32)
    product = product_of(case, weights)
    made = case[0].evaluate([weights, x] if case[3] == 0 else [x, weights])[0]
    places = product.places(x.shape, 3, np.random.default_rng(2))
    samples, found = product.samples(x, places), product.results(made, places)
    np.testing.assert_array_equal(samples @ np.swapaxes(product.matrix(weights), 1, 2), found)


@pytest.mark.parametrize("name", CASES)
def test_the_axis_of_outputs_is_that_of_scales(name: str) -> None:
    case = CASES[name]
    weights = np.random.default_rng(2).normal(size=case[2])
    product = product_of(case, weights)
    shape = [1] * weights.ndim
    shape[product.axis] = -1
    numbers = np.broadcast_to(np.arange(case[2][product.axis]).reshape(shape), case[2])
    rows = product.matrix(numbers)
    assert (rows == rows[..., :1]).all()


@pytest.mark.parametrize("name", CASES)
def test_moments_are_those_of_the_samples(name: str) -> None:
    case = CASES[name]
    random = np.random.default_rng(3)
    weights = random.normal(size=case[2]).astype(np.float32)
    product = product_of(case, weights)
    moments, seen = Moments(product, results=10**6), []
    for _ in range(5):
        x = random.normal(1, 2, case[1]).astype(np.float32)
        moments.take([x])
        seen.append(product.samples(x, product.places(x.shape, 10**6, random)).astype(np.float64))
    samples = np.concatenate(seen, axis=1)
    mean = samples.mean(axis=1)
    second = np.swapaxes(samples, 1, 2) @ samples / samples.shape[1]
    np.testing.assert_allclose(moments.mean, mean, atol=1e-5)
    np.testing.assert_allclose(moments.second(), second, atol=1e-4)
    np.testing.assert_allclose(moments.second(1.0), second - mean[:, :, None] * mean[:, None, :], atol=1e-4)
    likely, terms = moments.likely(), second.shape[-1]
    alone = np.eye(terms, dtype=bool)
    np.testing.assert_allclose(likely[:, alone], second[:, alone], atol=1e-4)
    share = moments.count / (moments.count + terms)
    np.testing.assert_allclose(likely[:, ~alone], share * second[:, ~alone], atol=1e-4)


def test_results_are_chosen_at_random_and_the_same_every_time() -> None:
    case = CASES["conv"]
    random = np.random.default_rng(4)
    product = product_of(case, random.normal(size=case[2]))
    x = random.normal(size=case[1]).astype(np.float32)
    some, again, other = (Moments(product, results=7, seed=s) for s in (5, 5, 6))
    for moments in (some, again, other):
        moments.take([x])
    assert some.count == 14
    np.testing.assert_array_equal(some.second(), again.second())
    assert (some.second() != other.second()).any()


def test_many_terms_are_cut_into_parts() -> None:
    assert [parts_of(n, 8) for n in (0, 1, 8, 9, 16, 17, 24)] == [1, 1, 1, 3, 2, 17, 3]
    case: Case = (Conv((Window(3),) * 2), (1, 300, 3, 3), (4, 300, 3, 3), 1)
    weights = np.random.default_rng(5).normal(size=case[2])
    moments = Moments(product_of(case, weights))
    moments.take([np.ones(case[1], np.float32)])
    assert moments.parts == 2
    assert moments.second().shape == (2, 1350, 1350)
    np.testing.assert_array_equal(moments.weights(moments.rows(weights)), weights)
