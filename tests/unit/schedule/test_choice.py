"""Which plan is taken: what the options ask for, over all orders that compete."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from codegen.errors import ArenaLimitUnreachable
from codegen.ir.graph import Graph
from codegen.ir.plan import NodeNeeds, Plan
from codegen.kernels import kernel_needs, select_kernels
from codegen.schedule import Scheduler
from tests.support.graphs import residual
from tests.unit.schedule.test_order import random_graph

Order = tuple[Graph, Mapping[int, NodeNeeds]]


def order(graph: Graph) -> Order:
    return graph, kernel_needs(graph, select_kernels(graph, "c99"))


def shuffled(graph: Graph, seed: int) -> Graph:
    """The graph in another runnable order."""
    draw, left = random.Random(seed), list(graph.nodes)
    there = {face.value for face in graph.inputs} | {n for n, v in graph.values.items() if v.is_const}
    made = []
    while left:
        node = draw.choice([n for n in left if set(n.inputs) <= there])
        left.remove(node)
        made.append(node)
        there |= set(node.outputs)
    return graph.with_nodes(made)


def chosen_time(plan: Plan) -> float:
    (time,) = (point.time for point in plan.front if point.chosen)
    return time


@pytest.mark.parametrize("seed", range(25))
def test_orders_compete_by_what_is_asked_for(seed: int) -> None:
    graph = random_graph(seed)
    orders = [order(shuffled(graph, k)) for k in range(3)]
    both = Scheduler(orders, arena_align=8)
    single = [Scheduler([one], arena_align=8) for one in orders]
    smallest, fastest = both.plan("memory"), both.plan("speed")
    assert smallest.arena_bytes == min(s.plan("memory").arena_bytes for s in single)
    assert chosen_time(fastest) == min(chosen_time(s.plan("speed")) for s in single)
    limit = (smallest.arena_bytes + fastest.arena_bytes) // 2
    within = both.plan("balanced", limit)
    assert within.arena_bytes <= limit
    assert chosen_time(within) == min(chosen_time(s.plan("memory", limit)) for s in single if fits(s, limit))
    balanced = both.plan("balanced")
    assert balanced.arena_bytes <= max(smallest.arena_bytes, int(1.15 * smallest.arena_bytes))
    assert chosen_time(balanced) <= chosen_time(smallest)
    with pytest.raises(ArenaLimitUnreachable, match=str(smallest.arena_bytes)):
        both.plan("speed", smallest.arena_bytes - 1)


def fits(scheduler: Scheduler, limit: int) -> bool:
    return scheduler.plan("memory").arena_bytes <= limit


def test_the_first_of_equal_orders_wins() -> None:
    graph = residual()
    orders = [order(graph), order(graph.with_nodes(graph.nodes))]
    for goal in ("memory", "balanced", "speed"):
        plan = Scheduler(orders, arena_align=8).plan(goal)  # type: ignore[arg-type]
        assert plan.graph is orders[0][0]


def test_the_front_falls_in_time_and_shows_the_choice_once() -> None:
    graph = random_graph(3)
    orders = [order(shuffled(graph, k)) for k in range(3)]
    front = Scheduler(orders, arena_align=8).plan("memory").front
    better = [point for point in front if not point.chosen]
    assert [p.time for p in better] == sorted((p.time for p in better), reverse=True)
    assert [p.peak_bytes for p in front] == sorted(p.peak_bytes for p in front)
    assert sum(point.chosen for point in front) == 1
