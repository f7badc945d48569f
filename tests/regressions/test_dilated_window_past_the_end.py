"""A dilated window that ends in the padding: the generated code asks for more rows than it reads; rings hold them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.plan import Group
from codegen.ir.quant import DType
from codegen.ir.shape import Window
from codegen.kernels import select_kernels
from codegen.lower import lower
from codegen.ops import Conv2D
from codegen.prove import shadow_run
from codegen.schedule.demand import Process, Rows
from tests.support.graphs import HALF, Sketch, apart, random_array, spread_requant


def test_the_ring_before_it_holds_what_is_asked_for() -> None:
    sketch = Sketch("dilated")
    x = sketch.conv(sketch.input((1, 6, 5, 4)), 4, 1)
    w = random_array(sketch.rng, (4, 5, 1, 4), DType.S8)
    op = Conv2D(Window(5, 1, 3, 0, 12), Window(1), 1, 0, spread_requant("single", w, DType.S8), DType.S8, HALF)
    graph = sketch.graph(sketch.apply(op, x, sketch.const(w), sketch.const(np.zeros(4, np.int32))))
    flow = Process(Rows(graph, frozenset()), (0, 1), (1,), "", frozenset()).run()
    plan = apart(graph)
    storage = {**plan.storage, x: replace(plan.storage[x], ring=flow.rings[x])}
    plan = replace(plan, groups=(Group((0, 1), 1, flow.pulls),), storage=storage)
    assert shadow_run(lower(plan, select_kernels(graph, "c99"))).rows[x] == 6
