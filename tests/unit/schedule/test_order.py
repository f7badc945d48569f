"""The order search against every order there is, on small random graphs."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from codegen.ir.graph import Graph
from codegen.ir.quant import DType
from codegen.ops import Add, Clamp, Slice
from codegen.schedule.order import order_nodes
from tests.support.graphs import HALF, Sketch


def random_graph(seed: int) -> Graph:
    """Slices and sums of tensors of unequal sizes; nothing is read by chance alone, so much depends on the order."""
    draw = random.Random(seed)
    sketch = Sketch("random", seed)
    made = [sketch.input((1, 4, 4, 16))]
    for _ in range(draw.randint(4, 7)):
        x = draw.choice(made)
        channels = sketch.values[x].type.shape[3]
        same = [v for v in made if sketch.values[v].type.shape[3] == channels and v != x]
        if same and draw.random() < 0.5:
            op = Add(HALF, HALF, HALF, DType.S8, -128, 127, "single")
            made.append(sketch.apply(op, x, draw.choice(same)))
        elif channels > 1 and draw.random() < 0.7:
            size = draw.randint(1, channels)
            made.append(sketch.apply(Slice((0, 0, 0, 0), (1, 4, 4, size), (1, 1, 1, 1)), x))
        else:
            made.append(sketch.apply(Clamp(-100, 100), x))
    used = {i for node in sketch.nodes for i in node.inputs}
    return sketch.graph(*[v for v in made[1:] if v not in used])


def peak(graph: Graph, order: tuple[int, ...]) -> int:
    """Most bytes live at one step."""
    live = {face.value for face in graph.inputs}
    left = list(order)
    most = sum(graph.type(v).bytes for v in live)
    while left:
        node = graph.nodes[left.pop(0)]
        live |= set(node.outputs)
        most = max(most, sum(graph.type(v).bytes for v in live))
        wanted = {i for k in left for i in graph.nodes[k].inputs} | graph.output_values
        live &= wanted
    return most


def all_orders(graph: Graph, done: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    if len(done) == len(graph.nodes):
        yield done
    there = {face.value for face in graph.inputs} | {o for k in done for o in graph.nodes[k].outputs}
    for k, node in enumerate(graph.nodes):
        if k not in done and set(node.inputs) <= there:
            yield from all_orders(graph, (*done, k))


@pytest.mark.parametrize("seed", range(60))
def test_no_order_has_a_lower_peak(seed: int) -> None:
    graph = random_graph(seed)
    best = min(peak(graph, order) for order in all_orders(graph))
    found = order_nodes(graph, frozenset())
    assert peak(found, tuple(range(len(found.nodes)))) == best


def test_the_models_own_order_stays_when_none_is_better() -> None:
    sketch = Sketch("chain")
    x = sketch.input((1, 4, 4, 8))
    graph = sketch.graph(sketch.conv(sketch.conv(x, 8), 8))
    assert order_nodes(graph, frozenset()) is graph


def test_some_order_is_improved() -> None:
    graphs = [random_graph(seed) for seed in range(60)]
    assert any(order_nodes(g, frozenset()) is not g for g in graphs)
