"""A network that does not fit: by how much, where, and what would help."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import codegen
from codegen.errors import ArenaTooSmall, FlashTooSmall
from codegen.ir.plan import Plan
from codegen.resources import resource_dir
from codegen.schedule import find_peak, limit_unreachable, misfits, residents, used_bytes
from codegen.schedule.fits import weights_notes
from codegen.schedule.live import Resident
from codegen.target import Memory, Target, load_target
from tests.e2e.projects import pair, pulled_plan
from tests.support.graphs import apart, residual


def chip(ram: int, flash: int = 1 << 20) -> Target:
    memories = (Memory("sram", "ram", ram, "none"), Memory("flash", "flash", flash, "none"))
    return replace(load_target("host"), name="small", memories=memories)


@pytest.fixture
def plan() -> Plan:
    """600 bytes: the input and the output in the same 480, a ring of 120."""
    return pulled_plan(pair())


def test_what_fits_is_not_refused(plan: Plan) -> None:
    assert not misfits(plan, 1 << 20, chip(600))


def test_too_little_ram_is_refused_with_the_numbers(plan: Plan) -> None:
    (problem,) = misfits(plan, 0, chip(500))
    assert isinstance(problem, ArenaTooSmall)
    said = problem.text()
    for part in ("needs 600 B", "has 500 B", "100 B too few", "at n0_conv2d .. n1_conv2d", "n1_conv2d:y 480 B"):
        assert part in said.replace(plan.graph.outputs[0].value, "n1_conv2d:y"), part
    assert "x 0 B (and 480 B shared with those before)" in said


def test_streaming_is_not_proposed_where_it_cannot_help(plan: Plan) -> None:
    assert "--stream-input" not in limit_unreachable(replace(plan, streamed="x"), 500).text()
    late = apart(residual())
    peak = find_peak(late)
    assert ("--stream-input" in limit_unreachable(late, 1).text()) == any(r.kind == "input" for r in peak.live)


def test_streaming_is_proposed_with_what_it_frees(plan: Plan) -> None:
    assert "--stream-input" not in limit_unreachable(plan, 500).text()  # the output lies in the input's bytes
    alone = apart(pair())
    assert "it has 480 B of its own at the peak)" in limit_unreachable(alone, alone.arena_bytes - 480).text()
    assert "not enough alone" in limit_unreachable(alone, 10).text()


def test_an_unreachable_limit_names_the_smallest_arena_and_the_peak(plan: Plan) -> None:
    said = limit_unreachable(plan, 500).text()
    for part in ("LAM-SCHEDULE-303 pair", "limit is 500 B", "arena found is 600 B", "100 B more", "raise --arena"):
        assert part in said, part
    assert "most is in use at n0_conv2d .. n1_conv2d, 600 B: " in said


def test_too_little_flash_is_refused(plan: Plan) -> None:
    (problem,) = misfits(plan, 101, chip(600, 100))
    assert isinstance(problem, FlashTooSmall)
    assert "1 B too few" in problem.text()


def test_shared_bytes_count_once() -> None:
    def at(offset: int, size: int) -> Resident:
        return Resident("t", "", "tensor", offset, size, 0, 0)

    assert used_bytes([at(0, 10), at(5, 10), at(40, 4)]) == 19
    assert used_bytes([at(0, 10), at(2, 3)]) == 10
    assert used_bytes([]) == 0


def test_every_tensor_has_its_lifetime() -> None:
    plan = apart(residual())
    found = {r.name: r for r in residents(plan)}
    nodes = plan.graph.nodes
    assert (found["x"].kind, found["x"].first, found["x"].last) == ("input", 0, 0)
    skip = found[nodes[0].outputs[0]]
    assert (skip.first, skip.last, skip.layer) == (0, 2, nodes[0].name)
    output = found[plan.graph.outputs[0].value]
    assert (output.kind, output.first, output.last) == ("output", 3, 3)


def test_the_bytes_of_a_memory_refusal_add_up_although_tensors_share_them(plan: Plan) -> None:
    for found in (plan, apart(residual()), apart(pair())):
        text = limit_unreachable(found, 1).found
        said = re.search(r"most is in use at .*, (\d+) B: (.*)", text)
        assert said is not None
        listed = re.sub(r" \(and \d+ B shared with those before\)", "", said[2])
        assert sum(int(n) for n in re.findall(r" (\d+) B(?:[,;]|$)", listed)) == int(said[1]) == find_peak(found).bytes
        idle = re.search(r"; (\d+) B lie idle then", text)
        assert int(said[1]) + int(idle[1] if idle else 0) == found.arena_bytes


def test_bytes_that_no_tensor_at_the_peak_has_are_said_to_be_idle(plan: Plan) -> None:
    assert "idle" not in limit_unreachable(plan, 500).text()
    assert limit_unreachable(replace(plan, arena_bytes=615), 500).found.endswith("; 15 B lie idle then")


def test_a_flash_refusal_names_the_heaviest_layers_and_the_blob(plan: Plan) -> None:
    (problem,) = misfits(plan, 5000, chip(600, 100))
    assert "4900 B too few; most is in n0_conv2d" in problem.found
    assert "--weights blob" in problem.hint
    assert "external memory" in weights_notes(5000, chip(600, 100))[0]
    assert weights_notes(100, chip(600, 100)) == ()


def test_weights_in_a_blob_need_no_flash_but_a_note(tmp_path: Path) -> None:
    (file,) = resource_dir("targets").rglob("generic.toml")
    target = tmp_path / "tight.toml"
    limit = 'kind = "flash"\nbytes = 100\nsource = "none"'
    target.write_text(file.read_text(encoding="utf-8").replace('kind = "flash"', limit))
    digits = resource_dir("examples") / "digits" / "digits_qdq.onnx"
    with pytest.raises(FlashTooSmall):
        codegen.compile_model(digits, str(target), tmp_path / "c")
    project = codegen.compile_model(digits, str(target), tmp_path / "blob", weights="blob")
    assert any("put it into external memory" in note for note in project.manifest["notes"])
    assert any("--weights blob" in v.hint for v in codegen.inspect(digits, str(target)).violations)
