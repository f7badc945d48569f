"""LSTM, GRU and RNN between quantized tensors, beside ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import ModelRejected
from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Mode
from codegen.ops import Recurrent

from .models import Net, compare, imported, kinds

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS, BATCH, ENTRIES, UNITS = 6, 2, 5, 7
Model = Any


class Cell:
    """A recurrence on a quantized sequence, whose weights are quantized too, and what is asked of it."""

    def __init__(
        self,
        kind: str,
        dtype: Any = np.int8,
        directions: int = 1,
        *,
        steps: int = STEPS,
        units: int = UNITS,
        **attributes: Any,
    ) -> None:
        self.net, self.steps, self.units = Net(), steps, units
        self.kind, self.directions = kind, directions
        self.meaning = {np.int8: (0.02, 3), np.uint8: (0.02, 130), np.int16: (1e-4, 0)}[dtype]
        self.y = {np.int8: (1 / 127, 0), np.uint8: (1 / 127, 128), np.int16: (2.0**-15, 0)}[dtype]
        self.dtype = dtype
        rows = GATES[kind] * units
        self.w = self.net.weights(self.net.ints(directions, rows, ENTRIES), 0.005)
        self.r = self.net.weights(self.net.ints(directions, rows, units), 0.004)
        self.bias = self.net.const(self.net.rng.normal(0, 0.3, (directions, 2 * rows)), np.float32)
        self.lengths, self.h, self.c, self.more = "", "", "", ""
        self.attributes = {"hidden_size": units, **attributes}
        if directions == 2:
            self.attributes["direction"] = "bidirectional"

    @property
    def state(self) -> tuple[int, ...]:
        return (self.directions, BATCH, self.units)

    def given(self, name: str, scale: float) -> str:
        """A first state that the user gives, quantized."""
        return str(self.net.qdq(self.net.input(self.state, name=name), scale, 0, self.dtype))

    def model(self, *outputs: int, scale: float = 0.0) -> Model:
        """The file, with the outputs that are asked for, quantized."""
        x = self.net.qdq(self.net.input((self.steps, BATCH, ENTRIES)), *self.meaning, self.dtype)
        states = (self.h, self.c, self.more) if self.kind == "LSTM" else (self.h,)
        inputs = [x, self.w, self.r, self.bias, self.lengths, *states]
        while not inputs[-1]:
            inputs.pop()
        found = self.net.op(self.kind, *inputs, outputs=max(outputs) + 1, **self.attributes)
        every = [found] if isinstance(found, str) else list(found)
        meaning = (scale, 0) if scale else self.y
        return self.net.model(*(self.net.qdq(every[i], *meaning, self.dtype) for i in outputs), opset=21, ir_version=10)


def agrees(model: Model, folder: Path, steps: float = 1.0, **options: Any) -> Graph:
    """The graph, whose results are within steps of ONNX Runtime's; none of it computes with real numbers."""
    found = compare(model, folder, **options)
    assert found.largest <= steps + 0.001
    assert not any(kind.startswith("Float") for kind in kinds(found.graph))
    return found.graph


def cells(graph: Graph) -> list[Recurrent]:
    return [node.op for node in graph.nodes if isinstance(node.op, Recurrent)]


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize(("dtype", "steps"), [(np.int8, 1), (np.uint8, 1), (np.int16, 2)])
@pytest.mark.parametrize("mode", ["single", "ort", "tflite"])
def test_a_cell_is_one_operator_in_integers(kind: str, dtype: Any, steps: int, mode: Mode, tmp_path: Path) -> None:
    graph = agrees(Cell(kind, dtype).model(0), tmp_path, steps, mode=mode)
    (cell,) = cells(graph)
    assert len(cell.gates.x) == 1


@pytest.mark.parametrize("kind", GATES)
def test_many_steps_of_16_bits_stay_within_two(kind: str, tmp_path: Path) -> None:
    """Units that hand on more than they are given: what a plain recurrence rounds off comes back in each step."""
    (cell,) = cells(agrees(Cell(kind, np.int16, steps=20, units=32).model(0), tmp_path, 2, mode="single"))
    assert cell.finer == (kind != "LSTM")


@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("units", [16, 64])
def test_a_gru_that_hands_on_nearly_all_of_its_state_stays_within_two_steps(
    units: int, after: int, tmp_path: Path
) -> None:
    """Of 60 steps of 16 bits: a tenth of what each rounds off comes to three."""
    made = Cell("GRU", np.int16, steps=60, units=units, linear_before_reset=after)
    made.r = made.net.weights(made.net.ints(1, 3 * units, units), 0.02 / units**0.5)
    bias = made.net.rng.normal(0, 0.3, (1, 6 * units))
    bias[:, :units] += 2.0
    made.bias = made.net.const(bias, np.float32)
    agrees(made.model(0), tmp_path, 2, mode="single", runs=4)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("outputs", [(0, 1), (1,)])
