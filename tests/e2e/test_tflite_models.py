"""Every integer TFLite model of ../shared gives the bytes of TFLite Micro's reference kernels: golden model and C.

The bytes were recorded; tests/e2e/test_tflite_operators.py runs the interpreter itself.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.api import verify
from codegen.emit import write_project
from codegen.errors import EngineFailed
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ops import Dense
from codegen.pipeline import Options, compile_file, read_model
from codegen.target import load_target
from codegen.verbs.engines import open_engine
from codegen.verbs.samples import open_samples
from tests.support.real_tflite import LARGE, MODELS, model_path, recorded
from tests.support.shared import ROOT, shared_dir
from tests.support.tools import require_module

FEW = 12
CONFIGS = {
    "kws_int8": "kws01",
    "resnet8_int8": "cifar10_test600",
    "vww_int8": "coco_person96",
    "mobilenet_v2_int8": "imagenet_eval400",
}


def golden_differences(name: str, count: int | None) -> list[int]:
    """Which recorded inputs the golden model answers with other bytes."""
    graph = read_model(model_path(name), Options(), load_target("host"))
    ports, results = graph_ports(graph)
    wrong = []
    for index, (x, expected) in enumerate(zip(*recorded(name, count), strict=True)):
        values = run_graph(graph, network_feeds(ports, {ports[0].name: x.reshape(ports[0].model_shape)}))
        if not np.array_equal(results[0].to_model(values[results[0].value]).reshape(-1), expected.reshape(-1)):
            wrong.append(index)
    return wrong


def c_differences(name: str, count: int | None, folder: Path, options: Options | None = None) -> list[int]:
    """Which recorded inputs the generated C answers with other bytes."""
    write_project(folder / name, compile_file(model_path(name), options or Options()).files)
    wrong = []
    with Network(folder / name, flags=("-O2",)) as net:
        for index, (x, expected) in enumerate(zip(*recorded(name, count), strict=True)):
            outputs = net.run({net.inputs[0].name: x.reshape(net.inputs[0].model_shape)})
            if not np.array_equal(next(iter(outputs.values())).reshape(-1), expected.reshape(-1)):
                wrong.append(index)
    return wrong


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", MODELS)
def test_golden_gives_the_recorded_bytes(name: str) -> None:
    assert golden_differences(name, 3 if name in LARGE else FEW) == []


@pytest.mark.one_in(9)
@pytest.mark.parametrize("name", [pytest.param(m, marks=pytest.mark.slow if m in LARGE else ()) for m in MODELS])
def test_c_gives_the_recorded_bytes(name: str, tmp_path: Path) -> None:
    assert c_differences(name, 3 if name in LARGE else FEW, tmp_path) == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", [pytest.param(m, marks=pytest.mark.slow if m in LARGE else ()) for m in MODELS])
def test_every_tensor_is_equal(name: str) -> None:
    result = verify(model_path(name), samples=1)
    assert result.requant == "tflite"
    assert result.equal, result.first_difference and result.first_difference.text()


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_golden_gives_all_recorded_bytes(name: str) -> None:
    assert golden_differences(name, None) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_c_gives_all_recorded_bytes(name: str, tmp_path: Path) -> None:
    assert c_differences(name, None, tmp_path) == []


@pytest.mark.parametrize("name", ["ad_int8", "hello_world_int8", "kws_int8", "resnet8_int8"])
def test_litert_differs_in_fully_connected_alone(name: str) -> None:
    """LiteRT's reference kernels round products of one scale once; with that, every recorded byte is theirs."""
    path, where = model_path(name), load_target("host")
    graph = read_model(path, Options(), where)
    once = read_model(path, Options(requant="single"), where)
    pairs = zip(graph.nodes, once.nodes, strict=True)
    graph = replace(graph, nodes=tuple(replace(a, op=b.op) if isinstance(a.op, Dense) else a for a, b in pairs))
    ports, results = graph_ports(graph)
    for x, expected in zip(*recorded(name, 60, "litert_ref"), strict=True):
        values = run_graph(graph, network_feeds(ports, {ports[0].name: x.reshape(ports[0].model_shape)}))
        found = results[0].to_model(values[results[0].value])
        assert np.array_equal(found.reshape(-1), expected.reshape(-1))


@pytest.mark.parametrize(("name", "data"), CONFIGS.items())
def test_the_configuration_file_prepares_the_recorded_inputs(name: str, data: str) -> None:
    ports = graph_ports(read_model(model_path(name), Options(), load_target("host")))[0]
    config = ROOT / "benchmarks" / "configs" / f"{name}.toml"
    samples = open_samples(shared_dir() / "data" / f"{data}.npz", ports, config)
    inputs, _ = recorded(name, 2)
    last = 39 if name in LARGE else len(samples) - 1
    for x, index in zip(inputs, (0, last), strict=True):
        assert np.array_equal(samples[index][ports[0].name], x.reshape(ports[0].model_shape))


@pytest.mark.parametrize("runtime", ["tflm", "litert"])
def test_verify_compares_with_other_runtimes(runtime: str) -> None:
    require_module("tflite_micro", "ai_edge_litert")
    result = verify(model_path("ad_int8"), samples=2, reference=runtime)
    assert result.reference is not None
    assert result.reference.bytes == 2 * 640
    assert result.equal == (runtime == "tflm")


@pytest.mark.parametrize(
    ("engine", "name", "way_out"),
    [("tflm", "mobilenet_v1_025_128_uint8", "take litert")],
)
def test_an_engine_that_cannot_run_the_model_names_one_that_can(engine: str, name: str, way_out: str) -> None:
    require_module("onnxruntime")
    with pytest.raises(EngineFailed, match=rf"LAM-API-010 .*{way_out}"):
        open_engine(engine, model_path(name), Options())


@pytest.mark.parametrize("mode", ["single", "ort"])
def test_other_arithmetic_can_be_asked_for(mode: str) -> None:
    result = verify(model_path("resnet8_int8"), requant=mode, samples=1)
    assert result.requant == mode
    assert result.equal, result.first_difference and result.first_difference.text()
