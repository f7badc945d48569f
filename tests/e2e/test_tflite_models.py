"""Every integer TFLite model of ../shared gives the bytes of TFLite Micro's reference kernels: golden model and C.

The bytes were recorded; tests/e2e/test_tflite_operators.py runs the interpreter itself.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.emit import write_project
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.pipeline import Options, compile_file, read_model
from codegen.target import load_target
from codegen.verbs.verify import verify
from tests.real_tflite import LARGE, MODELS, model_path, recorded

FEW = 12


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


@pytest.mark.parametrize("name", MODELS)
def test_golden_gives_the_recorded_bytes(name: str) -> None:
    assert golden_differences(name, 3 if name in LARGE else FEW) == []


@pytest.mark.parametrize("name", MODELS)
def test_c_gives_the_recorded_bytes(name: str, tmp_path: Path) -> None:
    assert c_differences(name, 3 if name in LARGE else FEW, tmp_path) == []


@pytest.mark.parametrize("name", MODELS)
def test_every_tensor_is_equal(name: str) -> None:
    result = verify(model_path(name), samples=1)
    assert result.requant == "double"
    assert result.equal, result.first_difference and result.first_difference.text()


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_golden_gives_all_recorded_bytes(name: str) -> None:
    assert golden_differences(name, None) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_c_gives_all_recorded_bytes(name: str, tmp_path: Path) -> None:
    assert c_differences(name, None, tmp_path) == []


@pytest.mark.parametrize("mode", ["single", "float"])
def test_other_arithmetic_can_be_asked_for(mode: str) -> None:
    result = verify(model_path("resnet8_int8"), requant=mode, samples=1)
    assert result.requant == mode
    assert result.equal, result.first_difference and result.first_difference.text()
