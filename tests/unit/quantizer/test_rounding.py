"""Rounding as an optimisation, against every choice there is where these are few."""

from __future__ import annotations

from itertools import product as pairs

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.quantizer.rounding import Problem, descended, fed_back, rescaled


def problem_of(seed: int, outputs: int = 4, terms: int = 6, groups: int = 1, bits: int = 4) -> tuple[Problem, Array]:
    """A problem with inputs that depend on each other, and its steps."""
    random = np.random.default_rng(seed)
    mixed = random.normal(size=(groups, 300, terms)) @ random.normal(size=(groups, terms, terms))
    x = np.maximum(mixed + random.normal(size=(groups, 1, terms)), 0)
    weights = random.normal(size=(groups, outputs, terms))
    most = (1 << (bits - 1)) - 1
    steps = np.abs(weights).max(axis=-1, keepdims=True) / most
    sharing = np.arange(groups * outputs).reshape(groups, outputs)
    return Problem(weights, np.swapaxes(x, 1, 2) @ x / 300, sharing, -most - 1, most), steps


def least_of_all(problem: Problem, steps: Array) -> Array:
    """The least loss over the integers on both sides of each weight, all of them tried."""
    floor = np.floor(problem.weights / steps)
    least = np.full(problem.weights.shape[:2], np.inf)
    for ups in pairs((0, 1), repeat=problem.weights.shape[-1]):
        integers = np.clip(floor + np.array(ups), problem.low, problem.high)
        least = np.minimum(least, problem.loss(integers, steps))
    return least


def test_loss_is_the_squared_error_of_the_results() -> None:
    random = np.random.default_rng(0)
    x, weights, integers = random.normal(size=(50, 5)), random.normal(size=(3, 5)), random.integers(-4, 4, (3, 5))
    problem = Problem(weights[None], (x.T @ x)[None] / 50, np.arange(3)[None], -8, 7)
    expected = ((x @ (weights - 0.3 * integers).T) ** 2).mean(axis=0)
    np.testing.assert_allclose(problem.loss(integers[None], np.full((1, 3, 1), 0.3))[0], expected)


@pytest.mark.parametrize("terms", [2, 4, 6, 8, 10])
def test_descent_ends_where_no_single_step_gains_and_near_the_best_of_all_choices(terms: int) -> None:
    ratios = []
    for seed in range(8):
        problem, steps = problem_of(seed, terms=terms)
        found = descended(problem, steps, fed_back(problem, steps))
        loss = problem.loss(found, steps)
        for j, move in pairs(range(terms), (-1, 1)):
            moved = found.copy()
            moved[..., j] = np.clip(moved[..., j] + move, problem.low, problem.high)
            assert (problem.loss(moved, steps) >= loss - 1e-9).all()
        ratios.append(loss.sum() / least_of_all(problem, steps).sum())
    assert np.mean(ratios) < 1.25


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_descent_is_never_worse_than_where_it_starts(bits: int) -> None:
    for seed in range(10):
        problem, steps = problem_of(seed, outputs=8, terms=150, bits=bits)
        nearest, fed = problem.nearest(steps), fed_back(problem, steps)
        for start in (nearest, fed):
            found = descended(problem, steps, start)
            assert (problem.loss(found, steps) <= problem.loss(start, steps) * (1 + 1e-9)).all()
            assert found.min() >= problem.low
            assert found.max() <= problem.high


def test_feedback_is_that_of_one_term_after_the_other_with_the_inverse_updated_each_time() -> None:
    for seed in range(10):
        problem, steps = problem_of(seed, terms=9)
        np.testing.assert_array_equal(fed_back(problem, steps), plain_feedback(problem, steps))


def plain_feedback(problem: Problem, steps: Array) -> Array:
    """Optimal Brain Compression as it is written: after each term, the inverse moments of those that are left."""
    weights, moments = problem.weights[0].copy(), problem.moments[0]
    diagonal = np.diag(moments)
    inverse = np.linalg.inv(moments + 0.01 * diagonal.mean() * np.eye(len(moments)))
    integers = np.zeros_like(weights)
    for j in np.argsort(-diagonal, kind="stable"):
        integers[:, j] = np.clip(np.rint(weights[:, j] / steps[0, :, 0]), problem.low, problem.high)
        error = (weights[:, j] - integers[:, j] * steps[0, :, 0]) / inverse[j, j]
        weights -= error[:, None] * inverse[j]
        inverse = inverse - np.outer(inverse[:, j], inverse[j]) / inverse[j, j]
    return integers[None]


def test_feedback_and_descent_gain_on_inputs_that_depend_on_each_other() -> None:
    gains = []
    for seed in range(10):
        problem, steps = problem_of(seed, outputs=16, terms=100)
        nearest, fed = (problem.loss(q, steps).sum() for q in (problem.nearest(steps), fed_back(problem, steps)))
        found = problem.loss(descended(problem, steps, fed_back(problem, steps)), steps).sum()
        assert fed < nearest
        gains.append((nearest / fed, fed / found))
    assert np.mean(gains, axis=0)[0] > 2


def test_groups_are_searched_each_as_if_it_were_alone() -> None:
    problem, steps = problem_of(3, outputs=1, terms=9, groups=12)
    together = descended(problem, steps, fed_back(problem, steps))
    for g in range(12):
        one = Problem(problem.weights[g : g + 1], problem.moments[g : g + 1], np.zeros((1, 1), int), -8, 7)
        alone = descended(one, steps[g : g + 1], fed_back(one, steps[g : g + 1]))
        np.testing.assert_array_equal(together[g], alone[0])


def test_rescaled_steps_are_the_least_of_any() -> None:
    problem, steps = problem_of(5)
    integers = problem.nearest(steps)
    found = rescaled(problem, integers, steps)
    for factor in (0.99, 1.01):
        assert (problem.loss(integers, found * factor) >= problem.loss(integers, found)).all()
    shared = Problem(problem.weights, problem.moments, np.zeros((1, 4), int), problem.low, problem.high)
    one = rescaled(shared, integers, steps)
    assert np.ptp(one) == 0
    for factor in (0.99, 1.01):
        assert problem.loss(integers, one * factor).sum() >= problem.loss(integers, one).sum()


def test_terms_that_are_never_given_anything_stay_the_nearest() -> None:
    problem, steps = problem_of(7)
    moments = problem.moments.copy()
    moments[:, 2, :] = moments[:, :, 2] = 0
    quiet = Problem(problem.weights, moments, problem.sharing, problem.low, problem.high)
    found = descended(quiet, steps, quiet.nearest(steps))
    np.testing.assert_array_equal(found[..., 2], quiet.nearest(steps)[..., 2])
    none = Problem(problem.weights, 0 * moments, problem.sharing, problem.low, problem.high)
    np.testing.assert_array_equal(fed_back(none, steps), none.nearest(steps))