def test_both_directions_and_the_last_states(kind: str, outputs: tuple[int, ...], tmp_path: Path) -> None:
    graph = agrees(Cell(kind, directions=2).model(*outputs), tmp_path)
    assert [cell.reverse for cell in cells(graph)] == [False, True]
    sources = [value.source for value in graph.values.values() if value.source and not value.is_const]
    assert len(sources) == len(set(sources)), "verify finds a tensor's golden numbers by its source"


@pytest.mark.parametrize("kind", GATES)
def test_first_states_that_are_known_or_given(kind: str, tmp_path: Path) -> None:
    """Beyond -1 .. 1 the hidden state has larger steps; a given cell keeps its own scale's grid."""
    for i, scale in enumerate((0.007, 0.03)):
        made = Cell(kind)
        made.h, made.c = made.given("h", scale), made.given("c", 0.03)
        (cell,) = cells(agrees(made.model(0, 1, scale=scale), tmp_path))
        assert cell.reach == 2 * i
    made = Cell(kind)
    made.h, made.c = (made.net.const(made.net.rng.uniform(-1, 1, made.state), np.float32) for _ in range(2))
    assert cells(agrees(made.model(0, 1), tmp_path))[0].reach == 0


def test_the_last_cell_has_32_bits_until_it_is_quantized(tmp_path: Path) -> None:
    made = Cell("LSTM")
    made.c = made.given("c", 0.03)
    graph = agrees(made.model(2, scale=0.03), tmp_path)
    (node,) = (n for n in graph.nodes if isinstance(n.op, Recurrent))
    assert graph.type(node.outputs[1]).dtype is DType.S32
    assert kinds(graph)[-1] == "Rescale"


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        *(("GRU", {"linear_before_reset": n, "clip": 0.7}) for n in (0, 1)),
        ("GRU", {"direction": "reverse", "activations": ["Sigmoid", "Sigmoid"]}),
        ("LSTM", {"input_forget": 1}),
        ("LSTM", {"clip": 0.5, "direction": "reverse"}),
        ("RNN", {"activations": ["Sigmoid"]}),
    ],
)
def test_other_forms_of_cells(kind: str, attributes: dict[str, Any], tmp_path: Path) -> None:
    agrees(Cell(kind, **attributes).model(0, 1), tmp_path)


def test_weights_with_a_scale_for_each_row_and_weights_that_nothing_has_quantized(tmp_path: Path) -> None:
    made, rows = Cell("GRU"), 3 * UNITS
    scales = made.net.rng.uniform(0.002, 0.006, rows)
    made.w = made.net.weights(made.net.ints(1, rows, ENTRIES), scales, axis=1)
    made.r = made.net.weights(made.net.ints(1, rows, UNITS), scales[::-1], axis=1)
    assert len(cells(agrees(made.model(0), tmp_path))[0].gates.x) == rows
    made = Cell("LSTM")
    made.w, made.r = (
        made.net.const(made.net.rng.normal(0, 0.4, (1, 4 * UNITS, n)), np.float32) for n in (ENTRIES, UNITS)
    )
    graph = agrees(made.model(0), tmp_path)
    (node,) = (n for n in graph.nodes if isinstance(n.op, Recurrent))
    assert graph.type(node.inputs[1]).dtype is DType.S16


@pytest.mark.parametrize("what", ["peepholes", "functions", "gates", "far", "huge", "pot"])
def test_what_integers_do_not_have_stays_one_operator_on_real_numbers(what: str, tmp_path: Path) -> None:
    functions = {"functions": {"activations": ["Sigmoid", "Softsign", "Tanh"]}, "gates": {"activations": ["Tanh"] * 3}}
    made = Cell("LSTM", **functions.get(what, {}))
    if what == "peepholes":
        made.more = made.net.const(np.full((1, 3 * UNITS), 0.3), np.float32)
    if what == "far":
        made.h = made.net.const(np.full(made.state, 1e6), np.float32)
    if what == "huge":
        made.bias = made.net.const(np.full((1, 8 * UNITS), 1e6), np.float32)
    graph = imported(made.model(0), tmp_path, mode="pot" if what == "pot" else "single")
    assert "FloatRecurrent" in kinds(graph)
    assert not cells(graph)


def test_sequences_of_several_lengths_are_refused(tmp_path: Path) -> None:
    made = Cell("RNN")
    made.lengths = made.net.const(np.array([6, 4]), np.int32)
    with pytest.raises(ModelRejected, match="RNN over sequences of several lengths"):
        imported(made.model(0), tmp_path)


def test_results_that_are_read_as_real_numbers_are_computed_so(tmp_path: Path) -> None:
    net = Cell("GRU")
    model = net.model(0)
    y = next(n.output[0] for n in model.graph.node if n.op_type == "GRU")
    model.graph.output[0].name = y
    assert "FloatRecurrent" in kinds(imported(model, tmp_path))
