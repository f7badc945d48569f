"""How a layer stands beside the limit of its block, and why it is far above it where it is.

A reason is not looked up: the layer is asked for again, otherwise in one thing (with more products to a sum, with
longer rows, with outputs that go over the whole type), kernels are chosen for it as for any other, and what brings it
to its limit is the reason.  So it follows the kernels: one that learns to serve a layer takes the layer's reason away,
and a layer that nothing explains has none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.op import NodeView
from codegen.kernels import TABLE, KernelTable
from codegen.kernels.choose import fastest_first, packing_growth
from codegen.kernels.limits import HIGHEST, Loop, limit_of
from codegen.records import record
from codegen.report.otherwise import otherwise
from codegen.report.speed import layer_instructions, work_of
from codegen.target import Target

UNKNOWN = "nothing that kernels are asked about explains it"
_MOST_REASONS = 3
_COUNTS, _MATTERS = 0.98, 0.9
"""What a change leaves of a layer's instructions at most, to be one of several reasons, and to be told beside them."""


@record(kw_only=True)
class Standing:
    """Of one layer: instructions for each product (for each output where there are none), and the limit of its block.

    `times` is the one over the other, `loop` which loop the limit is of; None and empty where no limit is known.
    `reason` says why a layer takes more than `HIGHEST` times its limit; empty where nothing explains it.
    """

    each: float
    limit: float | None = None
    times: float | None = None
    loop: str = ""
    reason: str = ""

    @property
    def is_high(self) -> bool:
        """Whether it owes a reason."""
        return self.times is not None and self.times > HIGHEST


def high_lines(layers: Iterable[tuple[str, Standing | None]]) -> list[str]:
    """A paragraph about layers that are far above their limits, by name, for a report; nothing where none is."""
    high = [(name, one) for name, one in layers if one is not None and one.is_high]
    lines = [
        f"  {name}: {one.times:.2f} times {one.limit:.3g} ({one.loop}): {one.reason or UNKNOWN}" for name, one in high
    ]
    return ["\n".join([f"more than {HIGHEST} times the limit of the best block, and why:", *lines])] if lines else []


@record
class _Asked:
    """A layer that takes so many instructions, for a chip with these kernels."""

    view: NodeView
    form: Form
    instructions: float
    chip: Target
    table: KernelTable


@record
class _Try:
    """The layer, or what it would be otherwise, the form that it has, and how many times its limit that takes."""

    view: NodeView
    form: Form
    times: float


def standings(
    graph: Graph,
    kernels: Mapping[int, Form],
    instructions: Mapping[int, float],
    chip: Target,
    table: KernelTable = TABLE,
) -> dict[int, Standing]:
    """Of the layers of which it is known what they take, counted or estimated, by their places in the graph."""
    views = {i: graph.view(graph.nodes[i]) for i in instructions}
    return {i: standing(views[i], kernels[i], taken, chip, table) for i, taken in instructions.items()}


def standing(view: NodeView, form: Form, instructions: float, chip: Target, table: KernelTable = TABLE) -> Standing:
    """Of one layer that takes so many instructions."""
    work, outputs = work_of(view, form.run), sum(t.elements for t in view.outs)
    amount = view.macs or outputs
    found = Standing(each=instructions / amount)
    loop = _loop(view, form, chip)
    if loop is None:
        return found
    limit = loop.each * work.products / amount
    said = f"{loop.said}: {loop.instructions:g} / {loop.products}"
    found = replace(found, limit=limit, times=found.each / limit, loop=said)
    asked = _Asked(view, form, instructions, chip, table)
    return replace(found, reason=_reason(asked)) if found.is_high else found


def _loop(view: NodeView, form: Form, chip: Target) -> Loop | None:
    return limit_of(view, form.features, expands=chip.weights.expand)


def _reason(asked: _Asked) -> str:
    """The fewest changes that bring a layer to its limit, and others that save a tenth of it; empty where none do."""
    now = next(_tried("", asked.view, asked.form, asked), ("", None))[1]
    if now is None:
        return ""
    first = dict(_tries(now, asked))
    said = _changes(now, first, asked)
    others = (words for words, found in first.items() if found.times < now.times * _MATTERS and words not in said)
    return "; ".join([*said, *others]) if said else ""


def _changes(now: _Try, tried: Mapping[str, _Try], asked: _Asked) -> list[str]:
    """One after the other, always that which saves most."""
    said: list[str] = []
    while len(said) < _MOST_REASONS and tried:
        words, best = min(tried.items(), key=lambda one: one[1].times)
        if best.times > now.times * _COUNTS:
            return []
        now, said = best, [*said, words]
        if now.times <= HIGHEST:
            return said
        tried = {words: found for words, found in _tries(now, asked) if words not in said}
    return []


def _tries(now: _Try, asked: _Asked) -> Iterator[tuple[str, _Try]]:
    """What the layer would take with its fastest form, and otherwise in one thing each."""
    best = _fastest(now.view, asked)
    if best is not None and best.kernel != now.form.kernel:
        yield from _tried(_refused(best, now, asked.table), now.view, best, asked)
    for words, other in otherwise(now.view):
        form = _fastest(other, asked)
        if form is not None:
            yield from _tried(words, other, form, asked)


def _refused(best: Form, now: _Try, table: KernelTable) -> str:
    """Why a layer has not the form of the fewest cycles."""
    if best.params_bytes > now.form.params_bytes:
        return f"{best.kernel} would add {packing_growth(best, now.view, table)} B to the weights"
    return f"{best.kernel} takes more scratch or code, which the goal does not"


def _tried(words: str, view: NodeView, form: Form, asked: _Asked) -> Iterator[tuple[str, _Try]]:
    """Nothing where no limit is known, or not what it takes."""
    loop, taken = _loop(view, form, asked.chip), _taken(view, form, asked)
    if loop is not None and taken is not None:
        yield words, _Try(view, form, taken / (loop.each * work_of(view, form.run).products))


def _taken(view: NodeView, form: Form, asked: _Asked) -> float | None:
    """About what a changed layer takes: with its own kernel in proportion, or else by the core's rates.

    A kernel that counts its own blocks says the proportion itself.
    """
    about = layer_instructions(view, form, asked.chip)
    if form.kernel != asked.form.kernel:
        return about
    if form.mix is not None and asked.form.mix is not None:
        rows = [math.prod(one.outs[0].shape[:-2]) for one in (view, asked.view)]
        return asked.instructions * form.mix.instructions * rows[0] / (asked.form.mix.instructions * rows[1])
    before = layer_instructions(asked.view, asked.form, asked.chip)
    return asked.instructions * about / before if before and about else None


def _fastest(view: NodeView, asked: _Asked) -> Form | None:
    return next(iter(fastest_first([*asked.table.fitting(view, asked.form.features)], asked.chip.cycles)), None)
