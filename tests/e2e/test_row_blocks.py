"""Kernels that make several rows in a call: the shadow run takes it as one, and the C keeps what that rests on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.emit import write_project
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.ir.program import Call, Program
from codegen.ir.verify import IrError
from codegen.kernels import kernel_needs, select_kernels
from codegen.lower import lower
from codegen.pipeline import Options, finish
from codegen.prove import shadow_run
from codegen.target import load_target
from tests.support.graphs import Sketch, apart

HEIGHT, WIDTH, CHANNELS = 40, 30, 40
ROW = WIDTH * CHANNELS


def network(groups: int, stride: int = 1) -> Graph:
    """One 3x3 convolution, dense or depthwise, of more rows than one call makes."""
    sketch = Sketch("blocks", seed=5)
    return sketch.graph(sketch.conv(sketch.input((1, HEIGHT, WIDTH, CHANNELS)), CHANNELS, stride=stride, groups=groups))


def planned(graph: Graph, distance: int | None = None) -> tuple[Plan, Program]:
    """Input and output apart, or the output `distance` bytes below the input; scratch above both."""
    kernels = select_kernels(graph, "host")
    plan, size = apart(graph), HEIGHT * ROW
    (out,) = graph.nodes[0].outputs
    scratch = kernel_needs(graph, kernels)[0].scratch_bytes
    if distance is not None:
        places = {"x": distance, out: 0}
        plan = replace(plan, storage={n: replace(s, offset=places[n]) for n, s in plan.storage.items()})
    top = max(s.offset for s in plan.storage.values()) + size
    plan = replace(plan, scratch={0: top}, scratch_bytes={0: scratch}, arena_bytes=top + scratch)
    return plan, lower(plan, kernels)


def only_call(program: Program) -> Call:
    ((call,),) = (group.calls for group in program.groups)
    assert call.fn.run == "rows"
    assert 1 < call.rows_per_call < HEIGHT, "several calls of several rows"
    return call


def refused(program: Program) -> bool:
    try:
        shadow_run(program)
    except IrError:
        return True
    return False


@pytest.mark.parametrize("groups", [1, CHANNELS], ids=["dense", "depthwise"])
def test_a_call_is_given_each_row_once(groups: int) -> None:
    _, program = planned(network(groups))
    call = only_call(program)
    given = 0
    for start in range(0, HEIGHT, call.rows_per_call):
        stop = min(start + call.rows_per_call, HEIGHT)
        given += min(stop + 1, HEIGHT) - max(start - 1, 0)
    work = shadow_run(program).work[call.node.name]
    assert (work.calls, work.read_bytes, work.written_bytes) == (call.steps, given * ROW, HEIGHT * ROW)


@pytest.mark.parametrize("groups", [1, CHANNELS], ids=["dense", "depthwise"])
def test_an_output_may_grow_over_the_rows_of_its_own_call_and_no_further(groups: int, tmp_path: Path) -> None:
    """One row is enough: the row before a call's first one is all that is read again of what the last call wrote over.

    A kernel that wrote before it had read all would give other bytes than golden.
    """
    graph = network(groups)
    assert refused(planned(graph, 0)[1])
    assert refused(planned(graph, ROW - CHANNELS)[1])
    plan, program = planned(graph, ROW)
    assert only_call(program)
    assert not refused(program)
    made = finish(graph, plan, select_kernels(graph, "host"), load_target("host"), Options(vectors=0))
    write_project(tmp_path / "project", made.files)
    image = np.random.default_rng(7).integers(-128, 128, (1, HEIGHT, WIDTH, CHANNELS)).astype(np.int8)
    (out,) = graph.nodes[0].outputs
    with Network(tmp_path / "project", flags=("-O1",)) as net:
        assert np.array_equal(net.run_raw({"x": image})[out], run_graph(graph, {"x": image})[out])


@pytest.mark.parametrize("wrong", ["first", "last"])
def test_scratch_over_any_row_of_the_call_is_refused(wrong: str) -> None:
    plan, program = planned(network(1))
    call = only_call(program)
    row = 0 if wrong == "first" else call.rows_per_call
    moved = replace(plan, scratch={0: plan.storage["x"].offset + row * ROW})
    assert refused(lower(moved, select_kernels(plan.graph, "host")))


def test_rows_that_lie_at_uneven_steps_are_refused() -> None:
    _, program = planned(network(1))
    call = only_call(program)
    (item,) = call.inputs
    uneven = tuple(min(row, 7) for row in range(HEIGHT))
    call = replace(call, inputs=(replace(item, rule=replace(item.rule, table=uneven)),))
    changed = replace(program, groups=(replace(program.groups[0], calls=(call,)),))
    with pytest.raises(IrError, match="uneven"):
        shadow_run(changed)
