"""Layers that make their last rows first: where one output grows down over what it reads, the next may grow up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.verify import IrError, verify_program
from codegen.pipeline import Options, compile_graph
from codegen.target import load_target
from tests.e2e.projects import Project, written
from tests.e2e.test_firmware import pausing
from tests.support.graphs import Sketch, random_array
from tests.support.tools import require_tool

HEIGHT, CHANNELS = 25, 40


def chain() -> Graph:
    """Layers whose inputs and outputs are of one size, each of which reads rows before and behind its own."""
    s = Sketch("chain", seed=4)
    x = s.input((1, HEIGHT, 7, CHANNELS))
    for size in (3, 5, 3):
        x = s.conv(x, CHANNELS, size, groups=CHANNELS)
    return s.graph(x)


@pytest.fixture(params=["cortex-m4", "host"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    options = Options(target=request.param, goal="speed")
    return written(tmp_path / "chain", compile_graph(chain(), load_target(request.param), options))


def test_neighbours_grow_in_turn_from_either_end(made: Project) -> None:
    plan = made.compiled.plan
    assert [group.backwards for group in plan.groups].count(True) in (1, 2)
    assert plan.arena_bytes == plan.lower_bound_bytes


def test_what_making_the_last_rows_first_saves_is_known_when_layers_are_grouped() -> None:
    """Padded on both sides, a layer of stride 2 reads a row more at its beginning than at its end."""
    s = Sketch("strided")
    graph = s.graph(s.conv(s.conv(s.input((1, 16, 16, 32)), 128, stride=2), 512, stride=2))
    plan = compile_graph(graph, load_target("cortex-m3"), Options(goal="speed")).plan
    assert plan.arena_bytes == plan.lower_bound_bytes == next(p.peak_bytes for p in plan.front if p.chosen)


def test_only_a_layer_of_several_calls_may_run_backwards(made: Project) -> None:
    program = made.compiled.program
    (first, *others) = program.groups
    whole = replace(first.calls[0], steps=1)
    for wrong in (replace(first, calls=(whole,), backwards=True), replace(first, backwards=True, streams=True)):
        with pytest.raises(IrError, match="backwards"):
            verify_program(replace(program, groups=(wrong, *others)))


def test_a_run_that_is_stopped_goes_on_where_it_was(made: Project, tmp_path: Path) -> None:
    require_tool("gcc")
    assert pausing(made, tmp_path) == "chain: all vectors right\n"


def test_rows_are_reported_once_each_and_in_their_order(made: Project) -> None:
    require_tool("gcc")
    graph = made.compiled.plan.graph
    given = {"x": random_array(np.random.default_rng(1), graph.type("x").shape, graph.type("x").dtype)}
    expected = run_graph(graph, given)
    with Network(made.folder, trace=True) as network:
        _, tensors = network.trace_raw(given)
    assert tensors
    for name, value in tensors.items():
        np.testing.assert_array_equal(value, expected[name])
