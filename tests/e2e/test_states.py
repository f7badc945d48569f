"""Networks with state through the verbs: every sample is a step, a reset forgets, and what goes wrong is found."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import codegen.verbs.verify
from codegen.api import inspect, run, run_file, verify
from codegen.errors import CompileError, StateNotOnTarget, StreamImpossible
from codegen.pipeline import Compiled, Options, compile_file
from codegen.target import load_target
from codegen.toolkit import Toolkit
from tests.e2e.projects import SANITIZE, build, require_build, written
from tests.e2e.projects import run as run_program
from tests.support.tflite_models import Model, run_tflm
from tests.support.tools import require_module, require_tool

SHAPE, MEANING = (1, 3, 2, 2), (0.5, -7)
START = np.arange(12, dtype=np.int16).reshape(SHAPE).astype(np.int8)


def model(folder: Path) -> Path:
    """The input beside what it was a step ago, and a sum that goes on: one state is copied, one renewed in place."""
    m = Model()
    x, handles = m.input(SHAPE, "int8", *MEANING), []
    m.op("CALL_ONCE", [], [], "CallOnceOptions", InitSubgraphIndex=1)
    for name in ("before", "sum"):
        handles.append(handle(m, name))
    before, total, following = (m.tensor(SHAPE, "int8", *MEANING) for _ in range(3))
    m.op("READ_VARIABLE", [handles[0]], [before])
    m.op("READ_VARIABLE", [handles[1]], [total])
    changed = m.tensor(SHAPE, "int8", 0.25, 3)
    m.op("LEAKY_RELU", [x], [changed], "LeakyReluOptions", Alpha=0.5)
    kept = m.tensor(SHAPE, "int8", *MEANING)
    m.op("QUANTIZE", [changed], [kept])
    m.op("ADD", [total, kept], [following], "AddOptions")
    m.op("ASSIGN_VARIABLE", [handles[1], following], [])
    m.op("ASSIGN_VARIABLE", [handles[0], kept], [])
    y = m.output((1, 3, 2, 6), "int8", *MEANING)
    m.op("CONCATENATION", [kept, before, following], [y], "ConcatenationOptions", Axis=3)
    m.subgraph("begin")
    m.op("ASSIGN_VARIABLE", [handle(m, "before"), m.const(START, *MEANING)], [])
    path = folder / "steps.tflite"
    path.write_bytes(m.bytes())
    return path


def handle(m: Model, name: str) -> int:
    found = m.tensor((1,), "resource")
    m.op("VAR_HANDLE", [], [found], "VarHandleOptions", SharedName=name)
    return found


def steps(count: int) -> np.ndarray:
    return np.random.default_rng(3).integers(-128, 128, (count, *SHAPE[1:])).astype(np.int8)


def test_the_model_has_a_state_of_each_kind(tmp_path: Path) -> None:
    made = compile_file(model(tmp_path), Options())
    assert [(s.name, s.in_place) for s in made.program.states] == [("before", False), ("sum", True)]
    assert made.manifest["state_bytes"] == 24
    assert "| state `sum`, int8_t [1, 3, 2, 2], in the arena | 12 |" in made.files["README.md"].decode("ascii")


def test_verify_runs_the_samples_as_steps_from_a_reset(tmp_path: Path) -> None:
    require_tool("cc")
    require_module("tflite_micro")
    result = verify(model(tmp_path), samples=4, reference="tflm")
    assert result.equal
    assert result.samples == 4
    assert result.reference is not None
    assert result.reference.samples == 4


@pytest.mark.parametrize("chip", ["cortex-m4", "ppc32"])
def test_steps_are_equal_on_the_chip(chip: str, tmp_path: Path) -> None:
    ready(chip)
    result = verify(model(tmp_path), target=chip, samples=3)
    assert result.equal, result.first_difference
    assert (result.target, result.samples) == (chip, 3)


def ready(chip: str) -> None:
    target = load_target(chip)
    assert target.board
    assert target.toolchain
    require_tool(target.toolchain.cc, target.board.emulator[0])


@pytest.mark.parametrize("engine", ["golden", "c", "tflm"])
def test_the_samples_of_a_file_are_steps(engine: str, tmp_path: Path) -> None:
    require_tool("cc")
    require_module("tflite_micro")
    path, x = model(tmp_path), steps(5)
    np.savez(tmp_path / "x.npz", x=x)
    expected = np.concatenate([y[0] for y in run_tflm(path.read_bytes(), *([s[None]] for s in x))])
    for _ in range(2):  # the second time begins anew
        (found,) = run_file(path, tmp_path / "x.npz", engine).values()
        assert np.array_equal(found, expected)
    assert np.array_equal(run(path, x[:1], engine), expected[:1])


def test_reset_is_harmless_before_init(tmp_path: Path) -> None:
    """Without a network, or with one whose init failed, it does nothing; later it brings the first content back."""
    require_build("gcc", SANITIZE, tmp_path)
    made = written(tmp_path / "steps", compile_file(model(tmp_path), Options()))
    place = made.compiled.program.states[0].operand.offset
    first = ", ".join(map(str, START.reshape(-1)))
    main = tmp_path / "main.c"
    main.write_text(f"""
