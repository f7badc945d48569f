"""Functions of one real variable, composed while a model is read.

Decides: that a composition is a graph of its steps, each evaluated once for an array and none inside another, so that
neither a long chain nor one whose steps use a tensor twice costs more than its steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field

from codegen.ir.quant import Array
from codegen.records import record


@record(eq=False)
class Function:
    """An elementwise function of real numbers: `step` of the results of `inner`, or of the variable where none are.

    `name` is its entry in `ops.FUNCTIONS`, or None when composed.
    """

    step: Callable[..., Array]
    name: str | None = None
    attributes: Mapping[str, float] = field(default_factory=dict)
    inner: tuple[Function, ...] = ()

    def apply(self, x: Array) -> Array:
        """The function of each number of `x`, in float64."""
        order = self._order()
        uses = Counter(f for g in order for f in g.inner)
        known: dict[Function, Array] = {}
        for function in order:
            known[function] = function.step(*[known[f] for f in function.inner] or [x])
            for f in function.inner:
                uses[f] -= 1
                if not uses[f]:
                    del known[f]
        return known[self]

    def _order(self) -> list[Function]:
        """All steps, each behind those that it needs."""
        order: dict[Function, None] = {}
        waiting = [self]
        while waiting:
            last = waiting[-1]
            missing = [f for f in last.inner if f not in order]
            waiting.extend(missing)
            if not missing:
                order[waiting.pop()] = None
        return list(order)


IDENTITY = Function(lambda x: x, "Identity")
