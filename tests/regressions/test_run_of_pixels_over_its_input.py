"""A run of pixels over several rows reads its input again for each group of channels: not where rows lie over it."""

from __future__ import annotations

import pytest

from codegen.ir.plan import Group, Plan, Storage
from codegen.kernels import select_kernels
from codegen.lower import lower_plan
from tests.support.graphs import Sketch

ROWS, INPUTS, OUTPUTS = 6, 12, 64


@pytest.mark.parametrize(("apart", "rows"), [(True, ROWS), (False, 1)])
def test_rows_that_lie_over_the_input_are_made_one_by_one(apart: bool, rows: int) -> None:
    """Six rows of one pixel; the last output row lies over input rows that were read before it, row by row."""
    s = Sketch("run", seed=1)
    x = s.input((1, ROWS, 1, INPUTS), name="x")
    graph = s.graph(s.conv(x, OUTPUTS, 1))
    kernels = select_kernels(graph, "host")
    (form,) = kernels.values()
    assert form.run == "pixels"
    assert not form.in_place
    (y,) = graph.nodes[0].outputs
    begin = ROWS * OUTPUTS if apart else (ROWS - 1) * OUTPUTS + 4
    plan = Plan(
        graph=graph,
        groups=(Group((0,), block=0),),
        storage={
            x: Storage(offset=begin, rows=ROWS, ring=ROWS, row_bytes=INPUTS),
            y: Storage(offset=0, rows=ROWS, ring=ROWS, row_bytes=OUTPUTS),
        },
        scratch={},
        scratch_bytes={},
        views=frozenset(),
        arena_bytes=begin + ROWS * INPUTS,
        arena_align=8,
        lower_bound_bytes=0,
    )
    (call,) = lower_plan(plan, kernels).groups[0].calls
    assert call.rows_per_call == rows
