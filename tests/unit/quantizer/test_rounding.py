"""Rounding as an optimisation, against every choice there is where these are few."""

from __future__ import annotations

from dataclasses import replace
from itertools import product as pairs

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.quantizer.rounding import Grid, Problem, descended, fed_back, rescaled


def problem_of(seed: int, outputs: int = 4, terms: int = 6, groups: int = 1, bits: int = 4) -> tuple[Problem, Grid]:
    """A problem with inputs that depend on each other, and its grid, of which each output has a zero of its own."""
    random = np.random.default_rng(seed)
    mixed = random.normal(size=(groups, 300, terms)) @ random.normal(size=(groups, terms, terms))
    x = np.maximum(mixed + random.normal(size=(groups, 1, terms)), 0)
    weights = random.normal(size=(groups, outputs, terms))
    most = (1 << (bits - 1)) - 1
    steps = np.abs(weights).max(axis=-1, keepdims=True) / most
    sharing = np.arange(groups * outputs).reshape(groups, outputs)
    zero = random.integers(-1, 2, (groups, outputs, 1))
    return Problem(weights, np.swapaxes(x, 1, 2) @ x / 300, sharing), Grid(steps, -most - 1 - zero, most - zero)


def moved_along(grid: Grid, factor: float) -> Grid:
    """The same integers, of other steps."""
    return Grid(grid.steps * factor, grid.low, grid.high)


def least_of_all(problem: Problem, grid: Grid) -> Array:
    """The least loss over the integers on both sides of each weight, all of them tried."""
    floor = np.floor(problem.weights / grid.steps)
    least = np.full(problem.weights.shape[:2], np.inf)
    for ups in pairs((0, 1), repeat=problem.weights.shape[-1]):
        integers = grid.held(floor + np.array(ups))
        least = np.minimum(least, problem.loss(integers, grid))
    return least


def test_loss_is_the_squared_error_of_the_results() -> None:
    random = np.random.default_rng(0)
    x, weights, integers = random.normal(size=(50, 5)), random.normal(size=(3, 5)), random.integers(-4, 4, (3, 5))
    problem = Problem(weights[None], (x.T @ x)[None] / 50, np.arange(3)[None])
    grid = Grid(np.full((1, 3, 1), 0.3), np.full((1, 3, 1), -8), np.full((1, 3, 1), 7))
    expected = ((x @ (weights - 0.3 * integers).T) ** 2).mean(axis=0)
    np.testing.assert_allclose(problem.loss(integers[None], grid)[0], expected)


@pytest.mark.parametrize("terms", [2, 4, 6, 8, 10])
def test_descent_ends_where_no_single_step_gains_and_near_the_best_of_all_choices(terms: int) -> None:
    ratios = []
    for seed in range(8):
        problem, grid = problem_of(seed, terms=terms)
        found = descended(problem, grid, fed_back(problem, grid))
        loss = problem.loss(found, grid)
        for j, move in pairs(range(terms), (-1, 1)):
            moved = found.copy()
            moved = grid.held(moved + move * (np.arange(terms) == j))
            assert (problem.loss(moved, grid) >= loss - 1e-9).all()
        ratios.append(loss.sum() / least_of_all(problem, grid).sum())
    assert np.mean(ratios) < 1.25


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_descent_is_never_worse_than_where_it_starts(bits: int) -> None:
    for seed in range(10):
        problem, grid = problem_of(seed, outputs=8, terms=150, bits=bits)
        nearest, fed = problem.nearest(grid), fed_back(problem, grid)
        for start in (nearest, fed):
            found = descended(problem, grid, start)
            assert (problem.loss(found, grid) <= problem.loss(start, grid) * (1 + 1e-9)).all()
            np.testing.assert_array_equal(grid.held(found), found)


def test_feedback_is_that_of_one_term_after_the_other_with_the_inverse_updated_each_time() -> None:
    for seed in range(10):
        problem, grid = problem_of(seed, terms=9)
        np.testing.assert_array_equal(fed_back(problem, grid), plain_feedback(problem, grid))


def plain_feedback(problem: Problem, grid: Grid) -> Array:
    """Optimal Brain Compression as it is written: after each term, the inverse moments of those that are left."""
    weights, moments = problem.weights[0].copy(), problem.moments[0]
    diagonal = np.diag(moments)
    inverse = np.linalg.inv(moments + 0.01 * diagonal.mean() * np.eye(len(moments)))
    integers = np.zeros_like(weights)
    for j in np.argsort(-diagonal, kind="stable"):
        integers[:, j] = grid.at((0, slice(None), 0)).held(np.rint(weights[:, j] / grid.steps[0, :, 0]))
        error = (weights[:, j] - integers[:, j] * grid.steps[0, :, 0]) / inverse[j, j]
        weights -= error[:, None] * inverse[j]
        inverse = inverse - np.outer(inverse[:, j], inverse[j]) / inverse[j, j]
    return integers[None]


def test_feedback_and_descent_gain_on_inputs_that_depend_on_each_other() -> None:
    gains = []
    for seed in range(10):
        problem, grid = problem_of(seed, outputs=16, terms=100)
        nearest, fed = (problem.loss(q, grid).sum() for q in (problem.nearest(grid), fed_back(problem, grid)))
        found = problem.loss(descended(problem, grid, fed_back(problem, grid)), grid).sum()
        assert fed < nearest
        gains.append((nearest / fed, fed / found))
    assert np.mean(gains, axis=0)[0] > 2


def test_groups_are_searched_each_as_if_it_were_alone() -> None:
    problem, grid = problem_of(3, outputs=1, terms=9, groups=12)
    together = descended(problem, grid, fed_back(problem, grid))
    for g in range(12):
        one = Problem(problem.weights[g : g + 1], problem.moments[g : g + 1], np.zeros((1, 1), int))
        alone = descended(one, grid.at(slice(g, g + 1)), fed_back(one, grid.at(slice(g, g + 1))))
        np.testing.assert_array_equal(together[g], alone[0])


def test_rescaled_steps_are_the_least_of_any() -> None:
    problem, grid = problem_of(5)
    integers = problem.nearest(grid)
    found = replace(grid, steps=rescaled(problem, integers, grid))
    for factor in (0.99, 1.01):
        assert (problem.loss(integers, moved_along(found, factor)) >= problem.loss(integers, found)).all()
    shared = Problem(problem.weights, problem.moments, np.zeros((1, 4), int))
    one = replace(grid, steps=rescaled(shared, integers, grid))
    assert np.ptp(one.steps) == 0
    for factor in (0.99, 1.01):
        assert problem.loss(integers, moved_along(one, factor)).sum() >= problem.loss(integers, one).sum()


def test_terms_that_are_never_given_anything_stay_the_nearest() -> None:
    problem, grid = problem_of(7)
    moments = problem.moments.copy()
    moments[:, 2, :] = moments[:, :, 2] = 0
    quiet = Problem(problem.weights, moments, problem.sharing)
    found = descended(quiet, grid, quiet.nearest(grid))
    np.testing.assert_array_equal(found[..., 2], quiet.nearest(grid)[..., 2])
    none = Problem(problem.weights, 0 * moments, problem.sharing)
    np.testing.assert_array_equal(fed_back(none, grid), none.nearest(grid))
