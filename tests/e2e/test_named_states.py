"""States that a configuration names: calibrated over sequences, held alike, fed back as integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.api import Network, compare_quantized, compile_model, quantize, sensitivity, verify
from codegen.errors import CompileError
from tests.support.outsider import ort_session
from tests.support.step_models import STEPWISE, Stepwise

STEPS = 60


def _config(folder: Path, text: str = 'state = "kept"') -> Path:
    (folder / "q.toml").write_text(f"[quantize.io]\nstates = {{ {text} }}\n")
    return folder / "q.toml"


def _run_on(run: object, form: Stepwise, state: np.ndarray, seed: int) -> np.ndarray:
    found = []
    for x in form.samples(STEPS, seed):
        made = run({"x": x, "state": state})  # type: ignore[operator]
        state = made["kept"]
        found.append(np.asarray(made["y"]).ravel())
    return np.stack(found)


@pytest.mark.parametrize(("kind", "bits"), [("gated", 16), ("streaming", 8)])
def test_a_named_state_is_fed_back_as_integers(kind: str, bits: int, tmp_path: Path) -> None:
    form = STEPWISE[kind]
    path = form.write(tmp_path / "f.onnx")
    made = quantize(path, {"x": form.samples(200)}, config=_config(tmp_path), out=tmp_path / "q.onnx")
    assert made.report.refusal == ""
    assert made.table["state"][2] == bits
    assert made.table["state"] == made.table["kept"]
    assert verify(made.model, samples=2).equal
    zeros = np.zeros(form.state_shape, np.float32)
    session = ort_session(path)
    names = [o.name for o in session.get_outputs()]
    real = _run_on(lambda feeds: dict(zip(names, session.run(None, feeds), strict=True)), form, zeros, 9)
    project = compile_model(made.model, out=tmp_path / "c", io_layout="model")
    with Network(project.path) as network:
        ours = _run_on(network.run, form, zeros, 9)
    noise = ((real - ours) ** 2).sum() / (real.astype(np.float64) ** 2).sum()
    assert -10 * np.log10(noise) > 25


def test_samples_for_named_states_are_taken_where_they_are_given(tmp_path: Path) -> None:
    form, config = STEPWISE["gated"], _config(tmp_path)
    path, x = form.write(tmp_path / "f.onnx"), form.samples(40)
    session, states = ort_session(path), [np.zeros(form.state_shape, np.float32)]
    names = [o.name for o in session.get_outputs()]
    for one in x:
        states.append(session.run(None, {"x": one, "state": states[-1]})[names.index("kept")])
    given = {"x": x, "state": np.stack(states[:-1])}
    whole, alone = quantize(path, given, config=config).table, quantize(path, {"x": x}, config=config).table
    assert {name: np.float32(t[0]).round(6) for name, t in whole.items()} == {
        name: np.float32(t[0]).round(6) for name, t in alone.items()
    }


def test_sensitivity_and_comparison_feed_named_states_back(tmp_path: Path) -> None:
    form, config = STEPWISE["gated"], _config(tmp_path)
    path, x = form.write(tmp_path / "f.onnx"), form.samples(40)
    assert sensitivity(path, {"x": x}, config=config).parts
    made = quantize(path, {"x": x}, config=config, out=tmp_path / "q.onnx")
    assert made.path is not None
    assert compare_quantized(path, made.path, {"x": x}, config=config).tensors


WRONG = {
    "an unknown input": 'h = "kept"',
    "an unknown output": 'state = "h"',
    "another shape": 'state = "y"',
    "one output twice": 'state = "kept", x = "kept"',
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_what_is_no_state_is_refused(text: str, tmp_path: Path) -> None:
    form = STEPWISE["gated"]
    path = form.write(tmp_path / "f.onnx")
    with pytest.raises(CompileError) as caught:
        quantize(path, {"x": form.samples(20)}, config=_config(tmp_path, text))
    assert caught.value.code == "LAM-QUANT-030"


@pytest.mark.parametrize("text", ["", "state = 1", 'state = ""'])
def test_what_is_no_table_of_names_is_refused(text: str, tmp_path: Path) -> None:
    form = STEPWISE["gated"]
    path = form.write(tmp_path / "f.onnx")
    with pytest.raises(CompileError) as caught:
        quantize(path, {"x": form.samples(20)}, config=_config(tmp_path, text))
    assert caught.value.problems()[0].code == "LAM-QUANT-003"


def test_samples_that_lack_a_state_are_told_how_it_is_named(tmp_path: Path) -> None:
    form = STEPWISE["gated"]
    path = form.write(tmp_path / "f.onnx")
    with pytest.raises(CompileError, match=r'LAM-API-004 .* states = \{ state = "kept" \}'):
        quantize(path, {"x": form.samples(20)})
