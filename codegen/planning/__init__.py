"""From the simplified Graph to the Plan: orders of operators, upright and turned, and the memories of the chip."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from codegen.errors import ArenaLimitUnreachable
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.kernels import TABLE, KernelTable, leaner, leanest
from codegen.options import Options
from codegen.planning.arena import plan_arena
from codegen.planning.asked import (
    accelerator_notes,
    asked_notes,
    choose_goal,
    choose_mode,
    in_flash,
    met,
    of_chip,
    planning_notes,
    said,
    settled,
)
from codegen.planning.columns import by_columns
from codegen.planning.orders import Candidates, candidates
from codegen.planning.room import copying_nothing, given_back, roomier
from codegen.planning.weights import for_buffer
from codegen.schedule import Flows
from codegen.target import Target

__all__ = [
    "accelerator_notes",
    "asked_notes",
    "choose_goal",
    "choose_mode",
    "in_flash",
    "make_plan",
    "met",
    "of_chip",
    "plan_in_best_order",
    "planning_notes",
    "said",
    "settled",
]


def plan_in_best_order(
    graph: Graph, kernels: Mapping[int, Form], target: Target, options: Options, table: KernelTable = TABLE
) -> tuple[Plan, dict[int, Form]]:
    """Kernels and plan; the model's own order of operators and the best one found compete by what the options ask.

    Where memory is short, a network on wide images competes in turned form too, and outputs that lie over inputs; and
    where they may be recomputed, parts in strips.
    """
    if not options.max_recompute or target.dma is not None:
        return _plan_as_it_is(graph, kernels, target, options, table)
    from codegen.planning.strips import plan_in_strips

    return plan_in_strips(graph, kernels, target, options, partial(_plan_as_it_is, target=target, table=table), table)


def _plan_as_it_is(
    graph: Graph,
    kernels: Mapping[int, Form],
    target: Target,
    options: Options,
    table: KernelTable,
    flows: Flows | None = None,
) -> tuple[Plan, dict[int, Form]]:
    """With the layers as they are; where memory is short for that, with kernels of less scratch.

    First with those that are not far slower; where that is too much too, with those of the least scratch at the peak.
    """
    found: list[tuple[Plan, dict[int, Form]]] = []
    refusal: ArenaLimitUnreachable | None = None
    for forms, faster in _ever_leaner(graph, kernels, target, table):
        try:
            found.append(_plan_with(graph, forms, target, options, table, flows, faster))
        except ArenaLimitUnreachable as error:
            refusal = error
            continue
        if target.ram_bytes is None or found[-1][0].arena_bytes <= target.ram_bytes:
            return found[-1]
    if found:
        return min(found, key=lambda pair: pair[0].arena_bytes)
    assert refusal is not None, "the kernels were tried as they are"
    raise refusal


def _ever_leaner(
    graph: Graph, kernels: Mapping[int, Form], target: Target, table: KernelTable
) -> Iterator[tuple[dict[int, Form], dict[Form, Sequence[Form]]]]:
    """Kernels as they are, of less scratch, and of the least; of these, the faster ones that each stands for."""
    yield dict(kernels), {}
    if less := leaner(graph, kernels, target, table):
        yield {**kernels, **less}, {}
    least = leanest(graph, kernels, target, table)
    if any(forms[-1].scratch_bytes < less.get(i, kernels[i]).scratch_bytes for i, forms in least.items()):
        faster: dict[Form, Sequence[Form]] = {forms[-1]: (kernels[i], *forms[:-1]) for i, forms in least.items()}
        yield {**kernels, **{i: forms[-1] for i, forms in least.items()}}, faster


def _plan_with(
    graph: Graph,
    kernels: Mapping[int, Form],
    target: Target,
    options: Options,
    table: KernelTable,
    flows: Flows | None,
    faster: Mapping[Form, Sequence[Form]],
) -> tuple[Plan, dict[int, Form]]:
    """With these kernels, or for each the `faster` ones where memory has room, and those that depend on the plan."""
    kernels = for_buffer(graph, kernels, target, options, table)
    found = candidates(graph, kernels, target, options, table)
    plan = _plan(found, target, options, flows)
    chosen = next(kernels for order, kernels in found.all if order is plan.graph)
    if plan.scratchpad or plan.weights:
        return plan, chosen
    plain = {graph.nodes[i].name: form for i, form in kernels.items()}
    plan, chosen = _with(copying_nothing(plan, chosen, plain), plan, chosen, target, options, flows)
    most = min(size for size in (options.arena_limit, target.ram_bytes, sys.maxsize) if size is not None)
    plan, chosen = _with(given_back(plan, chosen, faster, most), plan, chosen, target, options, flows, most)
    more = roomier(plan, chosen, target, table, choose_goal(options, target))
    plan, chosen = _with(more, plan, chosen, target, options, flows)
    return by_columns(plan, chosen, target, table, choose_goal(options, target))


def _with(
    more: Mapping[int, Form],
    plan: Plan,
    kernels: dict[int, Form],
    target: Target,
    options: Options,
    flows: Flows | None,
    most: int = 0,
) -> tuple[Plan, dict[int, Form]]:
    """The same with other kernels of some nodes, where that can be placed in no more memory, or in `most` bytes."""
    with suppress(ArenaLimitUnreachable):  # idle bytes need not lie together
        again = _plan(Candidates([(plan.graph, {**kernels, **more})]), target, options, flows) if more else plan
        if again.arena_bytes <= max(plan.arena_bytes, most):
            return again, {**kernels, **more}
    return plan, kernels


def make_plan(graph: Graph, kernels: Mapping[int, Form], target: Target, options: Options) -> Plan:
    """Groups and addresses for the graph in the order of its nodes."""
    return _plan(Candidates([(graph, dict(kernels))]), target, options)


def _plan(found: Candidates, target: Target, options: Options, flows: Flows | None = None) -> Plan:
    """In the scratchpad where the chip has one and some layer works in it: a network may only rename memory."""
    _, kernels = found.orders[0]
    if target.dma is None or not kernels:
        return plan_arena(found, target, options, flows)
    from codegen.planning.scratchpad import plan_scratchpad

    return plan_scratchpad(found, target, options)
