"""Recurrences spelled out compute what ONNX Runtime, or the operator itself, computes; what cannot be is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CompileError
from codegen.frontends import read_real
from codegen.ir.real import RealGraph
from codegen.quantizer.places import Places
from codegen.quantizer.rewrite.recurrence import RECURRENT, check_spelled, spell_recurrences
from codegen.real.engine import RealEngine
from tests.support.recurrent_models import Recurrence

FORMS = {
    "LSTM": Recurrence("LSTM"),
    "LSTM of one step": Recurrence("LSTM", steps=1, shown=(0, 1, 2)),
    "LSTM in reverse": Recurrence("LSTM", "reverse", batch=2),
    "LSTM both ways from inputs": Recurrence("LSTM", "bidirectional", batch=2, first="inputs", shown=(0, 1, 2)),
    "LSTM from constants": Recurrence("LSTM", first="constants", shown=(1, 2)),
    "LSTM that looks at its cell": Recurrence("LSTM", first="inputs", peepholes=True),
    "LSTM within bounds": Recurrence("LSTM", attributes={"clip": 0.5}),
    "LSTM that forgets what it takes": Recurrence("LSTM", first="constants", attributes={"input_forget": 1}),
    "LSTM of other functions": Recurrence(
        "LSTM", attributes={"activations": ["HardSigmoid", "Softsign", "Elu"], "activation_alpha": [0.25, 0.7]}
    ),
    "LSTM of whole sequences": Recurrence("LSTM", batch=2, lengths=(4, 4)),
    "GRU": Recurrence("GRU"),
    "GRU of one step": Recurrence("GRU", steps=1, first="inputs"),
    "GRU both ways": Recurrence("GRU", "bidirectional", batch=2, first="inputs"),
    "GRU reset behind its product": Recurrence("GRU", "reverse", attributes={"linear_before_reset": 1}),
    "GRU reset, from inputs": Recurrence("GRU", first="inputs", batch=2, attributes={"linear_before_reset": 1}),
    "GRU from constants": Recurrence("GRU", first="constants", attributes={"clip": 0.6}),
    "RNN": Recurrence("RNN"),
    "RNN both ways from constants": Recurrence("RNN", "bidirectional", first="constants", batch=2),
    "LSTM of scaled functions": Recurrence(
        "LSTM",
        attributes={
            "activations": ["Affine", "ScaledTanh", "ScaledTanh"],
            "activation_alpha": [0.5, 0.9, 0.8],
            "activation_beta": [0.25, 0.7, 1.1],
        },
    ),
    "RNN above a threshold": Recurrence(
        "RNN", attributes={"activations": ["ThresholdedRelu"], "activation_alpha": [0.05]}
    ),
    "RNN of another function": Recurrence("RNN", "reverse", first="inputs", attributes={"activations": ["Relu"]}),
}
BATCH_FIRST = {
    "LSTM": Recurrence("LSTM", "bidirectional", batch=2, first="inputs", shown=(0, 1, 2), attributes={"layout": 1}),
    "GRU": Recurrence("GRU", "reverse", batch=3, first="inputs", attributes={"layout": 1}),
}
REFUSED = {
    "too many steps": (Recurrence("GRU", steps=129), "129 steps"),
    "several lengths": (Recurrence("LSTM", batch=2, lengths=(4, 3)), "several lengths"),
}


def _spelled(path: Path) -> tuple[RealGraph, RealGraph]:
    graph = read_real(path)
    made = spell_recurrences(graph)
    assert made.record.pairs == 1
    assert not any(isinstance(n.op, RECURRENT) for n in made.graph.nodes)
    return graph, made.graph


@pytest.mark.parametrize("name", FORMS)
def test_a_recurrence_spelled_out_is_what_onnx_runtime_computes(name: str, tmp_path: Path) -> None:
    ort = pytest.importorskip("onnxruntime")
    form = FORMS[name]
    path = form.write(tmp_path / "r.onnx")
    _, spelled = _spelled(path)
    session = ort.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    samples = form.samples(3)
    for i in range(3):
        feeds = {name: array[i] for name, array in samples.items()}
        ours = RealEngine(spelled).run(feeds)
        for theirs, mine in zip(session.run(None, feeds), ours.values(), strict=True):
            assert theirs.shape == mine.shape
            np.testing.assert_allclose(mine, theirs, atol=2e-6)


@pytest.mark.parametrize("name", BATCH_FIRST)
def test_with_the_batch_first_it_is_what_the_operator_computes(name: str, tmp_path: Path) -> None:
    form = BATCH_FIRST[name]
    graph, spelled = _spelled(form.write(tmp_path / "r.onnx"))
    feeds = {name: array[0] for name, array in form.samples(1).items()}
    for theirs, mine in zip(
        RealEngine(graph).run(feeds).values(), RealEngine(spelled).run(feeds).values(), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, atol=2e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_spelled_out_is_refused_unless_it_stays_float(name: str, tmp_path: Path) -> None:
    form, why = REFUSED[name]
    graph = spell_recurrences(read_real(form.write(tmp_path / "r.onnx"))).graph
    with pytest.raises(CompileError, match=why) as caught:
        check_spelled(graph, ())
    assert caught.value.problems()[0].code == "LAM-QUANT-029"
    check_spelled(graph, ("recurrence",))


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_a_state_has_the_same_integers_going_in_and_coming_out(kind: str, tmp_path: Path) -> None:
    form = Recurrence(kind, first="inputs", shown=(0, 1, 2))
    _, spelled = _spelled(form.write(tmp_path / "r.onnx"))
    like = {t.name: t.like or t.name for t in Places(spelled).tensors}

    def root(name: str) -> str:
        return name if like[name] == name else root(like[name])

    assert root("y1") == root("h0") == root("y0")
    assert kind != "LSTM" or root("y2") == root("c0") != root("h0")


def test_all_steps_read_one_constant_of_weights(tmp_path: Path) -> None:
    _, spelled = _spelled(Recurrence("LSTM", steps=5).write(tmp_path / "r.onnx"))
    sizes = [v.data.size for v in spelled.values.values() if v.data is not None]
    assert sorted(n for n in sizes if n > 24) == [24 * 5, 24 * 6]
