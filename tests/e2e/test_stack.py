"""How deep the stack gets: the compiler's own call graph has no cycle, no call through a pointer, and a small sum.

And `--measure-stack`, which says what one inference takes on the emulated chip.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import codegen
from codegen.options import Goal
from codegen.pipeline import Options, compile_file
from codegen.target import load_target
from codegen.verbs.stack import measured
from tests.e2e.projects import DIGITS, NETWORKS, build, project
from tests.support.real import model_path
from tests.support.tools import require_tool
from tests.unit.cli.conftest import TINY, Lamina, lamina

__all__ = ["lamina"]

DEEPEST = 1024
"""Bytes of stack that `run` may take, all its callees included."""

_NODE = re.compile(r'node: \{ title: "([^"]+)" label: "[^"]*?\\n(\d+) bytes \((\w+)\)')
_EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')


def call_graph(listings: list[str]) -> tuple[dict[str, int], dict[str, set[str]]]:
    """Bytes of each function's frame, and whom it calls."""
    frames: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    for text in listings:
        for function, size, kind in _NODE.findall(text):
            assert kind == "static", f"{function}: a frame whose size is not known"
            frames[function] = int(size)
        for caller, callee in _EDGE.findall(text):
            calls.setdefault(caller, set()).add(callee)
    return frames, calls


def deepest(function: str, frames: dict[str, int], calls: dict[str, set[str]], above: tuple[str, ...] = ()) -> int:
    """Bytes from this function downwards."""
    assert function not in above, f"recursion: {' -> '.join([*above, function])}"
    assert function != "__indirect_call", f"call through a pointer in {above[-1]}"
    below = [deepest(callee, frames, calls, (*above, function)) for callee in sorted(calls.get(function, ()))]
    return frames.get(function, 0) + max(below, default=0)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("chip", ["cortex-m4", "cortex-m0plus"])
@pytest.mark.parametrize("level", ["-O0", "-Os", "-O2"])
@pytest.mark.parametrize("network", NETWORKS)
def test_run_never_recurses_and_takes_little_stack(network: str, level: str, chip: str, tmp_path: Path) -> None:
    target = load_target(chip)
    if network == "digits_as_trained" and not target.has_fpu:
        pytest.skip("this chip takes no float layers")
    assert target.toolchain is not None
    cc = target.toolchain.cc
    require_tool(cc)
    made = project(tmp_path, network, target=chip)
    listings = []
    for source in made.sources:
        flags = (*target.toolchain.cflags, level, "-c", "-fcallgraph-info=su")
        build(cc, flags, [source], tmp_path / f"{source.stem}.o", includes=made.includes)
        listings.append((tmp_path / f"{source.stem}.ci").read_text(encoding="ascii"))
    frames, calls = call_graph(listings)
    assert f"{made.name}_run" in frames
    assert len(frames) > 5
    assert deepest(f"{made.name}_run", frames, calls) <= DEEPEST


def ready() -> None:
    target = load_target("cortex-m4")
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.toolchain.size, target.board.emulator[0])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_measured_stack_is_in_the_manifest_the_readme_and_the_tables(lamina: Lamina, tmp_path: Path) -> None:
    ready()
    words = ("-t", "cortex-m4", "--goal", "memory")
    ran = lamina("compile", TINY, *words, "-o", tmp_path / "a", "--measure-stack")
    assert lamina("compile", TINY, *words, "-o", tmp_path / "b", "-q").code == 0
    made, without = contents(tmp_path / "a"), contents(tmp_path / "b")
    assert {name for name in made if made[name] != without[name]} == {"README.md", "manifest.json"}
    manifest, plain = json.loads(made["manifest.json"]), json.loads(without["manifest.json"])
    stack, groups = manifest["stack_bytes"], manifest["plan"]["groups"]
    assert (plain["stack_bytes"], plain["stack_flags"]) == (None, None)
    assert all(group["stack_bytes"] is None for group in plain["plan"]["groups"])
    assert list(manifest) == list(plain)
    assert 64 <= stack <= DEEPEST
    assert all(64 <= group["stack_bytes"] <= stack for group in groups)
    assert f"| {stack} |" in made["README.md"].decode()
    assert f"{stack} B, most in " in " ".join(ran.out.split())
    assert manifest["stack_flags"] in " ".join(ran.out.split())
    shown = lamina("inspect", TINY, *words, "--plan", "--measure-stack").out
    assert f"{stack} B ({manifest['stack_flags']})" in " ".join(shown.split())
    assert "stack B" in shown
    assert "stack B" not in lamina("inspect", TINY, *words, "--plan").out


def test_a_blob_and_a_streamed_input_are_measured(tmp_path: Path) -> None:
    ready()
    options = {"weights": "blob", "stream_input": True, "measure_stack": True}
    made = codegen.compile_model(TINY, "cortex-m4", tmp_path / "d", **options)
    assert made.manifest["weights_file"] == "weights.bin"
    assert 64 <= made.manifest["stack_bytes"] <= DEEPEST


@pytest.mark.parametrize("chip", ["host", "ppc32", "gap8-like"])
def test_a_target_that_cannot_tell_is_refused_before_anything_is_written(
    chip: str, lamina: Lamina, tmp_path: Path
) -> None:
    for words in (("compile", TINY, "-o", tmp_path / "d"), ("inspect", TINY)):
        ran = lamina(*words, "-t", chip, "--measure-stack")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith("LAM-EMULATOR-001")
    assert not (tmp_path / "d").exists()


def test_packages_that_are_missing_are_named(lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = lamina("compile", TINY, "-t", "cortex-m4", "-o", tmp_path / "d", "--measure-stack")
    assert ran.code == 1
    assert ran.err.startswith("LAM-PROCESS-001")
    assert "gcc-arm-none-eabi" in ran.err
    assert not (tmp_path / "d").exists()


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["memory", "size"])
def test_python_and_profile_say_the_same(goal: Goal) -> None:
    ready()
    found = codegen.inspect(DIGITS, "cortex-m4", goal=goal, measure_stack=True)
    assert found.stack
    assert found.plan
    assert found.stack.bytes == codegen.profile(DIGITS, "cortex-m4", goal=goal).stack_bytes
    assert found.stack.groups == tuple(group.stack_bytes for group in found.plan.groups)


@pytest.mark.slow
@pytest.mark.parametrize(("goal", "streamed"), [("memory", False), ("memory", True), ("speed", False), ("size", False)])
@pytest.mark.parametrize("name", ["kws_qdq", "resnet8_qdq", "vww_qdq", "ad_qdq", "mnist_cnn_qdq"])
def test_the_worst_group_of_real_models_stays_small(name: str, goal: Goal, streamed: bool) -> None:
    ready()
    options = Options(target="cortex-m4", goal=goal, stream_input=streamed, vectors=0)
    found = measured(compile_file(model_path(name), options))
    assert max(found.groups) <= found.bytes <= DEEPEST
