"""One option for each layer: the least loss of all whose costs stay within their limits.

The multiple-choice knapsack, by dynamic programming over what the costs leave of their limits.  Decides: that costs
are counted in their common divisor, and in larger steps, each cost rounded up, where the table would not fit otherwise:
exact in the first case, within the limits in both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.records import record

CELLS = 1 << 18
"""Entries of the table for one layer."""


@record(eq=False)
class Options:
    """Of one layer: the loss of each option, infinite for one that is forbidden, and its costs [option, kind]."""

    losses: Array
    costs: Array


@record
class Choice:
    """An option per layer, and what all of them lose and cost together."""

    options: tuple[int, ...]
    loss: float
    costs: tuple[int, ...]


def least_loss(layers: Sequence[Options], limits: Sequence[int]) -> Choice | None:
    """The best choice within a limit for each kind of cost; None where there is none."""
    table = _Table.of(layers, limits)
    if table is None:
        return None
    found = table.choice(tuple(n - 1 for n in table.shape))
    return found if math.isfinite(found.loss) else None


def front(layers: Sequence[Options], kind: int = 0) -> tuple[Choice, ...]:
    """Every choice that no other one beats in both the loss and one kind of cost, the cheapest first."""
    single = [Options(o.losses, o.costs[:, kind : kind + 1]) for o in layers]
    table = _Table.of(single, [sum(int(o.costs.max()) for o in single)])
    if table is None:
        return ()
    losses = table.losses[-1]
    better = np.flatnonzero(losses < np.concatenate([[np.inf], np.minimum.accumulate(losses)[:-1]]))
    return tuple(_whole(layers, table.choice((int(at),))) for at in better)


def _whole(layers: Sequence[Options], choice: Choice) -> Choice:
    """With the costs of every kind."""
    return Choice(choice.options, choice.loss, _costs(layers, choice.options))


def _costs(layers: Sequence[Options], options: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(c) for c in sum(o.costs[i] for o, i in zip(layers, options, strict=True)))


@record(eq=False)
class _Table:
    """`losses[n]` of the first n layers by what they may cost above the least; `taken[n]` is layer n's option there."""

    layers: Sequence[Options]
    steps: tuple[Array, ...]
    losses: list[Array]
    taken: list[Array]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.losses[0].shape)

    @classmethod
    def of(cls, layers: Sequence[Options], limits: Sequence[int]) -> _Table | None:
        """The filled table; None where even the cheapest options cost too much."""
        if not all(np.isfinite(o.losses).any() for o in layers):
            return None
        least = sum((_least(o) for o in layers), np.zeros(len(limits), np.int64))
        room = np.asarray(limits, np.int64) - least
        if (room < 0).any():
            return None
        above = [o.costs - _least(o) for o in layers]
        room = np.minimum(room, sum((_most(o) - _least(o) for o in layers), 0 * room))
        unit = _units(above, room)
        table = cls(layers, tuple(-(-a // unit) for a in above), [np.zeros(room // unit + 1)], [])
        for options, steps in zip(layers, table.steps, strict=True):
            table.add(options, steps)
        return table

    def add(self, options: Options, steps: Array) -> None:
        """One more layer."""
        before = self.losses[-1]
        best, taken = np.full(before.shape, np.inf), np.zeros(before.shape, np.uint8)
        for option, (loss, step) in enumerate(zip(options.losses, steps, strict=True)):
            if math.isfinite(loss) and (step < before.shape).all():
                with_it = best[tuple(slice(s, None) for s in step)]
                candidate = before[tuple(slice(n - s) for s, n in zip(step, before.shape, strict=True))] + loss
                better = candidate < with_it
                with_it[better] = candidate[better]
                taken[tuple(slice(s, None) for s in step)][better] = option
        self.losses.append(best)
        self.taken.append(taken)

    def choice(self, at: tuple[int, ...]) -> Choice:
        """The best choice that costs no more than what a place of the table says."""
        loss, found = float(self.losses[-1][at]), list[int]()
        for taken, steps in zip(reversed(self.taken), reversed(self.steps), strict=True):
            found.append(int(taken[at]))
            at = tuple(int(a - s) for a, s in zip(at, steps[found[-1]], strict=True))
            if min(at, default=0) < 0:
                break
        options = tuple(reversed(found))
        return Choice(options, loss, _costs(self.layers, options) if len(options) == len(self.layers) else ())


def _least(options: Options) -> Array:
    """The least cost of each kind among the options that may be taken."""
    return np.asarray(options.costs[np.isfinite(options.losses)].min(axis=0), np.int64)


def _most(options: Options) -> Array:
    return np.asarray(options.costs[np.isfinite(options.losses)].max(axis=0), np.int64)


def _units(above: Sequence[Array], room: Array) -> Array:
    """The step in which each kind is counted: the common divisor, or what makes the table fit."""
    unit = np.array([max(math.gcd(*(int(c) for a in above for c in a[:, k])), 1) for k in range(len(room))], np.int64)
    while math.prod(int(n) for n in room // unit + 1) > CELLS:
        widest = int(np.argmax(room // unit))
        unit[widest] *= 2
    return unit
