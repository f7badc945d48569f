"""A dying input that is read under two names: an output may grow over it only as far as both readers allow."""

from __future__ import annotations

import pytest

from codegen.kernels import kernel_needs, select_kernels
from codegen.lower import lower
from codegen.ops import ArgExtremum, Reshape
from codegen.prove import shadow_run
from codegen.schedule import schedule
from tests.support.graphs import Sketch


@pytest.mark.parametrize("size", [3, 5])
def test_both_readers_hold_its_rows(size: int) -> None:
    sketch = Sketch("named_twice")
    x = sketch.conv(sketch.input((1, 10, 6, 5)), 5)
    z = sketch.apply(ArgExtremum(True), sketch.apply(Reshape((1, 10, 1, 30)), x))
    graph = sketch.graph(sketch.conv(x, 7, size), z)
    kernels = select_kernels(graph, "c99")
    plan = schedule(graph, kernel_needs(graph, kernels), arena_align=8, goal="memory")
    assert shadow_run(lower(plan, kernels)).rows[z] == 10
