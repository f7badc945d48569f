"""A Plan made by hand goes the same way as the scheduler's: rings, rows on demand, memory shared down to the row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.emit import write_project
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.plan import Group, Plan, Storage
from codegen.ir.quant import Array
from codegen.ir.verify import IrError
from codegen.kernels.conv2d import CONV2D
from codegen.pipeline import Options, finish
from codegen.target import load_target
from tests.support.forms import fitted
from tests.support.graphs import Sketch

ROWS, WIDTH, CHANNELS = 12, 10, 4
ROW_BYTES = WIDTH * CHANNELS


def two_convolutions() -> Graph:
    sketch = Sketch("pair", seed=3)
    x = sketch.input((1, ROWS, WIDTH, CHANNELS))
    return sketch.graph(sketch.conv(sketch.conv(x, CHANNELS), CHANNELS))


def row_plan(graph: Graph, ring: int) -> Plan:
    """Both convolutions in one group; `ring` rows between them; the output grows over the dying input."""
    inner, last = (node.outputs[0] for node in graph.nodes)
    whole = Storage(offset=0, rows=ROWS, ring=ROWS, row_bytes=ROW_BYTES)
    return Plan(
        graph=graph,
        groups=(Group((0, 1), block=1),),
        storage={"x": whole, last: whole, inner: replace(whole, offset=ROWS * ROW_BYTES, ring=ring)},
        scratch={},
        scratch_bytes={},
        views=frozenset(),
        arena_bytes=(ROWS + ring) * ROW_BYTES,
        arena_align=16,
        lower_bound_bytes=(ROWS + ring) * ROW_BYTES,
    )


def traced(plan: Plan, x: Array, folder: Path) -> dict[str, Array]:
    target = load_target("host")
    compiled = finish(plan.graph, plan, fitted(plan.graph, CONV2D), target, Options())
    write_project(folder, compiled.files)
    with Network(folder, trace=True, flags=("-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all")) as net:
        _, tensors = net.trace_raw({"x": x})
        return tensors


@pytest.fixture
def image() -> Array:
    return np.random.default_rng(7).integers(-128, 128, (1, ROWS, WIDTH, CHANNELS)).astype(np.int8)


def test_ring_of_three_rows_and_shared_border_equal_golden(image: Array, tmp_path: Path) -> None:
    graph = two_convolutions()
    plan = row_plan(graph, ring=3)
    assert plan.arena_bytes == (ROWS + 3) * ROW_BYTES
    golden = run_graph(graph, {"x": image})
    found = traced(plan, image, tmp_path / "project")
    assert len(found) == 2
    for name, array in found.items():
        assert np.array_equal(array, golden[name]), name


def test_a_ring_one_row_shorter_is_refused(image: Array, tmp_path: Path) -> None:
    with pytest.raises(IrError, match="overwritten"):
        traced(row_plan(two_convolutions(), ring=2), image, tmp_path / "project")
