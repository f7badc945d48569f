"""--goal, --arena-limit, --stream-input, --plan and --plan-svg, and the same from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import codegen
from codegen.cli.compile_command import command as compile_command
from codegen.errors import OptionBad
from codegen.options import GOALS, Goal
from codegen.report.plan import PlanRecord
from codegen.target import find_chip
from tests.support.real import model_path
from tests.support.tools import require_tool
from tests.unit.cli.conftest import DIGITS, HELD_OUT, TINY, Lamina, Ran


def test_the_command_offers_what_the_scheduler_knows() -> None:
    (option,) = (p for p in compile_command.params if p.name == "goal")
    assert tuple(option.type.to_info_dict()["choices"]) == GOALS == get_args(Goal)


@pytest.mark.parametrize(("text", "size"), [("65536", 65536), ("64K", 65536), ("64k", 65536), ("1M", 1 << 20)])
def test_a_limit_may_have_a_unit(text: str, size: int, lamina: Lamina, tmp_path: Path) -> None:
    ran = lamina("compile", DIGITS, "-o", tmp_path / "d", "--arena-limit", text, "--json")
    assert ran.code == 0
    assert ran.json["planning"] == {"goal": "speed", "arena_limit": size}
    assert ran.json["arena_bytes"] <= size
    assert f"arena limit {size}" in (tmp_path / "d" / "src" / "digits_qdq.c").read_text()


def test_the_fastest_plan_within_the_limit_is_taken(lamina: Lamina) -> None:
    plans = {how: lamina("inspect", DIGITS, "--goal", how, "--json").json["plan"] for how in GOALS}
    small, fast = plans["memory"]["arena_bytes"], plans["speed"]["arena_bytes"]
    assert small < fast
    for limit, arena in ((small, small), (fast, fast)):
        found = lamina("inspect", DIGITS, "--arena-limit", limit, "--json").json["plan"]
        assert found["arena_bytes"] == arena
    assert small <= plans["balanced"]["arena_bytes"] <= fast


def test_an_unreachable_limit_names_the_smallest_arena(lamina: Lamina, tmp_path: Path) -> None:
    """With kernels of the least scratch: those of goal `memory` are not far slower than others."""
    bearable = lamina("inspect", DIGITS, "--goal", "memory", "--json").json["arena_bytes"]
    far = lamina("compile", DIGITS, "-o", tmp_path / "d", "--arena-limit", 16)
    smallest = int(far.err.split("smallest arena found is ")[1].split(" B")[0])
    assert smallest <= bearable
    assert lamina("inspect", DIGITS, "--arena-limit", smallest, "--json").json["arena_bytes"] == smallest
    ran = lamina("compile", DIGITS, "-o", tmp_path / "d", "--arena-limit", smallest - 1)
    assert ran.code == 1
    assert f"smallest arena found is {smallest} B" in ran.err
    assert "--stream-input" not in ran.err  # its bytes are shared with tensors that stay: streaming frees nothing
    shown = lamina("inspect", DIGITS, "--arena-limit", smallest - 1, "--plan", "--json")
    assert shown.code == 1
    assert [v["id"] for v in shown.json["violations"]] == ["LAM-SCHEDULE-303"]
    assert shown.json["plan"] is None
    assert shown.json["layers"]


def test_compile_says_what_the_plan_is(lamina: Lamina, tmp_path: Path) -> None:
    ran = lamina("compile", DIGITS, "-o", tmp_path / "d", "--stream-input", "--goal", "memory")
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())
    largest = max(manifest["plan"]["groups"], key=lambda g: len(g["nodes"]))
    assert f"{manifest['groups']} groups; {len(largest['nodes'])} stream by rows in the largest" in ran.out
    assert "digits_qdq_push_row" in ran.out
    assert manifest["streamed"] is True
    assert manifest["plan"]["streamed"] == manifest["inputs"][0]["tensor"]
    assert manifest["stack_bytes"] is None


def test_a_chip_with_a_scratchpad_says_that_it_has_one_plan(lamina: Lamina, tmp_path: Path) -> None:
    note = "goal memory changes nothing: gap8-like has a scratchpad"
    ran = lamina("compile", DIGITS, "-t", "gap8-like", "-o", tmp_path / "d", "--goal", "memory")
    assert f"  note: {note}" in ran.out
    assert any(n.startswith(note) for n in json.loads((tmp_path / "d" / "manifest.json").read_text())["notes"])
    assert f"  note: {note}" in lamina("inspect", DIGITS, "-t", "gap8-like", "--plan", "--goal", "memory").out
    for other in ([], ["--goal", "size"]):
        assert "changes nothing" not in lamina("inspect", DIGITS, "-t", "gap8-like", *other).out
    assert "changes nothing" not in lamina("inspect", DIGITS, "-t", "cortex-m4", "--goal", "memory").out


def test_inspect_and_the_manifest_have_the_same_plan(lamina: Lamina, tmp_path: Path) -> None:
    shown = lamina("inspect", DIGITS, "-t", "cortex-m4", "--plan", "--json").json["plan"]
    made = lamina("compile", DIGITS, "-t", "cortex-m4", "-o", tmp_path / "d", "--json").json["plan"]
    assert shown == made
    assert set(made) == set(PlanRecord.__dataclass_fields__)
    assert made["groups"][0]["weights_read_bytes"] >= made["groups"][0]["weights_bytes"]


def test_inspect_prints_the_plan_instead_of_the_layers(lamina: Lamina) -> None:
    ran = lamina("inspect", DIGITS, "--plan", "--goal", "memory")
    assert ran.code == 0
    for part in ("memory plan", "lower bound", "groups", "rings", "memory over time", "most is in use", "<- this plan"):
        assert part in ran.out, part
    assert "scratch B" not in ran.out
    assert ran.out.endswith("host runs digits_qdq\n")


def test_the_picture_is_written_twice_the_same(lamina: Lamina, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = [tmp_path / f"{i}.svg" for i in range(2)]
    assert [lamina("inspect", DIGITS, "--plan-svg", f, "-q").code for f in files] == [0, 0]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert "digits_qdq on host" in files[0].read_text()
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("words", [("--goal", "speed"), ("--goal", "memory", "--stream-input")])
def test_verify_run_and_eval_take_the_options(words: tuple[str, ...], lamina: Lamina, tmp_path: Path) -> None:
    assert lamina("verify", DIGITS, "--samples", "2", *words).code == 0
    data = ("--engine", "c", "--limit", "2")
    assert lamina("run", DIGITS, "--input", HELD_OUT, *data, *words, "-o", tmp_path / "y.npz").code == 0
    assert lamina("eval", DIGITS, "--data", HELD_OUT, *data, *words).code == 0
    x = np.load(HELD_OUT)["x"][:2]
    golden = np.concatenate([codegen.run(DIGITS, one[None]) for one in x])
    assert np.array_equal(np.load(tmp_path / "y.npz")["logits"], golden)


def test_a_streamed_input_is_verified_on_the_emulated_chip(lamina: Lamina) -> None:
    require_tool("arm-none-eabi-gcc", "qemu-system-arm")
    model = model_path("kws_qdq")
    for chip in ("host", "cortex-m4"):
        ran = lamina("verify", model, "-t", chip, "--stream-input", "--samples", "2", "--json")
        assert ran.code == 0, ran.err
        assert ran.json["equal"] is True
        assert ran.json["tensors_checked"] >= 12


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "64K"])
def test_python_refuses_a_limit_that_is_no_number_of_bytes(limit: object, tmp_path: Path) -> None:
    with pytest.raises(OptionBad, match="arena_limit"):
        codegen.compile_model(TINY, out=tmp_path / "d", arena_limit=limit)  # type: ignore[arg-type]


def test_python_refuses_a_plan_that_nobody_knows(tmp_path: Path) -> None:
    for call in (codegen.inspect, codegen.verify, lambda m, goal: codegen.run(m, np.zeros(1), goal=goal)):
        with pytest.raises(OptionBad, match="goal"):
            call(TINY, goal="small")  # type: ignore[operator]


def test_the_chip_s_memory_is_the_limit_where_none_is_given(lamina: Lamina, tmp_path: Path) -> None:
    goals = [("-t", "generic", "--goal", how) for how in ("memory", "speed")]
    sizes = [lamina("inspect", DIGITS, *goal, "--json").json["arena_bytes"] for goal in goals]
    assert sizes[0] < sizes[1]
    text = find_chip("generic").read_text(encoding="utf-8")
    chip = tmp_path / "chip.toml"

    def compiled(ram: int) -> Ran:
        chip.write_text(text.replace('kind = "ram"', f'kind = "ram"\nbytes = {ram}\nsource = "none"'))
        return lamina("compile", DIGITS, "-t", chip, "--goal", "speed", "-o", tmp_path / "d", "--json")

    refused = compiled(16)
    assert refused.code == 1
    assert refused.json["error"]["id"] == "LAM-SCHEDULE-301"
    least = int(refused.json["error"]["message"].split("needs ")[1].split(" B")[0])
    assert least <= sizes[0]
    for ram in (sizes[1] - 1, sizes[0], least):
        ran = compiled(ram)
        assert ran.code == 0
        assert ran.json["arena_bytes"] <= ram
    assert compiled(least - 1).code == 1
