"""Float networks with LSTM, GRU and RNN go to C through the quantizer, and their states can be fed back as they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest

from codegen.api import Network, compile_model, quantize, verify
from codegen.frontends import read_real
from codegen.options import Options
from codegen.real.engine import RealEngine
from codegen.toolkit import HOUSE
from codegen.verbs.calibration import all_samples
from codegen.verbs.float_source import float_graph
from tests.support.recurrent_models import Recurrence

ort = pytest.importorskip("onnxruntime")

FORMS = {
    "LSTM": Recurrence("LSTM", "bidirectional", steps=3, first="inputs", shown=(0, 1, 2)),
    "GRU": Recurrence("GRU", steps=3, batch=2, attributes={"linear_before_reset": 1}),
    "RNN": Recurrence("RNN", "reverse", steps=3, first="constants"),
    "RNN above a threshold": Recurrence(
        "RNN", steps=3, attributes={"activations": ["ThresholdedRelu"], "activation_alpha": [0.05]}
    ),
}
STEPS = 40


def _sqnr(real: np.ndarray, made: np.ndarray) -> float:
    return float(10 * np.log10((real.astype(np.float64) ** 2).sum() / ((real - made) ** 2).sum()))


def _sessions(*models: bytes) -> list[ort.InferenceSession]:
    return [ort.InferenceSession(m, providers=["CPUExecutionProvider"]) for m in models]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", FORMS)
def test_a_recurrence_is_quantized_verified_and_close_to_the_float_one(kind: str, tmp_path: Path) -> None:
    form = FORMS[kind]
    path = form.write(tmp_path / "r.onnx")
    made = quantize(path, form.samples(40))
    assert made.report.refusal == ""
    assert made.report.sqnr is not None
    assert made.report.sqnr > 30
    assert verify(made.model, samples=2).equal
    feeds = [{n: a[i] for n, a in form.samples(8, seed=9).items()} for i in range(8)]
    real, theirs = (
        [np.concatenate([y.ravel() for y in s.run(None, f)]) for f in feeds]
        for s in _sessions(path.read_bytes(), made.model)
    )
    assert _sqnr(np.stack(real), np.stack(theirs)) > 28


def test_a_recurrence_that_is_kept_float_stays_one_operator(tmp_path: Path) -> None:
    form = FORMS["GRU"]
    path = form.write(tmp_path / "r.onnx")
    (node,) = (n for n in read_real(path).nodes if n.op_type == "GRU")
    for name in (node.name, node.outputs[0]):
        made = quantize(path, form.samples(20), recipe="fast", keep_float=[name])
        assert [n.op_type for n in onnx.load_from_string(made.model).graph.node].count("GRU") == 1
        assert made.report.refusal == ""
    assert verify(made.model, samples=2).equal


def _fed_back(run: object, x: np.ndarray, states: dict[str, np.ndarray], named: Mapping[str, str]) -> np.ndarray:
    """All h of a network of one step whose states are fed back."""
    found = []
    for step in x:
        made = run({"x": step, **states})  # type: ignore[operator]
        states = {before: made[after] for before, after in named.items()}
        found.append(made["y1"])
    return np.stack(found)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_states_are_fed_back_as_integers_for_many_steps(kind: str, tmp_path: Path) -> None:
    form = Recurrence(kind, steps=1, first="inputs", shown=(1, 2))
    path = form.write(tmp_path / "r.onnx")
    made = quantize(path, form.samples(60), out=tmp_path / "q.onnx")
    (float_session,) = _sessions(path.read_bytes())
    named = {"h0": "y1"} | ({"c0": "y2"} if kind == "LSTM" else {})
    x = form.samples(STEPS, seed=3)["x"]
    zeros = {name: np.zeros(form.state_shape, np.float32) for name in named}
    outputs = [o.name for o in float_session.get_outputs()]
    real = _fed_back(lambda feeds: dict(zip(outputs, float_session.run(None, feeds), strict=True)), x, zeros, named)
    assert made.path is not None
    table = made.table
    assert all(table[before][0] == table[after][0] for before, after in named.items())
    project = compile_model(made.path, out=tmp_path / "c")
    with Network(project.path) as network:
        ours = _fed_back(network.run, x, zeros, named)
    assert _sqnr(real, ours) > 25


def test_samples_without_states_are_steps_of_a_sequence(tmp_path: Path) -> None:
    form = Recurrence("LSTM", steps=1, first="inputs", shown=(1, 2))
    path = form.write(tmp_path / "r.onnx")
    x = form.samples(30, seed=5)["x"]
    (session,) = _sessions(path.read_bytes())
    h = c = np.zeros(form.state_shape, np.float32)
    states = []
    for step in x:
        states.append((h, c))
        h, c = session.run(None, {"x": step, "h0": h, "c0": c})
    given = {"x": x, "h0": np.stack([s[0] for s in states]), "c0": np.stack([s[1] for s in states])}
    whole, alone = quantize(path, given).table, quantize(path, {"x": x}).table
    assert whole.keys() == alone.keys()
    for name, stored in whole.items():
        assert np.isclose(alone[name][0], stored[0], rtol=1e-4), name


def test_each_of_several_sequences_begins_with_zeros(tmp_path: Path) -> None:
    form = Recurrence("LSTM", steps=1, first="inputs", shown=(1, 2))
    path = form.write(tmp_path / "r.onnx")
    graph, x = float_graph(path, Options(), HOUSE.vocabulary), form.samples(30, seed=5)["x"]
    (session,) = _sessions(path.read_bytes())
    source, _ = all_samples(graph, {"x": x.reshape(5, 6, *x.shape[1:])}, None)
    assert len(source) == 30
    for index in range(30):
        if index % 6 == 0:
            h = c = np.zeros(form.state_shape, np.float32)
        np.testing.assert_array_equal(source[index]["x"], x[index])
        np.testing.assert_allclose(source[index]["h0"], h, atol=1e-5)
        np.testing.assert_allclose(source[index]["c0"], c, atol=1e-5)
        h, c = session.run(None, {"x": x[index], "h0": h, "c0": c})
    np.savez(tmp_path / "s.npz", x=x.reshape(5, 6, *x.shape[1:]))
    from_file, _ = all_samples(graph, tmp_path / "s.npz", None)
    assert all(np.array_equal(from_file[i]["h0"], source[i]["h0"]) for i in range(30))


def test_the_float_network_that_is_written_on_the_way_is_the_same(tmp_path: Path) -> None:
    form = FORMS["LSTM"]
    path = form.write(tmp_path / "r.onnx")
    quantize(path, form.samples(8), out=tmp_path / "f.onnx", stop_after="rewrite")
    feeds = {n: a[0] for n, a in form.samples(1, seed=4).items()}
    for was, now in zip(
        *(RealEngine(read_real(p)).run(feeds).values() for p in (path, tmp_path / "f.onnx")), strict=True
    ):
        np.testing.assert_allclose(now, was, atol=2e-6)
