"""The record of a memory plan, as numbers, text and picture."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from codegen.api import inspect
from codegen.errors import ExtraMissing
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.kernels import kernel_needs, select_kernels
from codegen.kernels.conv2d import CONV2D
from codegen.lower import lower
from codegen.options import GOALS
from codegen.prove import shadow_run
from codegen.report.plan import PlanRecord, plan_record
from codegen.report.plan_text import plan_text
from codegen.report.plot import plan_picture
from codegen.report.table import as_json
from codegen.schedule import schedule
from tests.e2e.projects import pair, pulled_plan
from tests.support.forms import fitted
from tests.support.graphs import apart, conv_chain, residual
from tests.support.real import model_path
from tests.support.shared import ROOT

GRAPHS = {"pair": pair, "conv_chain": conv_chain, "residual": residual}
ROW = 40
"""Bytes of one row of `pair`, which has 12 rows everywhere."""


def record(plan: Plan, kernels: Mapping[int, Form] | None = None) -> PlanRecord:
    program = lower(plan, kernels or select_kernels(plan.graph, "c99"))
    return plan_record(plan, program, shadow_run(program))


def scheduled(graph: Graph, **options: object) -> Plan:
    return schedule(graph, kernel_needs(graph, select_kernels(graph, "c99")), arena_align=8, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def pulled() -> PlanRecord:
    """Two convolutions in one group: a ring of three rows, the output over the input."""
    return record(pulled_plan(pair()), fitted(pair(), CONV2D))


def test_sizes_and_the_peak(pulled: PlanRecord) -> None:
    assert (pulled.arena_bytes, pulled.lower_bound_bytes, pulled.gap_bytes) == (15 * ROW, 15 * ROW, 0)
    assert pulled.peak.live_bytes == 15 * ROW
    assert pulled.peak.title == "n0_conv2d .. n1_conv2d"
    assert [t.bytes for t in pulled.peak.live] == [12 * ROW, 12 * ROW, 3 * ROW]
    assert pulled.largest_group == pulled.groups[0]


def test_rings_and_shared_bytes(pulled: PlanRecord) -> None:
    (group,) = pulled.groups
    (ring,) = group.rings
    assert (ring.layer, ring.rows_kept, ring.rows, ring.row_bytes, ring.bytes) == ("n0_conv2d", 3, 12, ROW, 3 * ROW)
    (shared,) = group.shared
    output = next(t.tensor for t in pulled.tensors if t.kind == "output")
    assert (shared.dying, shared.output, shared.bytes) == ("x", output, 12 * ROW)


def test_traffic_counts_every_kernel_call(pulled: PlanRecord) -> None:
    """12 rows each; a 3x3 window reads 3 rows, but 2 at either border."""
    (group,) = pulled.groups
    assert group.kernel_calls == 24
    assert group.read_bytes == 2 * (10 * 3 + 2 * 2) * ROW
    assert group.written_bytes == 2 * 12 * ROW
    assert group.weights_read_bytes == 12 * group.weights_bytes
    assert pulled.weights_bytes == group.weights_bytes > 2 * 4 * 9 * 4


def test_a_layer_alone_reads_its_weights_once_per_call() -> None:
    found = record(apart(pair()), fitted(pair(), CONV2D))
    assert [len(g.nodes) for g in found.groups] == [1, 1]
    assert all(not g.rings and not g.shared for g in found.groups)
    assert found.largest_group == found.groups[0]
    assert sum(g.kernel_calls for g in found.groups) == found.kernel_calls == 24


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("name", GRAPHS)
def test_bytes_in_use_and_the_bound_lie_within_the_arena(name: str, goal: str, streamed: bool) -> None:
    plan = scheduled(GRAPHS[name](), goal=goal, stream_input=streamed)
    found = record(plan)
    assert max(found.lower_bound_bytes, found.peak.live_bytes) <= found.arena_bytes
    assert found.gap_bytes == found.arena_bytes - found.lower_bound_bytes
    assert found.peak.live_bytes == max(g.live_bytes for g in found.groups)
    assert max(t.offset + t.bytes for t in found.tensors) <= found.arena_bytes
    assert all(0 <= t.first_group <= t.last_group < len(found.groups) for t in found.tensors)
    assert {t.tensor for t in found.tensors if t.kind == "input"} == {"x"}
    assert found.streamed == ("x" if streamed else "")
    assert sum(p.chosen for p in found.front) == 1


def test_the_input_counts_as_a_ring_when_it_is_streamed() -> None:
    found = record(scheduled(conv_chain(), stream_input=True))
    assert [r.tensor for r in found.groups[0].rings if not r.layer] == ["x"]


def test_the_worked_example_of_the_documentation_is_what_is_printed() -> None:
    page = (ROOT / "docs" / "scheduler.md").read_text(encoding="utf-8")
    example = page.split("kws_qdq.onnx -t cortex-m4 --plan\n")[1].split("```")[0]
    found = inspect(model_path("kws_qdq"), "cortex-m4").plan
    assert found is not None
    printed = plan_text(found).splitlines()
    assert [line for line in example.splitlines() if line and line not in printed] == []


def test_the_record_is_json(pulled: PlanRecord) -> None:
    data = json.loads(as_json(pulled))
    assert set(data) == set(PlanRecord.__dataclass_fields__)
    assert data["groups"][0]["rings"][0]["rows_kept"] == 3
    assert data["peak"]["live"][0]["bytes"] == 12 * ROW


def test_the_text_has_every_part(pulled: PlanRecord) -> None:
    chosen = record(scheduled(residual(), goal="memory"))
    for text in (plan_text(pulled), plan_text(chosen)):
        for part in ("memory plan", "lower bound", "groups", "rings", "memory over time", "most is in use"):
            assert part in text, part
    assert "600 B for these groups, met" in plan_text(pulled)
    assert "12.0 times" in plan_text(pulled)
    assert "<- this plan" in plan_text(chosen)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_picture_is_the_same_every_time(graph: str) -> None:
    pytest.importorskip("matplotlib")
    found = record(scheduled(GRAPHS[graph](), goal="memory"))
    first, second = (plan_picture(found, "a network") for _ in range(2))
    assert first == second
    assert first.startswith(b"<?xml")
    assert b"<dc:date>" not in first


def test_the_picture_names_tensors_rings_and_lines(pulled: PlanRecord) -> None:
    pytest.importorskip("matplotlib")
    drawn = plan_picture(pulled, "two convolutions").decode("utf-8")
    for word in ("two convolutions", "3 of 12 rows, 120 B", "arena, 600 B", "lower bound, 600 B", "peak, 600 B"):
        assert word in drawn, word
    assert plan_picture(pulled, "two convolutions", "png").startswith(b"\x89PNG")


def test_any_name_can_be_drawn(pulled: PlanRecord) -> None:
    pytest.importorskip("matplotlib")
    name = "$x_{1 \x00<&\u5c42"
    (group,) = pulled.groups
    odd = replace(
        pulled,
        groups=(replace(group, title=name),),
        tensors=tuple(replace(t, tensor=name, layer=name) for t in pulled.tensors),
    )
    assert ElementTree.fromstring(plan_picture(odd, name)).tag.endswith("svg")


def test_without_matplotlib_the_extra_is_named(pulled: PlanRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ExtraMissing, match=r"lamina\[plot\]"):
        plan_picture(pulled, "none")
