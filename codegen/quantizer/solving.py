"""The integers of one layer's weights, by as much effort as is asked for.

Decides: which searches are tried, and that outputs which share a scale get the best that was found for them; rounding
each number for itself, with scales that span the numbers, is always among it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Literal

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import Stored
from codegen.quantizer.moments import Moments
from codegen.quantizer.rounding import Problem, descended, fed_back, rescaled
from codegen.quantizer.scheme import Weight
from codegen.quantizer.spec import Spec
from codegen.quantizer.weights import scales, stored_weights
from codegen.records import record
from codegen.threads import each

Effort = Literal["nearest", "search", "feedback", "descent"]
"""Each for itself; scales searched; errors fed back into later terms; descent, scales and integers in turns."""

_TURNS = 3
_SIDE_BY_SIDE = 1 << 21
"""Numbers of a layer's moments with which two searches go on at once; each holds as many again."""


@record(eq=False)
class Found:
    """Integers and steps as [groups, outputs, terms], steps of one term where they do not vary.

    `loss` is what each output loses by them, [groups, outputs], with all that share its scale.
    """

    integers: Array
    steps: Array
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
        self._plain = scales(weights, spec, self._axis, floor=floor)
        rows = moments.rows(weights).astype(np.float64)
        self.problem = Problem(rows, moments.likely(centred), self._sharing(), spec.least, spec.greatest, spec.rounding)
        self._least = self._least_steps()

    def best(self, effort: Effort) -> Weight:
        """The best that is found for outputs of each scale."""
        begun = [self._plain]
        if effort != "nearest":
            importance = self._importance()
            begun.append(scales(self._weights, self._spec, self._axis, importance=importance, floor=self._floor))
        return self._weight(reduce(self._better, self._searched(begun, effort)))

    def _searched(self, begun: Sequence[Array], effort: Effort) -> Iterable[Found]:
        """The best that each beginning leads to; side by side where moments leave room for two searches."""
        search = partial(self._search, effort=effort)
        return each(search, begun) if self.problem.moments.size <= _SIDE_BY_SIDE else map(search, begun)

    def _search(self, scale: Array, effort: Effort) -> Found:
        return reduce(self._better, self._tried(scale, effort))

    @staticmethod
    def _better(best: Found, found: Found) -> Found:
        """Of two, the one of less loss for the outputs of each scale; the first where both lose the same."""
        better = found.loss < best.loss
        whole, loss = better[..., None], np.where(better, found.loss, best.loss)
        return Found(np.where(whole, found.integers, best.integers), np.where(whole, found.steps, best.steps), loss)

    def _tried(self, scale: Array, effort: Effort) -> Iterator[Found]:
        """What is found where a search begins with a scale."""
        steps = self._steps(scale)
        yield self._found(self.problem.nearest(steps), steps)
        if effort in ("feedback", "descent"):
            fed = self._found(fed_back(self.problem, steps), steps)
            yield fed
            if effort == "descent":
                yield from self._turns(fed)

    def _turns(self, found: Found) -> Iterator[Found]:
        """Integers and scales in turns."""
        for _ in range(_TURNS):
            found = self._found(descended(self.problem, found.steps, found.integers), found.steps)
            yield found
            if self._spec.pot or self._spec.group or self._spec.scales:
                return
            steps = np.maximum(rescaled(self.problem, found.integers, found.steps), self._least)
            found = self._found(found.integers, steps.astype(np.float32).astype(np.float64))
            yield found

    def _found(self, integers: Array, steps: Array) -> Found:
        return Found(integers, steps, self.problem.shared(self.problem.loss(integers, steps)))

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

    def _steps(self, scale: Array) -> Array:
        """Steps [groups, outputs, terms], of one term where they do not vary."""
        spread = self._stored(scale).spread(self._weights.shape)[0]
        rows = self._moments.rows(np.broadcast_to(spread, self._weights.shape)).astype(np.float64)
        return rows if self._spec.group else rows[..., :1]

    def _stored(self, scale: Array) -> Stored:
        return stored_weights(scale, self._spec, self._axis, self._weights.ndim)

    def _weight(self, found: Found) -> Weight:
        data = self._moments.weights(found.integers)
        scale = np.empty(self._plain.shape, np.float32)
        if self._spec.group:
            everywhere = self._moments.weights(np.broadcast_to(found.steps, found.integers.shape))
            terms = self._stored(self._plain).axis
            scale[...] = everywhere.take(range(0, everywhere.shape[terms or 0], self._spec.group), terms)
        else:
            scale.reshape(-1)[self.problem.sharing] = found.steps[..., 0]
        stored = self._stored(scale)
        return Weight(data.astype(stored.dtype), stored)
