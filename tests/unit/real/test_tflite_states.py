"""TFLite's operators with memory as RealGraphs, run after run, against LiteRT's reference kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CompileError
from codegen.frontends.tflite.real import read_real
from codegen.ir.quant import Array
from codegen.real.engine import RealEngine
from codegen.real.storage import Dequantize, Quantize
from tests.support.recurrent_cases import svdf as quantized_svdf
from tests.support.tflite_cases import Draw
from tests.support.tflite_models import Model, run_litert, run_tflm
from tests.support.tflite_real_cases import reals
from tests.support.tflite_state_cases import draw_state
from tests.support.tools import require_module

RUNS = 4


def lstm(*, major: bool, seed: int = 1, clip: float = 0.0) -> tuple[Model, tuple[int, ...]]:
    """Batches of two, three steps of four entries, five cells."""
    model, size = Model(), 5
    shape, out = ((3, 2, 4), (3, 2, size)) if major else ((2, 3, 4), (2, 3, size))
    x = model.input(shape, "float32")
    weights = [model.const(reals(size, 4, seed=seed + g)) for g in range(4)]
    recurrent = [model.const(reals(size, size, seed=seed + 4 + g, low=-1, high=1)) for g in range(4)]
    biases = [model.const(reals(size, seed=seed + 8 + g)) for g in range(4)]
    states = [model.tensor((2, size), "float32", variable=True) for _ in range(2)]
    inputs = [x, *weights, *recurrent, -1, -1, -1, *biases, -1, -1, *states]
    options = {"FusedActivationFunction": 4, "TimeMajor": major, "CellClip": clip}
    y = model.output(out, "float32")
    model.op("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [y], "UnidirectionalSequenceLSTMOptions", **options)
    return model, shape


def svdf(*, rank: int, memory: int, bias: bool, kept: tuple[int, int] | None = None) -> tuple[Model, tuple[int, ...]]:
    model, units = Model(), 3
    x, filters = model.input((2, 4), "float32"), units * rank
    inputs = [x, model.const(reals(filters, 4, seed=2)), model.const(reals(filters, memory, seed=3))]
    inputs.append(model.const(reals(units, seed=4)) if bias else -1)
    inputs.append(model.tensor(kept or (2, filters * memory), "float32", variable=True))
    options = {"Rank": rank, "FusedActivationFunction": 1 if bias else 0}
    model.op("SVDF", inputs, [model.output((2, units), "float32")], "SVDFOptions", **options)
    return model, (2, 4)


MODELS = {
    "LSTM": lambda: lstm(major=False),
    "LSTM time major": lambda: lstm(major=True),
    "LSTM with bounds": lambda: lstm(major=False, clip=0.4),
    "SVDF": lambda: svdf(rank=2, memory=3, bias=True),
    "SVDF without bias": lambda: svdf(rank=1, memory=1, bias=False),
}


@pytest.mark.parametrize("name", MODELS)
def test_runs_go_on_where_the_one_before_ended(name: str, tmp_path: Path) -> None:
    model, shape = MODELS[name]()
    path = tmp_path / "m.tflite"
    path.write_bytes(model.bytes())
    graph = read_real(path)
    assert len(graph.states) == (2 if name.startswith("LSTM") else 1)
    samples: list[list[Array]] = [[reals(*shape, seed=20 + i)] for i in range(RUNS)]
    wanted = run_litert(model.bytes(), *samples)
    engines = [RealEngine(graph, exact=exact) for exact in (True, False)]
    for sample, (want,) in zip(samples, wanted, strict=True):
        for engine in engines:
            (found,) = engine.run({graph.inputs[0]: sample[0]}).values()
            np.testing.assert_allclose(found, want, rtol=0, atol=1e-5 * float(np.abs(want).max()))
    (again,) = RealEngine(graph).run({graph.inputs[0]: samples[-1][0]}).values()
    if name != "SVDF without bias":  # its memory is of one step
        assert not np.allclose(again, wanted[-1][0], atol=1e-3)


def test_a_memory_of_another_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(svdf(rank=2, memory=3, bias=True, kept=(2, 17))[0].bytes())
    with pytest.raises(CompileError) as error:
        read_real(path)
    assert [e.code for e in error.value.problems()] == ["LAM-IMPORT-014"]


@pytest.mark.parametrize("seed", [0, 3, 5, 6, 10, 11])
def test_a_quantized_memory_holds_what_tflites_integers_hold(seed: int, tmp_path: Path) -> None:
    """Of draws whose sums stay within 32 bits; what TFLite lets wrap around is no real number."""
    draw = Draw(np.random.default_rng(seed), "int8")
    case = quantized_svdf(draw, "int8")
    path = tmp_path / "m.tflite"
    path.write_bytes(draw.bytes())
    graph = read_real(path)
    (port,), (out,) = graph.inputs, graph.outputs
    held, given = graph.values[port].stored, graph.values[out].stored
    assert held is not None
    assert given is not None
    engine = RealEngine(graph)
    for (x,), y in zip(case.case.inputs, case.run(), strict=True):
        found = engine.run({port: Dequantize(held).evaluate([x])[0]})[out]
        assert np.abs(Quantize(given).evaluate([found])[0].astype(int) - y).max() <= 1


@pytest.mark.parametrize("seed", range(6))
def test_variables_hold_what_tflites_integers_hold(seed: int, tmp_path: Path) -> None:
    """Within a step: a sum is rounded once here, twice in TFLite Micro."""
    require_module("tflite_micro")
    case = draw_state("ASSIGN_VARIABLE", "int8", seed)
    path = tmp_path / "m.tflite"
    path.write_bytes(case.data)
    graph = read_real(path)
    (port,) = graph.inputs
    held, engine = graph.values[port].stored, RealEngine(graph)
    assert held is not None
    for (x,), wanted in zip(case.inputs, run_tflm(case.data, *case.inputs), strict=True):
        found = engine.run({port: Dequantize(held).evaluate([x])[0]})
        for name, want in zip(graph.outputs, wanted, strict=True):
            given = graph.values[name].stored
            assert given is not None
            assert np.abs(Quantize(given).evaluate([found[name]])[0].astype(int) - want).max() <= 1
