"""The integers of one layer's weights, by as much effort as is asked for.

Decides: which searches are tried, and that outputs which share a scale get the best that was found for them; rounding
each number for itself, with scales that span the numbers, is always among it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Literal

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import Stored
from codegen.quantizer.moments import Moments
from codegen.quantizer.rounding import Grid, Problem, descended, fed_back, rescaled
from codegen.quantizer.scheme import Weight
from codegen.quantizer.spec import Spec
from codegen.quantizer.weights import stored_weights
from codegen.records import record
from codegen.threads import each

Effort = Literal["nearest", "search", "feedback", "descent"]
"""Each for itself; scales searched; errors fed back into later terms; descent, scales and integers in turns."""

_TURNS = 3
_SIDE_BY_SIDE = 1 << 21
"""Numbers of a layer's moments with which two searches go on at once; each holds as many again."""


@record(eq=False)
class Found:
    """Integers less their zero point as [groups, outputs, terms], and the grid that they are of.

    `loss` is what each output loses by them, [groups, outputs], with all that share its scale.
    """

    integers: Array
    grid: Grid
    loss: Array


def solved(
    weights: Array,
    spec: Spec,
    moments: Moments,
    *,
    effort: Effort = "descent",
    centred: float = 0.0,
    floor: Array | float = 0.0,
) -> Weight:
    """The constant of a layer with known inputs: integers and scales of least error of its results."""
    return _Solving(weights, spec, moments, centred, floor).best(effort)


class _Solving:
    def __init__(self, weights: Array, spec: Spec, moments: Moments, centred: float, floor: Array | float) -> None:
        self._weights, self._spec, self._moments, self._floor = weights, spec, moments, floor
        self._axis = moments.product.axis
        self._plain = stored_weights(weights, spec, self._axis, floor=floor)
        rows = moments.rows(weights).astype(np.float64)
        self.problem = Problem(rows, moments.likely(centred), self._sharing(), spec.rounding)
        self._least = self._least_steps()

    def best(self, effort: Effort) -> Weight:
        """The best that is found for outputs of each scale."""
        begun = [self._plain]
        if effort != "nearest":
            importance = self._importance()
            begun.append(
                stored_weights(self._weights, self._spec, self._axis, importance=importance, floor=self._floor)
            )
        return self._weight(reduce(self._better, self._searched(begun, effort)))

    def _searched(self, begun: Sequence[Stored], effort: Effort) -> Iterable[Found]:
        """The best that each beginning leads to; side by side where moments leave room for two searches."""
        search = partial(self._search, effort=effort)
        return each(search, begun) if self.problem.moments.size <= _SIDE_BY_SIDE else map(search, begun)

    def _search(self, stored: Stored, effort: Effort) -> Found:
        return reduce(self._better, self._tried(self._grid(stored), effort))

    @staticmethod
    def _better(best: Found, found: Found) -> Found:
        """Of two, the one of less loss for the outputs of each scale; the first where both lose the same."""
        better = found.loss < best.loss
        whole, loss = better[..., None], np.where(better, found.loss, best.loss)
        grid = Grid(*(np.where(whole, *pair) for pair in zip(found.grid.parts, best.grid.parts, strict=True)))
        return Found(np.where(whole, found.integers, best.integers), grid, loss)

    def _tried(self, grid: Grid, effort: Effort) -> Iterator[Found]:
        """What is found where a search begins with a grid."""
        yield self._found(self.problem.nearest(grid), grid)
        if effort in ("feedback", "descent"):
            fed = self._found(fed_back(self.problem, grid), grid)
            yield fed
            if effort == "descent":
                yield from self._turns(fed)

    def _turns(self, found: Found) -> Iterator[Found]:
        """Integers and scales in turns."""
        for _ in range(_TURNS):
            found = self._found(descended(self.problem, found.grid, found.integers), found.grid)
            yield found
            if self._spec.pot or self._spec.group or self._spec.scales:
                return
            steps = np.maximum(rescaled(self.problem, found.integers, found.grid), self._least)
            grid = replace(found.grid, steps=steps.astype(np.float32).astype(np.float64))
            found = self._found(found.integers, grid)
            yield found

    def _found(self, integers: Array, grid: Grid) -> Found:
        return Found(integers, grid, self.problem.shared(self.problem.loss(integers, grid)))

    def _importance(self) -> Array:
        """How much each weight's error counts alone."""
        diagonal = np.diagonal(self.problem.moments, axis1=-2, axis2=-1)[:, None, :]
        return self._moments.weights(np.broadcast_to(diagonal, self.problem.weights.shape))

    def _along_outputs(self, sizes: Array) -> Array:
        """One number per output, in the weights' shape."""
        shape = [1] * self._weights.ndim
        shape[self._axis] = -1
        return np.broadcast_to(sizes.reshape(shape), self._weights.shape)

    def _sharing(self) -> Array:
        outputs = self._weights.shape[self._axis]
        one_each = self._spec.per_channel or self._spec.group
        numbers = np.arange(outputs) if one_each else np.zeros(outputs, np.int64)
        return self._moments.rows(self._along_outputs(numbers))[..., 0]

    def _least_steps(self) -> Array:
        """The floor of each output's steps: of all that share one, the greatest."""
        floor = np.broadcast_to(np.asarray(self._floor, np.float64), self._weights.shape[self._axis])
        floor = floor if self._spec.per_channel else np.full(floor.shape, floor.max(initial=0.0))
        return self._moments.rows(self._along_outputs(floor))[..., :1]

    def _grid(self, stored: Stored) -> Grid:
        """The grid as [groups, outputs, terms], of one term where it does not vary."""
        steps, zero = (
            self._moments.rows(np.broadcast_to(part, self._weights.shape)).astype(np.float64)[
                ..., : None if self._spec.group else 1
            ]
            for part in stored.spread(self._weights.shape)
        )
        return Grid(steps, self._spec.least - zero, self._spec.greatest - zero)

    def _weight(self, found: Found) -> Weight:
        zero = self._spec.least - found.grid.low
        scale, zeros = self._of_each(found.grid.steps, np.float32), self._of_each(zero, np.int64)
        stored = replace(self._plain, scale=scale, zero_point=zeros)
        return Weight(self._moments.weights(found.integers + zero).astype(stored.dtype), stored)

    def _of_each(self, rows: Array, dtype: type[np.generic]) -> Array:
        """What a grid says of each weight, as a Stored has it."""
        made = np.empty(self._plain.scale.shape, dtype)
        if self._spec.group:
            everywhere = self._moments.weights(np.broadcast_to(rows, self.problem.weights.shape))
            terms = self._plain.axis or 0
            made[...] = everywhere.take(range(0, everywhere.shape[terms], self._spec.group), terms)
        else:
            made.reshape(-1)[self.problem.sharing] = rows[..., 0]
        return made
