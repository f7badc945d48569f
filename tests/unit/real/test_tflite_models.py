"""TFLite models as RealGraphs: what they compute, against LiteRT's reference kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from codegen.frontends.tflite import import_tflite
from codegen.frontends.tflite.reader import read_model
from codegen.frontends.tflite.real import read_real
from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.ir.text import graph_text
from codegen.real.engine import RealEngine, numbers_of
from codegen.real.storage import Dequantize, Quantize
from codegen.settle.walk import settle
from tests.support.real_tflite import MODELS, model_path, recorded
from tests.support.shared import shared_dir
from tests.support.tflite_models import Model, run_litert

FLOAT = {
    **{f"mlperf_tiny/{name}_f32": 1e-5 for name in ("ad", "kws", "resnet8", "vww")},
    "tflite/hello_world_f32": 1e-5,
    "mlperf_tiny/kws_dynrange": 1e-2,
}
"""How far results may lie from LiteRT's, which quantizes the activations of a dynamic-range model on the way."""
SHALLOW = ("strww_int8", "micro_speech_int8", "hello_world_int8", "ad_int8")


def _held(graph: RealGraph, name: str, integers: Array) -> Array:
    stored = graph.values[name].stored
    assert stored is not None
    return Dequantize(stored).evaluate([integers.reshape(graph.type(name).shape)])[0]


def _steps(graph: RealGraph, name: str, reals: Array, integers: Array) -> Array:
    """How many steps real numbers lie from what LiteRT holds."""
    stored = graph.values[name].stored
    assert stored is not None
    return np.abs(Quantize(stored).evaluate([reals])[0].astype(np.int64) - integers.reshape(reals.shape))


@pytest.mark.parametrize("name", FLOAT)
def test_a_float_model_gives_what_litert_gives(name: str) -> None:
    path = shared_dir() / "models" / f"{name}.tflite"
    graph = read_real(path)
    (port,) = graph.inputs
    x = np.random.default_rng(3).random(graph.type(port).shape, np.float32)
    ((wanted,),) = run_litert(path.read_bytes(), [x])
    (found,) = RealEngine(graph).run({port: x}).values()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=FLOAT[name] * float(np.abs(wanted).max()))
    weights = {v.stored.dtype.name for v in graph.values.values() if v.stored is not None}
    assert weights == ({"int8"} if "dynrange" in name else set())


@pytest.mark.parametrize("name", MODELS)
def test_each_layer_of_a_quantized_model_gives_what_litert_gives_from_the_same_numbers(name: str) -> None:
    graph = read_real(model_path(name))
    assert graph.definition == "tflite"
    ((x,), _) = (part[:1] for part in recorded(name, 1))
    theirs = _tensors_of(model_path(name), x)
    known = {v.name: numbers_of(v) for v in graph.values.values() if v.data is not None}
    known[graph.inputs[0]] = _held(graph, graph.inputs[0], x)
    off: list[Array] = []
    for node in graph.nodes:
        for out, found in zip(node.outputs, node.op.evaluate([known[i] for i in node.inputs]), strict=True):
            known[out] = found
            if graph.values[out].stored is not None:
                off.append(_steps(graph, out, found, theirs[out]).reshape(-1))
                known[out] = _held(graph, out, theirs[out])
    steps = np.concatenate(off)
    assert steps.max() <= 1
    assert np.mean(steps == 0) > 0.98


@pytest.mark.parametrize("name", SHALLOW)
def test_a_quantized_model_gives_what_litert_gives(name: str) -> None:
    """Of deep networks a single step in an early layer grows, also between LiteRT's own kernels."""
    graph = read_real(model_path(name))
    (port,), (out,) = graph.inputs, graph.outputs
    engine = RealEngine(graph)
    for x, y in zip(*recorded(name, 8), strict=True):
        found = engine.run({port: _held(graph, port, x)})[out]
        assert np.mean(_steps(graph, out, found, y) <= 1) > 0.98


def _tensors_of(path: Path, x: Array) -> dict[str, Array]:
    """Every tensor that LiteRT's kernels computed, by the reader's names."""
    interpreter = Interpreter(
        model_content=path.read_bytes(),
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
    )
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    graph = read_model(path).subgraphs[0]
    written = {i for node in graph.nodes for i in node.outputs}
    return {t.name: np.array(interpreter.get_tensor(t.index)) for t in graph.tensors if t.index in written}


def test_int16_and_shared_outputs(tmp_path: Path) -> None:
    """A tensor of int16, given out twice, one copy through DEQUANTIZE."""
    model = Model()
    x = model.input((2, 3), "int16", 0.01)
    y = model.output((2, 3), "int16", 0.02)
    model.op("ADD", [x, x], [y], "AddOptions")
    model.graph.outputs.append(y)
    model.op("DEQUANTIZE", [y], [model.output((2, 3), "float32")])
    path = tmp_path / "m.tflite"
    path.write_bytes(model.bytes())
    graph = read_real(path)
    assert len(set(graph.outputs)) == len(set(graph.faces)) == 3
    numbers = np.array([[1, -5, 300], [32767, -32768, 0]], np.int16)
    found = list(RealEngine(graph).run({graph.inputs[0]: _held(graph, graph.inputs[0], numbers)}).values())
    assert all(np.array_equal(f, found[0]) for f in found)
    np.testing.assert_allclose(found[2], 0.02 * numbers.astype(np.float64), rtol=1e-6)
    assert graph.values[graph.outputs[2]].stored is None


@pytest.mark.parametrize("name", MODELS)
def test_the_graph_that_is_run_in_real_numbers_is_the_one_that_is_settled(name: str) -> None:
    path = model_path(name)
    settled, imported = settle(read_real(path), "tflite"), import_tflite(path, mode="tflite")
    assert graph_text(settled) == graph_text(imported)
