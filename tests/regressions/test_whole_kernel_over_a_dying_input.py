"""A kernel that takes whole tensors, of an operator that needs row by row: no output lies over what it reads again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.ir.quant import DType
from codegen.kernels import kernel_needs, select_kernels
from codegen.lower import lower
from codegen.ops import Concat, Lut, Select
from codegen.prove import shadow_run
from codegen.schedule import schedule
from tests.support.graphs import HALF, Sketch


def flags_made_here() -> Graph:
    s = Sketch("select")
    shape = (1, 6, 3, 5)
    flags = s.apply(Lut((0, 1) * 128, DType.U8, None, "NOT_EQUAL"), s.input(shape, name="a"))
    return s.graph(s.apply(Select(HALF), flags, s.input(shape, name="b"), s.input(shape, name="c")))


def constants_within_batches() -> Graph:
    s = Sketch("concat")
    x = s.apply(Lut(tuple(range(-128, 128)), DType.S8, HALF, "Abs"), s.input((2, 3, 4, 2)))
    known = s.const(np.ones((2, 1, 4, 2), np.int8), HALF)
    return s.graph(s.apply(Concat(1, (None, None), DType.S8, HALF), x, known))


@pytest.mark.parametrize("make", [flags_made_here, constants_within_batches])
def test_the_output_stays_clear_of_what_is_read_again(make: Callable[[], Graph]) -> None:
    graph = make()
    kernels = select_kernels(graph, "c99")
    assert any(k.run == "whole" for k in kernels.values())
    plan = schedule(graph, kernel_needs(graph, kernels), arena_align=8, goal="memory")
    assert shadow_run(lower(plan, kernels)).rows
