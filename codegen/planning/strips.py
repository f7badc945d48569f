"""Plans in which parts of the network run in strips: some products are made again, and rings are shorter.

Decides: which plan is taken: with a limit of memory the one of fewest products that meets it, else the smallest, or the
one of fewest products that is little larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from codegen.errors import ArenaLimitUnreachable, OptionBad
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.plan import FrontPoint, Plan
from codegen.kernels import KernelTable, choose_kernels, slim
from codegen.options import Options
from codegen.passes import Part, cut_strips
from codegen.planning.arena import plan_arena
from codegen.planning.asked import choose_goal
from codegen.planning.orders import Candidates
from codegen.planning.ways import Ways
from codegen.records import record
from codegen.schedule import BALANCED, Flows, limit_unreachable
from codegen.target import Target


class Planner(Protocol):
    """Plans a network that is cut already."""

    def __call__(
        self, graph: Graph, kernels: Mapping[int, Form], *, options: Options, flows: Flows | None = None
    ) -> tuple[Plan, dict[int, Form]]:
        """The plan and its kernels."""
        ...


@record(eq=False)
class _Found:
    """A plan, the products that it adds, the graph with its strips, and what is known of that."""

    plan: Plan
    added: int
    graph: Graph
    flows: Flows

    @property
    def bytes(self) -> int:
        return self.plan.arena_bytes


def plan_in_strips(
    graph: Graph, kernels: Mapping[int, Form], target: Target, options: Options, planner: Planner, table: KernelTable
) -> tuple[Plan, dict[int, Form]]:
    """The plan that the options ask for, with as few products made again as its memory allows.

    Raises:
        ArenaLimitUnreachable: LAM-SCHEDULE-303, with the smallest plan that was found, strips or not.
        OptionBad: LAM-IMPORT-030, for a weights buffer.
        CompileError: as the planner.
    """
    if options.weights_buffer:
        hint = "leave one out: weights that come through a buffer would be read again for each strip"
        raise OptionBad(f"{options.max_recompute:g} beside a weights buffer", where="max_recompute", hint=hint)
    goal = choose_goal(options, target)
    ram = target.ram_bytes
    as_it_is: tuple[Plan, dict[int, Form]] | None = None
    try:
        plain, forms = planner(graph, kernels, options=options)
    except ArenaLimitUnreachable:
        assert options.arena_limit is not None, "what is refused is a limit"
        limit: int | None = options.arena_limit
    else:
        fits = ram is None or plain.arena_bytes <= ram
        if fits and (goal == "speed" or options.arena_limit is not None):
            return plain, forms
        limit = None if fits else ram
        as_it_is = (plain, forms)
    small, flows = replace(options, goal="memory", arena_limit=None), Flows()

    def planned(parts: tuple[Part, ...] = ()) -> _Found:
        cut, ends = cut_strips(graph, parts)
        forms = choose_kernels(cut, target, table, goal=goal)
        order = (cut, {i: slim(form) for i, form in forms.items()} if parts else forms)
        known, more = Flows(ends, flows), max(0, _products(cut) - _products(graph))
        return _Found(plan_arena(Candidates([order]), target, small, known), more, cut, known)

    whole = planned()
    found = [planned(way.parts) for way in Ways(graph, kernels, options, flows).tried(limit)]
    best, smallest = _chosen([whole, *found], goal, limit), min([whole, *found], key=lambda f: f.bytes)
    if best is None and options.arena_limit is not None:
        raise limit_unreachable(smallest.plan, options.arena_limit)
    if best is whole or (best is None and smallest is whole):
        return as_it_is or planner(graph, kernels, options=options)
    asked = small if best is None or goal == "memory" else replace(options, arena_limit=_most(found, whole, limit))
    best = best or smallest
    forms = {i: slim(form) for i, form in choose_kernels(best.graph, target, table, goal=goal).items()}
    plan, forms = planner(best.graph, forms, options=asked, flows=best.flows)
    front = (*_front(whole, found, best, plan), *(replace(p, chosen=False) for p in whole.plan.front))
    front = tuple(sorted(front, key=lambda p: p.peak_bytes))
    return replace(plan, front=front, recomputed_macs=best.added), forms


def _most(found: Sequence[_Found], whole: _Found, limit: int | None) -> int:
    """Bytes within which the fastest plan is taken."""
    return limit or int(min(f.bytes for f in (whole, *found)) * BALANCED)


def _chosen(found: Sequence[_Found], goal: str, limit: int | None) -> _Found | None:
    """With a limit the one of fewest products within it, if any; else the smallest, or one that is little larger."""
    if limit is None:
        least = min(f.bytes for f in found)
        limit = least if goal == "memory" else int(least * BALANCED)
    return min((f for f in found if f.bytes <= limit), key=lambda f: (f.added, f.bytes), default=None)


def _front(whole: _Found, found: Sequence[_Found], best: _Found, plan: Plan) -> Iterator[FrontPoint]:
    """The plans with strips that no other one beats in both memory and products; `plan` is that of the best."""
    least = whole.bytes
    for one in sorted(found, key=lambda f: (f.added, f.bytes)):
        if one is best or one.bytes < least:
            made = plan if one is best else one.plan
            point = next(p for p in made.front if p.chosen)
            yield replace(point, chosen=one is best, recomputed_macs=one.added)
            least = min(least, one.bytes)


def _products(graph: Graph) -> int:
    return sum(graph.view(node).macs for node in graph.nodes)
