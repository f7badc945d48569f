"""Ring heights and distances against the plainest simulation there is: sets of rows, one step after another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.ir.graph import Graph
from codegen.ir.plan import Group
from codegen.ir.quant import DType
from codegen.ir.shape import Window, row_count
from codegen.kernels import select_kernels
from codegen.lower import lower
from codegen.ops import Add, MaxPool2D
from codegen.prove import shadow_run
from codegen.schedule import made_shares
from codegen.schedule.demand import Process, Rows
from tests.support.graphs import HALF, Sketch, apart


def cut() -> Graph:
    """Two rows of the convolution that no window of the maximum reaches, and what they alone would read."""
    s = Sketch("cut")
    x = s.conv(s.conv(s.input((1, 14, 6, 4)), 4), 4, 5)
    x = s.apply(MaxPool2D(Window(3, 3), Window(2, 2)), x)
    return s.graph(s.conv(x, 4, 1))


def add() -> Add:
    return Add(HALF, HALF, HALF, DType.S8, -128, 127, "single")


def chain() -> Graph:
    s = Sketch("chain")
    x = s.conv(s.input((1, 13, 6, 4)), 4)
    x = s.conv(x, 4, 5, stride=2)
    return s.graph(s.conv(x, 4, 1))


def skip() -> Graph:
    s = Sketch("skip")
    a = s.conv(s.input((1, 12, 6, 4)), 4)
    b = s.conv(s.conv(a, 4), 4, 5)
    return s.graph(s.conv(s.apply(add(), a, b), 4))


def diamond() -> Graph:
    s = Sketch("diamond")
    x = s.input((1, 11, 5, 4))
    a = s.conv(x, 4, 7)
    return s.graph(s.apply(add(), s.conv(a, 4, 3), s.conv(s.conv(a, 4, 3), 4, 5)))


def two_sinks() -> Graph:
    s = Sketch("sinks")
    a = s.conv(s.input((1, 12, 6, 4)), 4)
    return s.graph(s.conv(a, 4), s.apply(MaxPool2D(Window(2, 2), Window(2, 2)), a), s.conv(a, 4, 5, stride=3))


GRAPHS = {"chain": chain, "skip": skip, "diamond": diamond, "two sinks": two_sinks, "cut": cut}


def plain(graph: Graph, pulls: tuple[tuple[int, int], ...]) -> tuple[dict[str, int], dict[str, int]]:
    """Rings and, per output, the most bytes by which it ran over the input, from sets of rows and the rules alone."""
    (x,) = (face.value for face in graph.inputs)
    views = [graph.view(node) for node in graph.nodes]
    reads = [
        {name: v.op.rows(i, v.ins, v.outs) for i, name in enumerate(n.inputs) if i in v.dynamic}
        for n, v in zip(graph.nodes, views, strict=True)
    ]
    height = {name: row_count(graph.type(name).shape) for name in graph.values if not graph.values[name].is_const}
    maker = {n.outputs[0]: k for k, n in enumerate(graph.nodes)}
    done = [0] * len(graph.nodes)
    rings: dict[str, int] = {}
    over: dict[str, int] = {}
    bytes_of = {name: graph.type(name).bytes // height[name] for name in height}

    def rows(k: int, name: str, r: int) -> set[int]:
        rule = reads[k][name]
        return {rule.first(r) + t * rule.dilation for t in range(rule.taps)} & set(range(height[name]))

    def wanted(name: str, running: int = -1) -> set[int]:
        users = [k for k, read in enumerate(reads) if name in read]
        return {
            at
            for k in users
            for r in range(done[k] - (k == running), height[graph.nodes[k].outputs[0]])
            for at in rows(k, name, r)
        }

    def make(k: int) -> None:
        for name in reads[k]:
            needed = rows(k, name, done[k])
            while name != x and needed and done[maker[name]] <= max(needed):
                make(maker[name])
        done[k] += 1
        out = graph.nodes[k].outputs[0]
        kept = {r for r in wanted(out) if r < done[k]}
        rings[out] = max(rings.get(out, 1), done[k] - min(kept, default=done[k]))
        free = min(wanted(x, k), default=height[x])
        over[out] = max(over.get(out, -(10**9)), done[k] * bytes_of[out] - free * bytes_of[x])

    for k, upto in pulls:
        while done[k] < upto:
            make(k)
    return rings, over


@pytest.mark.parametrize("name", GRAPHS)
def test_rings_and_distances_are_those_of_the_plain_simulation(name: str) -> None:
    graph = GRAPHS[name]()
    members = range(len(graph.nodes))
    targets = [k for k in members if graph.nodes[k].outputs[0] in graph.output_values]
    flow = Process(Rows(graph, frozenset()), members, targets, "", frozenset({"x"})).run()
    rings, over = plain(graph, flow.pulls)
    assert flow.rings == {v: rings[v] for v in flow.rings}
    assert len(flow.rings) + len(flow.homes) == len(graph.nodes) - len(targets)
    for (_, out), gap in flow.gaps.items():
        assert gap == max(0, over[out])


def separable() -> Graph:
    s = Sketch("separable")
    x = s.conv(s.input((1, 12, 6, 4)), 4)
    for _ in range(2):
        x = s.conv(s.conv(x, 4, groups=4), 4, 1)
    return s.graph(s.conv(x, 4, 1))


def test_rows_lie_in_the_place_of_those_that_are_made_of_them() -> None:
    graph = separable()
    points = frozenset(k for k, node in enumerate(graph.nodes) if node.op.w.size == 1)
    first, pixelwise = (
        Process(Rows(graph, frozenset(), places), range(6), [5], "", frozenset({"x"})).run()
        for places in (frozenset(), points)
    )
    made = [node.outputs[0] for node in graph.nodes]
    assert (first.rings, first.homes) == (dict(zip(made, (3, 1, 3, 1, 1), strict=False)), {})
    assert pixelwise.rings == {made[0]: 3, made[2]: 3}
    assert pixelwise.homes == {made[1]: made[2], made[3]: made[5], made[4]: made[5]}
    assert pixelwise.gaps == first.gaps


def test_a_row_that_several_read_or_that_is_asked_for_beside_others_keeps_its_own_place() -> None:
    graph = skip()
    (total,) = (k for k, node in enumerate(graph.nodes) if isinstance(node.op, Add))
    early, late = graph.nodes[total].inputs
    flow = Process(Rows(graph, frozenset()), range(5), [4], "", frozenset()).run()
    assert flow.homes == {late: graph.nodes[total].outputs[0]}
    ending = Process(Rows(graph, frozenset()), range(total + 1), [total], "", frozenset()).run()
    assert not ending.homes, "an output that may lie over a dying input"
    assert early in flow.rings


def test_every_row_of_every_output_is_pulled() -> None:
    graph = two_sinks()
    targets = [k for k, n in enumerate(graph.nodes) if n.outputs[0] in graph.output_values]
    flow = Process(Rows(graph, frozenset()), range(len(graph.nodes)), targets, "", frozenset()).run()
    last = dict(flow.pulls)
    assert last == {k: row_count(graph.type(graph.nodes[k].outputs[0]).shape) for k in targets}


@pytest.mark.parametrize("name", GRAPHS)
def test_shares_of_rows_are_those_that_the_shadow_run_makes(name: str) -> None:
    graph = GRAPHS[name]()
    members = tuple(range(len(graph.nodes)))
    targets = [k for k in members if graph.nodes[k].outputs[0] in graph.output_values]
    flow = Process(Rows(graph, frozenset()), members, targets, "", frozenset()).run()
    kernels, plan = select_kernels(graph, "c99"), apart(graph)
    storage = {v: replace(s, ring=flow.rings[v]) if v in flow.rings else s for v, s in plan.storage.items()}
    scratch, at = {k: form.scratch_bytes for k, form in kernels.items()}, -(-plan.arena_bytes // 16) * 16
    plan = replace(
        plan,
        groups=(Group(members, 1, flow.pulls),),
        storage=storage,
        scratch=dict.fromkeys(scratch, at),
        scratch_bytes=scratch,
        arena_bytes=at + max(scratch.values()),
    )
    made = shadow_run(lower(plan, kernels)).rows
    height = {k: row_count(graph.type(graph.nodes[k].outputs[0]).shape) for k in members}
    shares = made_shares(graph, plan.groups)
    assert {k: share * height[k] for k, share in shares.items()} == {
        k: pytest.approx(made[graph.nodes[k].outputs[0]]) for k in members
    }
    assert (min(shares.values()) < 1) == (name == "cut")
