"""Rounding of weights as an optimisation: the integers q of least (w - s q)' H (w - s q), H the inputs' second moments.

Decides: how the search goes.  Everything is done for all outputs of all groups at once: weights and integers are
[groups, outputs, terms], moments [groups, terms, terms], grids broadcast against the weights.  Integers are less their
zero point here.
Sources: E. Frantar and others, Optimal Brain Compression (arXiv 2208.11580) and GPTQ (arXiv 2210.17323), for the error
that later terms make up for; K. Behdin and others, QuantEase (arXiv 2309.01885), for descent along coordinates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.shape import Shape
from codegen.quantizer.spec import Rounding
from codegen.quantizer.weights import rounded
from codegen.records import record

_BLOCK = 64
"""Terms that are gone through before what they change is carried to all the others, as one matrix product."""
_AT_ONCE = 1 << 20
"""Numbers of moments whose inverses are in memory together, but for a group that has more."""
_NEARLY = 1 - 1e-9
"""What rounding may make of a slope that is just beyond half a step."""
_BEYOND_HALF = 0.5 + 1e-9
"""A step to the next integer is taken where it gains something, not where both are alike."""


@record(eq=False)
class Grid:
    """What weights may become: whole numbers of steps from `low` to `high`, of one term where they do not vary."""

    steps: Array
    low: Array
    high: Array

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """What it is made of."""
        return self.steps, self.low, self.high

    def at(self, index: Any) -> Grid:
        """The grid of some of the weights that it is broadcast against."""
        return Grid(*(a[index] for a in self.parts))

    def wide(self, shape: Shape) -> Grid:
        """The same for each weight."""
        return Grid(*(np.broadcast_to(a, shape) for a in self.parts))

    def held(self, wanted: Array) -> Array:
        """The nearest of its whole numbers."""
        return np.asarray(np.minimum(np.maximum(wanted, self.low), self.high))


@record(eq=False)
class Problem:
    """Real weights, and what their errors cost together.

    `sharing` numbers the outputs, [groups, outputs]: those of one number share their scale.
    """

    weights: Array
    moments: Array
    sharing: Array
    rounding: Rounding = "half_even"

    def shared(self, sizes: Array) -> Array:
        """The sum over all outputs that share a scale, for each of them."""
        return np.asarray(np.bincount(self.sharing.reshape(-1), sizes.reshape(-1))[self.sharing])

    def loss(self, integers: Array, grid: Grid) -> Array:
        """The squared error of each output: [groups, outputs]."""
        error = self.weights - integers * grid.steps
        return np.asarray(((error @ self.moments) * error).sum(axis=-1))

    def nearest(self, grid: Grid) -> Array:
        """Each weight rounded for itself."""
        return grid.held(rounded(self.weights / grid.steps, self.rounding))


def fed_back(problem: Problem, grid: Grid, damping: float = 0.01) -> Array:
    """Integers of one term after the other, the terms that are left making up for the error so far.

    The terms of greatest moments come first; `damping` times the mean moment is added to each.  Groups, which have
    nothing to do with each other, are gone through some at a time: matrices of all of them would take several times
    the memory of the moments.
    """
    groups, terms = len(problem.moments), problem.moments.shape[-1]
    together = max(1, _AT_ONCE // max(terms * terms, 1))
    wide = grid.wide(problem.weights.shape)
    parts = [slice(at, at + together) for at in range(0, groups, together)]
    found = [
        _fed_back(replace(problem, weights=problem.weights[p], moments=problem.moments[p]), wide.at(p), damping)
        for p in parts
    ]
    return np.concatenate(found) if found else np.empty_like(problem.weights)


def _fed_back(problem: Problem, grid: Grid, damping: float) -> Array:
    """Integers of some groups."""
    diagonal = np.diagonal(problem.moments, axis1=-2, axis2=-1)
    order = np.argsort(-diagonal, axis=-1, kind="stable")
    damped = _damped(problem.moments, diagonal, damping)
    damped = np.take_along_axis(np.take_along_axis(damped, order[:, :, None], 1), order[:, None, :], 2)
    carried = np.swapaxes(np.linalg.cholesky(np.linalg.inv(damped)), -1, -2)
    everywhere = np.broadcast_to(order[:, None, :], problem.weights.shape)
    weights, *ordered = (np.take_along_axis(a, everywhere, 2) for a in (problem.weights, *grid.parts))
    found = _carry_errors(weights, Grid(*ordered), carried)
    integers = np.empty_like(found)
    np.put_along_axis(integers, everywhere, found, 2)
    return integers


def _damped(moments: Array, diagonal: Array, damping: float) -> Array:
    mean = diagonal.mean(axis=-1)
    added = np.where(mean > 0, damping * mean, 1.0)
    return np.asarray(moments + added[:, None, None] * np.eye(moments.shape[-1]))


def _carry_errors(weights: Array, grid: Grid, carried: Array) -> Array:
    """Rounds term by term, in place of the weights that later terms are changed from."""
    terms = weights.shape[-1]
    integers = np.empty_like(weights)
    for start in range(0, terms, _BLOCK):
        block = slice(start, min(start + _BLOCK, terms))
        errors = np.empty_like(weights[..., block])
        for j in range(block.start, block.stop):
            here = grid.at((..., j))
            integers[..., j] = here.held(np.rint(weights[..., j] / here.steps))
            error = (weights[..., j] - integers[..., j] * here.steps) / carried[:, j, j, None]
            weights[..., j : block.stop] -= error[..., None] * carried[:, None, j, j : block.stop]
            errors[..., j - start] = error
        weights[..., block.stop :] -= errors @ carried[:, block, block.stop :]
    return integers


def descended(problem: Problem, grid: Grid, integers: Array, sweeps: int = 20) -> Array:
    """Integers that no change of a single one makes better, or those after so many sweeps over all terms.

    Outputs have nothing to do with each other here: those that a sweep leaves alone are done.
    """
    integers, grid = integers.copy(), grid.wide(integers.shape)
    slope = (integers * grid.steps - problem.weights) @ problem.moments
    groups, outputs = (np.arange(count) for count in integers.shape[:2])
    for _ in range(sweeps):
        left = np.ix_(groups, outputs)
        found, here = integers[left], slope[left]
        moved = _swept(_some(problem, groups), grid.at(left), found, here)
        integers[left], slope[left] = found, here
        groups, outputs = groups[moved.any(axis=1)], outputs[moved.any(axis=0)]
        if not groups.size:
            break
    return integers


def _some(problem: Problem, groups: Array) -> Problem:
    """The problem with the moments of some groups, in their order."""
    return problem if len(groups) == len(problem.moments) else replace(problem, moments=problem.moments[groups])


def _swept(problem: Problem, grid: Grid, integers: Array, slope: Array) -> Array:
    """Sets each integer to the best one given the others; says which outputs have changed: [groups, outputs]."""
    terms, changed = integers.shape[-1], np.zeros(integers.shape[:2], bool)
    curvatures = np.diagonal(problem.moments, axis1=-2, axis2=-1)[:, None, :]
    limits = np.where(curvatures > 0, _NEARLY * _BEYOND_HALF * curvatures, np.inf)
    for start in range(0, terms, _BLOCK):
        block = slice(start, min(start + _BLOCK, terms))
        cut = (..., block)
        moves = _moved(problem, grid.at(cut), integers[cut], slope[cut], limits[cut], start)
        moved = moves.any(axis=-1)
        hit = np.flatnonzero(moved.any(axis=0))
        if hit.size:
            slope[:, hit] += moves[:, hit] @ problem.moments[:, block]
            changed |= moved
    return changed


def _moved(problem: Problem, grid: Grid, integers: Array, slope: Array, limits: Array, start: int) -> Array:
    """How far the weights of some terms go, from `start` on, in steps' sizes; their integers are set.

    Terms come first here, for one is looked at in all rows, an output of a group each.
    """
    groups, outputs, terms = slope.shape
    local, limit = _by_term(slope), _by_term(grid.steps * limits)
    moves = np.zeros_like(local)
    for at in range(terms):
        rows = np.flatnonzero(np.abs(local[at]) > limit[at])
        if not rows.size:
            continue
        group, output = np.divmod(rows, outputs)
        j, here, held = start + at, grid.at((group, output, at)), integers[group, output, at]
        move = _move(here, held, local[at, rows], problem.moments[group, j, j])
        integers[group, output, at] = held + move
        moves[at, rows] = move * here.steps
        if at + 1 < terms and move.any():
            coming = problem.moments[:, j, j + 1 : start + terms].T
            local[at + 1 :, rows] += moves[at, rows] * (coming if groups == 1 else coming[:, group])
    return np.array(moves.reshape(terms, groups, outputs).transpose(1, 2, 0), order="C")


def _by_term(array: Array) -> Array:
    """[terms, groups * outputs] of [groups, outputs, terms], a copy."""
    return np.array(array.reshape(-1, array.shape[-1]).T, order="C")


def _move(grid: Grid, integers: Array, slope: Array, curvature: Array) -> Array:
    """How far each integer is from its best value while the others stay; curvatures are above zero."""
    wanted = -slope / (grid.steps * curvature)
    wanted = np.where(np.abs(wanted) > _BEYOND_HALF, np.rint(wanted), 0.0)
    return np.asarray(grid.held(integers + wanted) - integers)


def rescaled(problem: Problem, integers: Array, grid: Grid) -> Array:
    """The steps of least error for these integers, one for all outputs that share one; steps do not vary by term."""
    moved = integers @ problem.moments
    along = problem.shared((moved * problem.weights).sum(axis=-1))
    square = problem.shared((moved * integers).sum(axis=-1))
    known = (square > 0) & (along > 0)
    return np.where(known, along / np.where(known, square, 1.0), grid.steps[..., 0])[..., None]