#include "steps.h"
static uint8_t arena[STEPS_ARENA_SIZE] STEPS_ARENA_ALIGNED;
static const int8_t first[] = {{ {first} }};
int main(void)
{{
    steps_t net;
    steps_memory memory = STEPS_MEMORY(arena);
    memory.arena_size = 0;
    steps_reset(NULL);
    if (steps_init(&net, &memory) == LAM_OK) {{
        return 1;
    }}
    steps_reset(&net);
    memory.arena_size = sizeof(arena);
    if (steps_init(&net, &memory) != LAM_OK || memcmp(arena + {place}, first, sizeof(first)) != 0) {{
        return 2;
    }}
    memset(steps_input(&net, 0), 99, STEPS_INPUT0_BYTES);
    if (steps_run(&net) != LAM_OK || memcmp(arena + {place}, first, sizeof(first)) == 0) {{
        return 3;
    }}
    steps_reset(&net);
    return memcmp(arena + {place}, first, sizeof(first)) == 0 ? 0 : 4;
}}
""")
    run_program(build("gcc", SANITIZE, [main, *made.sources], tmp_path / "resets", includes=made.includes))


# Faults


def forgets_to_forget(text: str) -> str:
    """Init gives the states their first content, reset does nothing."""
    body = re.search(r"void steps_reset\(steps_t \*net\)\n\{(.*?)\n\}\n", text, re.DOTALL)
    assert body is not None
    guard, _, filling = body[1].partition("return;\n    }\n")
    idle = text.replace(body[1], guard + "return;\n    }")
    return idle.replace("    steps_reset(net);\n", filling)


def keeps_nothing(text: str) -> str:
    """The copy at the end of a run is left out."""
    return re.sub(r"    \(void\)memcpy\(.*for the next run \*/\n", "", text)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("target", ["host", "cortex-m4"])
@pytest.mark.parametrize("change", [forgets_to_forget, keeps_nothing])
def test_a_fault_in_what_is_kept_is_found(
    change: Callable[[str], str], target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if target != "host":
        ready(target)

    def compile_changed(path: Path, options: Options, toolkit: Toolkit) -> Compiled:
        made = compile_file(path, options, toolkit)
        before = made.files["src/steps.c"].decode("ascii")
        after = change(before)
        assert after != before
        return replace(made, files={**made.files, "src/steps.c": after.encode("ascii")})

    monkeypatch.setattr(codegen.verbs.verify, "compile_file", compile_changed)
    result = verify(model(tmp_path), target=target, samples=2)
    assert not result.equal
    assert result.first_difference is not None
    assert result.first_difference.count > 0


# What it does not go with


@pytest.mark.parametrize(
    ("options", "error"),
    [(Options(stream_input=True), StreamImpossible), (Options(target="gap8-like"), StateNotOnTarget)],
)
def test_what_does_not_go_with_state_is_refused(options: Options, error: type[CompileError], tmp_path: Path) -> None:
    with pytest.raises(error):
        compile_file(model(tmp_path), options)


def test_inspect_shows_states(tmp_path: Path) -> None:
    plan = inspect(model(tmp_path)).plan
    assert plan is not None
    assert sorted(t.tensor for t in plan.tensors if t.kind == "state") == ["before", "sum"]
    assert not any(t.kind == "output" and t.tensor != "main_t8" for t in plan.tensors)
    ends = {(t.first_group, t.last_group) for t in plan.tensors if t.kind == "state"}
    assert ends == {(0, len(plan.groups) - 1)}
