"""UNIDIRECTIONAL_SEQUENCE_LSTM: which variants are read, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CompileError
from codegen.frontends.tflite import import_tflite
from codegen.golden.interpreter import Stepper
from codegen.ir.graph import Graph
from codegen.ir.quant import Mode
from codegen.ops import Lstm
from tests.support.tflite_models import Model

INPUTS, SIZE, STEPS = 3, 2, 4
TANH = 4
RNG = np.random.default_rng(0)
WEIGHTS = [RNG.integers(-128, 128, (SIZE, INPUTS)).astype(np.int8) for _ in range(4)]
RECURRENT = [RNG.integers(-128, 128, (SIZE, SIZE)).astype(np.int8) for _ in range(4)]


def lstm(
    change: Callable[[Model, list[int]], None] | None = None,
    *,
    steps: int = STEPS,
    kind: str = "int8",
    cell_scale: float = 2.0**-11,
    bias: int = 100,
    **options: Any,
) -> Model:
    """A model of one LSTM; `change` may put other tensors into the list of its inputs."""
    model = Model()
    x_zero, zero = (3, 5) if kind == "int8" else (0, 0)
    x = model.input((1, steps, INPUTS), kind, 0.05, x_zero)
    weights = [model.const(w, 0.01) for w in (*WEIGHTS, *RECURRENT)]
    biases = [model.const(np.full(SIZE, bias, np.int32), 0.0005) for _ in range(4)]
    hidden = model.tensor((1, SIZE), kind, 1 / 128, zero, variable=True, name="hidden")
    cell = model.tensor((1, SIZE), "int16", cell_scale, variable=True, name="cell")
    none = -1
    places = [x, *weights, none, none, none, *biases, none, none, hidden, cell, none, none, none, none]
    if change is not None:
        change(model, places)
    y = model.output((1, steps, SIZE), kind, 1 / 128, zero)
    told = {"FusedActivationFunction": TANH, **options}
    model.op("UNIDIRECTIONAL_SEQUENCE_LSTM", places, [y], "UnidirectionalSequenceLSTMOptions", **told)
    return model


def imported(model: Model, folder: Path, mode: Mode = "tflite") -> Graph:
    path = folder / "m.tflite"
    path.write_bytes(model.bytes())
    return import_tflite(path, mode=mode)


def placed(*indices: int) -> Callable[[Model, list[int]], None]:
    """Gives the optional inputs at these places."""

    def change(model: Model, places: list[int]) -> None:
        for index in indices:
            places[index] = model.const(np.ones(SIZE, np.int16), 0.001)

    return change


def left_out(model: Model, places: list[int]) -> None:
    places[1] = places[5] = places[12] = -1


def per_channel(model: Model, places: list[int]) -> None:
    places[2] = model.const(WEIGHTS[1], [0.01, 0.02])


def other_shape(model: Model, places: list[int]) -> None:
    places[3] = model.const(np.ones((SIZE, INPUTS + 1), np.int8), 0.01)


def plain_state(model: Model, places: list[int]) -> None:
    places[18] = model.const(np.zeros((1, SIZE), np.int8), 1 / 128, 5)


@pytest.mark.parametrize(
    ("model", "code"),
    [
        (lambda: lstm(placed(9, 10, 11)), "LAM-IMPORT-022"),
        (lambda: lstm(placed(16)), "LAM-IMPORT-022"),
        (lambda: lstm(placed(20, 21, 22, 23)), "LAM-IMPORT-022"),
        (lambda: lstm(left_out), "LAM-IMPORT-022"),
        (lambda: lstm(DiagonalRecurrentTensors=True), "LAM-IMPORT-022"),
        (lambda: lstm(FusedActivationFunction=1), "LAM-IMPORT-022"),
        (lambda: lstm(CellClip=-1.0), "LAM-IMPORT-022"),
        (lambda: lstm(bias=2**31 - 1), "LAM-IMPORT-022"),
        (lambda: lstm(cell_scale=0.0006), "LAM-IMPORT-010"),
        (lambda: lstm(cell_scale=2.0**4), "LAM-OPS-RECURRENT-09"),
        (lambda: lstm(per_channel), "LAM-IMPORT-012"),
        (lambda: lstm(other_shape), "LAM-IMPORT-014"),
        (lambda: lstm(plain_state), "LAM-IMPORT-031"),
        (lambda: lstm(kind="uint8"), "LAM-IMPORT-019"),
    ],
)
def test_variants_are_refused(model: Callable[[], Model], code: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        imported(model(), tmp_path)
    assert [p.code for p in caught.value.problems()] == [code]


@pytest.mark.parametrize("mode", ["single", "tflite", "ort"])
def test_every_mode_has_tflites_definition(mode: Mode, tmp_path: Path) -> None:
    graph = imported(lstm(CellClip=1.0), tmp_path, mode)
    (node,) = graph.nodes
    assert isinstance(node.op, Lstm)
    assert node.op.clip == 2048
    assert node.op == imported(lstm(CellClip=1.0), tmp_path).nodes[0].op
    assert [(s.name, s.initial.tolist()) for s in graph.states] == [("hidden", [[5, 5]]), ("cell", [[0, 0]])]


def test_a_sequence_at_once_is_its_steps_one_by_one(tmp_path: Path) -> None:
    whole, single = (Stepper(imported(lstm(steps=n), tmp_path)) for n in (STEPS, 1))
    for _ in range(3):
        x = RNG.integers(-128, 128, (1, STEPS, INPUTS)).astype(np.int8)
        expected = whole.run({whole.graph.inputs[0].value: x})[whole.graph.outputs[0].value]
        found = []
        for step in range(STEPS):
            values = single.run({single.graph.inputs[0].value: x[:, step : step + 1]})
            found.append(values[single.graph.outputs[0].value])
        assert np.array_equal(np.concatenate(found, axis=1), expected)


def test_16_bit_activations_want_biases_of_64_bits(tmp_path: Path) -> None:
    def widened(model: Model, places: list[int]) -> None:
        for place in range(12, 16):
            places[place] = model.const(np.full(SIZE, 100, np.int64), 0.0005)

    assert imported(lstm(widened, kind="int16"), tmp_path).nodes
    with pytest.raises(CompileError, match=r"LAM-IMPORT-019 .*bias of type int32"):
        imported(lstm(kind="int16"), tmp_path)
