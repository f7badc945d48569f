"""The search for groups in the scratchpad: what it may leave out, and where its work ends."""

from __future__ import annotations

import pytest

from codegen.ir.scratchpad import Engine
from codegen.kernels import kernel_needs, params_needs, select_kernels
from codegen.schedule.planner import view_roots
from codegen.schedule.scratchpad import groups
from codegen.schedule.scratchpad.groups import ScratchpadGroups
from codegen.schedule.scratchpad.schedule import facts_of
from codegen.schedule.scratchpad.shape import Cut
from codegen.schedule.scratchpad.stage import Stage
from tests.support.graphs import Sketch, residual
from tests.support.scratchpad import compile_scratchpad


def chain(count: int) -> Sketch:
    sketch = Sketch("chain")
    sketch.input((1, 9, 6, 4))
    for _ in range(count):
        sketch.conv(list(sketch.values)[-1], 4)
    return sketch


@pytest.mark.parametrize("cores", [1, 4])
@pytest.mark.parametrize("ahead", [True, False])
def test_longer_steps_never_take_less_memory(ahead: bool, cores: int) -> None:
    """So that the search ends at the first length of a step that does not fit."""
    graph = residual()
    kernels = select_kernels(graph, "aarch64_dot")
    facts = facts_of(graph, kernel_needs(graph, kernels), params_needs(graph, kernels), Engine(4.0, 30.0, 4.0))
    found = ScratchpadGroups(facts, view_roots(graph, frozenset(set(range(len(graph.nodes))) - set(kernels))), cores)
    seen = 0
    for start in kernels:
        for _, ways in found._candidates(start, 1 << 20):
            for flows in ways:
                count = max(len(flow.cuts) for flow in flows)
                sizes = [min(count, flows[0].targets << n) for n in range(count.bit_length() + 1)]
                memory = [Stage(facts, flows, Cut(size, ahead=ahead)).memory for size in sizes]
                assert memory == sorted(memory)
                seen += len(set(memory)) > 1
    assert seen


def longest_group(count: int) -> int:
    sketch = chain(count)
    made = compile_scratchpad(sketch.graph(list(sketch.values)[-1]), 1 << 16)
    return max(len(group.nodes) for group in made.plan.groups)


def test_beyond_a_count_of_groups_the_search_takes_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    assert longest_group(8) > groups.SHORT
    monkeypatch.setattr(groups, "WORK", 0)
    assert longest_group(8) <= groups.SHORT


def test_the_second_of_two_tiles_has_room_for_its_own_channels_alone() -> None:
    sketch = Sketch("tiles")
    sketch.input((1, 9, 6, 4))
    graph = sketch.graph(sketch.conv(list(sketch.values)[-1], 9))
    kernels = select_kernels(graph, "c99")
    facts = facts_of(graph, kernel_needs(graph, kernels), params_needs(graph, kernels), Engine(4.0, 30.0, 4.0))
    groups_of = ScratchpadGroups(facts, view_roots(graph, frozenset(set(range(len(graph.nodes))) - set(kernels))), 1)
    node = next(iter(kernels))
    flows = next(way for _, ways in groups_of._candidates(node, 1 << 20) for way in ways)
    (value,) = graph.nodes[node].outputs
    for tile, second in ((5, 4), (4, 4), (3, 3)):
        shape = Stage(facts, flows, Cut(1, tile=tile)).model
        rows = shape.out_rings[value] * facts.rows.row_bytes[value] // 9
        assert [shape.blocks["out", value, place] for place in (0, 1)] == [rows * tile, rows * second]
        sizes = [facts.params[node].bytes(count) for count in (tile, second)]
        assert [shape.blocks["params", str(node), place] for place in (0, 1)] == sizes
