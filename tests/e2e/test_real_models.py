"""Every quantized model of ../shared: the C equals the golden model in every tensor, on real and on random inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.api import verify
from codegen.emit import write_project
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.pipeline import Options, compile_file, read_model
from codegen.target import load_target
from codegen.verbs.samples import Sample, open_samples, random_samples
from codegen.verbs.verify import VerifyResult
from tests.support.real import LARGE, MODELS, model_path, real_inputs
from tests.support.shared import ROOT, shared_dir

MODES = ("single", "tflite", "ort")
SMALL = ("kws_qdq", "resnet8_qdq", "vww_qdq", "ad_qdq", "mnist_cnn_qdq")
CONFIGS = {
    "kws": ("kws_qdq", "kws01"),
    "resnet8": ("resnet8_qdq", "cifar10_test600"),
    "vww": ("vww_qdq", "coco_person96"),
    "mnist_cnn": ("mnist_cnn_qdq", "mnist_test1000"),
    "yunet": ("yunet_n_320_qdq", "coco_detect48"),
    "fastestdet": ("fastestdet_352_qdq", "coco_detect48"),
}


def samples_of(name: str, real: int, random: int) -> list[Sample]:
    """Real inputs, then random ones over the whole range of the quantized input."""
    graph = read_model(model_path(name), Options(), load_target("host"))
    ports = graph_ports(graph)[0]
    found = [{ports[0].name: x} for x in real_inputs(name, real)]
    return found + (random_samples(ports, random, seed=11) if random else [])


def check(name: str, mode: str, real: int, random: int) -> VerifyResult:
    samples = samples_of(name, real, random)
    result = verify(model_path(name), requant=mode, inputs=samples, samples=len(samples))
    assert result.equal, result.first_difference and result.first_difference.text()
    assert result.samples == len(samples)
    return result


@pytest.mark.one_in(18)
@pytest.mark.parametrize("name", MODELS)
def test_every_tensor_is_equal_on_two_real_inputs_and_a_random_one(name: str) -> None:
    result = check(name, "single", real=2, random=1)
    assert result.tensors_checked >= 4


@pytest.mark.one_in(4)
@pytest.mark.usefixtures("fastest")
@pytest.mark.parametrize("name", [m for m in SMALL if m != "vww_qdq"])
def test_every_tensor_is_equal_as_users_get_the_c(name: str) -> None:
    check(name, "single", real=1, random=1)


@pytest.mark.one_in(24)
@pytest.mark.parametrize("mode", ["tflite", "ort"])
@pytest.mark.parametrize("name", [pytest.param(m, marks=pytest.mark.slow if m in LARGE else ()) for m in MODELS])
def test_every_tensor_is_equal_in_the_other_modes(name: str, mode: str) -> None:
    assert check(name, mode, real=1, random=0).requant == mode


@pytest.mark.one_in(24)
@pytest.mark.parametrize(
    ("name", "weights"), [*((name, "c") for name in MODELS), *((name, "blob") for name in MODELS if name in SMALL)]
)
def test_outputs_are_read_where_the_interface_says(name: str, weights: str, tmp_path: Path) -> None:
    """Read after the run, so that a later layer which wrote over an earlier output would be seen."""
    made = compile_file(model_path(name), Options(weights=weights))
    write_project(tmp_path / name, made.files)
    ports, results = graph_ports(made.imported)
    with Network(tmp_path / name, flags=("-O1",)) as net:
        for sample in samples_of(name, real=1, random=1):
            values = run_graph(made.imported, network_feeds(ports, sample))
            found = net.run(sample)
            assert list(found) == [port.name for port in results]
            for port in results:
                assert np.array_equal(found[port.name], port.to_model(values[port.value])), port.name


@pytest.mark.usefixtures("fastest")
@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", MODELS)
def test_every_tensor_is_equal_on_many_inputs(name: str, mode: str) -> None:
    check(name, mode, real=20, random=5)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("config", CONFIGS)
def test_the_configuration_file_prepares_the_same_inputs(config: str) -> None:
    name, data = CONFIGS[config]
    ports = graph_ports(read_model(model_path(name), Options(), load_target("host")))[0]
    file: Path = shared_dir() / "data" / f"{data}.npz"
    samples = open_samples(file, ports, ROOT / "benchmarks" / "configs" / f"{config}.toml")
    wanted = real_inputs(name, 2)
    found = [samples[i][ports[0].name] for i in (0, len(samples) - 1)]
    for x, y in zip(wanted, found, strict=True):
        assert x.dtype == y.dtype
        assert np.array_equal(x, y)
