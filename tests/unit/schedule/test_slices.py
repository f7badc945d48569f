"""Groups cut into slices: every row is made, none is stored twice, and no slice is mostly what others compute too."""

from __future__ import annotations

import pytest

from codegen.ir.graph import Graph
from codegen.ir.quant import DType
from codegen.ops import Concat, Gather, Pad, Slice
from codegen.schedule.demand import Rows
from codegen.schedule.scratchpad.slices import cut, duplicated
from tests.support.graphs import HALF, Sketch, conv_chain, residual


def three_convolutions() -> Graph:
    sketch = Sketch("three")
    x = sketch.conv(sketch.input((1, 16, 4, 2)), 4)
    return sketch.graph(sketch.conv(sketch.conv(x, 4), 4))


def spans(graph: Graph, members: range, targets: list[int], count: int) -> list[list[tuple[int, int]]]:
    """By slice, the steps of each member."""
    parts = cut(Rows(graph, frozenset()), members, targets, count)
    return [[(node.start, node.steps) for node in part.nodes] for part in parts]


def test_the_halo_of_a_stack_grows_by_one_row_per_layer() -> None:
    assert spans(three_convolutions(), range(3), [2], 2) == [[(0, 10), (0, 9), (0, 8)], [(6, 16), (7, 16), (8, 16)]]


def test_one_slice_is_the_whole_group() -> None:
    assert spans(three_convolutions(), range(3), [2], 1) == [[(0, 16)] * 3]


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("make", [three_convolutions, residual])
def test_slices_together_make_every_row_and_store_each_once(make: object, count: int) -> None:
    assert callable(make)
    graph = make()
    members = range(len(graph.nodes))
    rows = Rows(graph, frozenset())
    parts = cut(rows, members, [members[-1]], count)
    for k in members:
        made = {r for part in parts for r in range(part.nodes[k].start, part.nodes[k].steps)}
        assert made == set(range(rows.nodes[k].steps))
    (value,) = rows.nodes[members[-1]].outputs
    stored = [r for part in parts for r in range(*part.own[value])]
    assert stored == list(range(rows.height[value]))


def test_rows_upside_down_are_made_by_the_core_that_needs_them() -> None:
    sketch = Sketch("turned")
    x = sketch.conv(sketch.input((1, 12, 4, 2)), 4)
    turned = sketch.apply(Slice((0, 11, 0, 0), (1, 12, 4, 4), (1, -1, 1, 1)), x)
    assert spans(sketch.graph(turned), range(2), [1], 2) == [[(6, 12), (0, 6)], [(0, 6), (6, 12)]]


def test_a_row_that_no_slice_needs_is_made_once() -> None:
    sketch = Sketch("thinned")
    x = sketch.conv(sketch.input((1, 8, 4, 2)), 4)
    thin = sketch.apply(Gather(1, (0, 2, 4, 6)), x)
    assert spans(sketch.graph(thin), range(2), [1], 2) == [[(0, 3), (0, 2)], [(3, 7), (2, 4)]]


def test_a_branch_that_a_slice_does_not_touch_does_not_run_on_its_core() -> None:
    sketch = Sketch("above")
    x = sketch.input((1, 6, 4, 2))
    above, below = sketch.conv(x, 4), sketch.conv(x, 4)
    both = sketch.apply(Concat(1, (None, None), DType.S8, HALF), above, below)
    found = spans(sketch.graph(both), range(3), [2], 2)
    assert found == [[(0, 6), (0, 0), (0, 6)], [(0, 0), (0, 6), (6, 12)]]


@pytest.mark.parametrize(("count", "too_much"), [(2, False), (4, False), (8, False), (16, True)])
def test_one_row_each_of_a_3x3_window_is_mostly_halo(count: int, too_much: bool) -> None:
    sketch = Sketch("one")
    graph = sketch.graph(sketch.conv(sketch.input((1, 16, 4, 2)), 4))
    rows = Rows(graph, frozenset())
    assert duplicated(rows, cut(rows, range(1), [0], count)) == too_much


def test_a_pooling_to_one_row_stays_whole() -> None:
    graph = conv_chain()
    assert spans(graph, range(5), [4], 1)[0][4] == (0, 3)


def test_steps_wholly_in_the_padding_ask_for_nothing() -> None:
    """Of a window whose last rows lie below the image: a slice of those alone does not run what comes before."""
    sketch = Sketch("below")
    x = sketch.conv(sketch.input((1, 4, 4, 2)), 4, 1)
    low = sketch.apply(Pad((0, 0, 0, 0), (0, 4, 0, 0), "constant", 0), x)
    assert spans(sketch.graph(low), range(2), [1], 2) == [[(0, 4), (0, 4)], [(0, 0), (4, 8)]]
