"""A network in strips gives the same numbers, and makes twice what the halos are."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from codegen.golden.interpreter import Stepper, run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import DType
from codegen.ir.verify import verify_graph
from codegen.ops import Add, GlobalAveragePool, Slice
from codegen.passes import Part, cut_strips, simplify, strips_of
from codegen.passes.cut_strips import CHANNELS, COLUMNS
from tests.random_networks.cases import draw_graph, fits
from tests.support.graphs import Sketch, conv_chain, random_array, residual

SEEDS = range(1200, 1225)


def inverted(stride: int = 1) -> Graph:
    """Two blocks as MobileNetV2 has them, a skip over the second, and a pool at the end."""
    s = Sketch("inverted", seed=3)
    x = s.conv(s.input((1, 14, 17, 3)), 6, stride=2)
    x = s.conv(s.conv(s.conv(x, 12, 1), 12, 3, stride=stride, groups=12), 6, 1)
    again = s.conv(s.conv(s.conv(x, 12, 1), 12, 3, groups=12), 6, 1)
    quant = s.values[again].type.quant
    assert quant is not None
    x = s.apply(Add(quant, quant, quant, DType.S8, -128, 127, "single"), x, again)
    x = s.conv(x, 32, 1)
    quant = s.values[x].type.quant
    assert quant is not None
    return s.graph(s.apply(GlobalAveragePool(quant, quant, DType.S8, -128, 127, "single"), x))


def parts_of(graph: Graph, counts: range = range(2, 6)) -> list[Part]:
    """Every part that can be cut, in as many strips as asked for."""
    found: list[Part] = []
    for start, stop in combinations(range(len(graph.nodes) + 1), 2):
        shape = graph.type(graph.nodes[stop - 1].outputs[0]).shape
        for axis in (COLUMNS, CHANNELS) if len(shape) == 4 else ():
            possible = (Part(start, stop, count, axis) for count in counts if count <= shape[axis])
            found += [part for part in possible if fits(graph, part)]
    return found


def macs(graph: Graph) -> int:
    views = [graph.view(node) for node in graph.nodes]
    return sum(view.op.macs(view.ins, view.outs) for view in views)


def check(graph: Graph, parts: list[Part]) -> Graph:
    """The graph in strips, whose outputs are those of the network."""
    rng = np.random.default_rng(1)
    cut, _ = cut_strips(graph, parts)
    verify_graph(cut)
    one, other = Stepper(graph), Stepper(cut)
    for _ in range(2):
        feeds = {
            face.value: random_array(rng, graph.type(face.value).shape, graph.type(face.value).dtype)
            for face in graph.inputs
        }
        wanted, found = one.run(feeds), other.run(feeds)
        for face, again in zip(graph.outputs, cut.outputs, strict=True):
            assert np.array_equal(wanted[face.value], found[again.value], equal_nan=True), parts
    return cut


@pytest.mark.parametrize("graph", [inverted(), inverted(2), residual(), conv_chain()], ids=lambda g: g.name)
def test_every_part_in_strips_gives_the_same_numbers(graph: Graph) -> None:
    parts = parts_of(graph)
    assert {part.axis for part in parts} == {COLUMNS, CHANNELS} or graph.name != "inverted"
    for part in parts:
        cut = check(graph, [part])
        assert macs(cut) >= macs(graph) or graph.name == "conv_chain"  # whose pooling leaves a column out
        if part.axis == CHANNELS:
            assert macs(cut) == macs(graph)


@pytest.mark.parametrize("graph", [inverted(), inverted(2), conv_chain()], ids=lambda g: g.name)
def test_strips_may_end_anywhere_and_give_up_what_they_have_read(graph: Graph) -> None:
    rng, given_up = np.random.default_rng(4), 0
    for part in (p for p in parts_of(graph, range(3, 5)) if p.axis == COLUMNS):
        wide = graph.type(graph.nodes[part.stop - 1].outputs[0]).shape[COLUMNS]
        ends = tuple(sorted((rng.permutation(wide - 1)[: part.strips - 1] + 1).tolist()))
        uneven = replace(part, ends=ends)
        if not fits(graph, uneven):  # a strip of it would read nothing
            continue
        there, less = check(graph, [uneven]), check(graph, [replace(uneven, frees=True)])
        assert macs(there) == macs(less)
        left = [node for node in less.nodes if isinstance(node.op, Slice) and node.op.over]
        sizes = [less.type(node.outputs[0]).shape[COLUMNS] for node in left]
        assert sizes == sorted(sizes, reverse=True)
        assert all(less.type(node.inputs[0]).shape[COLUMNS] > size for node, size in zip(left, sizes, strict=True))
        given_up += len(left)
    assert given_up


@pytest.mark.parametrize("seed", SEEDS)
def test_random_networks_in_strips(seed: int) -> None:
    graph = simplify(draw_graph(seed).finished())
    for part in parts_of(graph, range(3, 4))[:12]:
        check(graph, [part])


def test_strips_of_two_parts_one_behind_the_other() -> None:
    graph = inverted()
    parts = [p for p in parts_of(graph, range(3, 4)) if p.axis == COLUMNS]
    pairs = [(a, b) for a in parts for b in parts if a.stop == b.start]
    assert pairs
    for pair in pairs:
        check(graph, list(pair))


def test_halos_are_made_twice_and_nothing_else() -> None:
    """Two strips of a 3x3 convolution behind another one: each needs one column of the other's half."""
    s = Sketch("halo", seed=1)
    x = s.conv(s.input((1, 8, 12, 3)), 4)
    graph = s.graph(s.conv(x, 5))
    cut = check(graph, [Part(0, 2, 2)])
    first = 8 * 12 * 4 * 9 * 3
    assert macs(cut) - macs(graph) == 2 * first // 12
    assert sum(isinstance(node.op, Slice) for node in cut.nodes) == 2


def test_what_reads_beyond_its_columns_is_no_strip() -> None:
    s = Sketch("softmax", seed=1)
    x = s.conv(s.input((1, 4, 8, 3)), 4)
    graph = s.graph(s.apply(Slice((0, 0, 1, 0), (1, 4, 6, 4), (1, 1, 1, 1)), x))
    assert strips_of(graph, Part(0, 2, 2)) is None
    assert strips_of(graph, Part(0, 1, 2)) is not None
    assert run_graph(graph, {graph.inputs[0].value: np.zeros((1, 4, 8, 3), np.int8)})
