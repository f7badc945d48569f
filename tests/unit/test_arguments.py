"""Wrong types into public functions: each is refused by an id, with the argument's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import api
from codegen.errors import CompileError
from codegen.resources import resource_dir

DIGITS = resource_dir("examples") / "digits"
MODEL, DATA = DIGITS / "digits_qdq.onnx", DIGITS / "digits_test.npz"
NOTHING: tuple[object, ...] = (object(), 3.5, b"zz", lambda: 0, {1, 2})
"""What hardly any argument may be."""

CALLS: Mapping[str, tuple[Callable[..., Any], Mapping[str, Any], tuple[str, ...]]] = {
    "compile_model": (api.compile_model, {"model": MODEL}, ("target", "out", "options", "vectors", "force", "toolkit")),
    "verify": (api.verify, {"model": MODEL}, ("target", "samples", "seed", "compiler", "flags", "reference")),
    "quantize": (api.quantize, {"model": MODEL, "calib": DATA}, ("out", "target", "seed", "keep_float", "metric")),
    "sensitivity": (api.sensitivity, {"model": MODEL, "calib": DATA}, ("by", "target", "samples")),
    "compare_quantized": (
        api.compare_quantized,
        {"model": MODEL, "quantized": MODEL, "inputs": DATA},
        ("config", "samples"),
    ),
    "inspect": (api.inspect, {"model": MODEL}, ("target", "options", "goal", "measure_stack", "toolkit")),
    "profile": (api.profile, {"model": MODEL}, ("target", "opt_level", "cycles", "repeats")),
    "run": (api.run, {"model": MODEL, "x": np.zeros(3)}, ("engine", "target", "dump_all", "options")),
    "run_file": (api.run_file, {"model": MODEL, "data": DATA}, ("engine", "limit", "config", "dump_all")),
    "evaluate": (api.evaluate, {"model": MODEL, "data": DATA}, ("metric", "engine", "limit", "config")),
    "read_samples": (api.read_samples, {"model": MODEL, "data": DATA}, ("config", "limit", "options")),
    "compare": (api.compare, {"a": DATA, "b": DATA}, ("a", "b", "tolerance", "common")),
    "load": (api.load, {}, ("project",)),
    "demo": (api.demo, {}, ("out",)),
    "copy_examples": (api.copy_examples, {}, ("out",)),
    "describe_target": (api.describe_target, {}, ("name",)),
    "save_arrays": (api.save_arrays, {"path": "a.npz", "arrays": {}}, ("path", "arrays")),
}
CASES = [(name, word) for name, (_, _, words) in CALLS.items() for word in words]


@pytest.mark.parametrize(("name", "word"), CASES)
def test_a_wrong_type_is_refused_by_the_arguments_name(
    name: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, given, _ = CALLS[name]
    for wrong in NOTHING:
        if word == "tolerance" and isinstance(wrong, set):
            continue
        with pytest.raises(CompileError) as error:
            call(**{**given, word: wrong})
        assert (error.value.code, error.value.where) == ("LAM-IMPORT-030", word)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("word", "wrong"),
    [
        ("weights", np.zeros(3)),
        ("goal", np.zeros(3)),
        ("arena_limit", True),
        ("vectors", -1),
        ("vectors", 2**70),
        ("stream_input", 1),
        ("name", 5),
    ],
)
def test_an_option_of_a_wrong_type_or_beyond_its_range_is_refused_by_its_name(word: str, wrong: object) -> None:
    words: dict[str, Any] = {word: wrong}
    with pytest.raises(CompileError) as error:
        api.Options(**words)
    assert (error.value.code, error.value.where) == ("LAM-IMPORT-030", word)


@pytest.mark.parametrize("title", [None, 5, b"plan"])
def test_a_plans_title_is_text(title: Any, tmp_path: Path) -> None:
    plan = api.inspect(MODEL).plan
    with pytest.raises(CompileError) as error:
        api.draw_plan(plan, tmp_path / "plan.svg", title)  # type: ignore[arg-type]
    assert (error.value.code, error.value.where) == ("LAM-IMPORT-030", "title")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", [lambda p: api.load(p), lambda p: api.save_arrays(p, {"x": np.zeros(1)})])
def test_a_path_with_nul_is_refused(call: Callable[[str], object]) -> None:
    with pytest.raises(CompileError) as error:
        call("a\0b")
    assert error.value.code == "LAM-IMPORT-030"


def test_samples_engines_and_seeds_that_are_none_are_refused() -> None:
    for call, code, where in (
        (lambda: api.verify(MODEL, inputs=[1]), "LAM-IMPORT-030", "inputs"),  # type: ignore[list-item]
        (lambda: api.verify(MODEL, seed=-1), "LAM-IMPORT-030", "seed"),
        (lambda: api.evaluate(MODEL, DATA, engine=[]), "LAM-API-001", "engine"),
    ):
        with pytest.raises(CompileError) as error:
            call()
        assert (error.value.code, error.value.where) == (code, where)


def test_what_is_as_good_as_the_declared_type_is_taken(tmp_path: Path) -> None:
    made = api.compile_model(str(MODEL), out=str(tmp_path / "p"), vectors=np.int64(1), stream_input=np.bool_(False))  # type: ignore[arg-type]
    assert made.path.is_dir()
    assert api.compare(DATA, DATA, tolerance=(1, np.float32(0.5)), common=True).equal
