"""A batch takes the memory of one image beside its inputs and outputs, and gives what the images give alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from codegen.api import verify
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.images import of_batch
from codegen.ir.quant import Array
from codegen.pipeline import Compiled, Options, compile_file, read_model
from codegen.settle.borders import Borders
from codegen.settle.images import image_by_image
from codegen.settle.walk import settle
from codegen.target import load_target
from codegen.verbs.engines import CEngine, GoldenEngine
from tests.support.batches import with_batch
from tests.support.float_networks import random_network
from tests.support.shared import shared_dir
from tests.support.together import check_c_is_golden
from tests.support.tools import require_tool

IMAGES = 3
QUICK = ("mlperf_tiny_onnx/kws_f32.onnx", "mlperf_tiny_onnx/kws_qdq.onnx", "mlperf_tiny/kws_int8.tflite")
SLOW = (
    *("mlperf_tiny_onnx/resnet8_f32.onnx", "mlperf_tiny_onnx/resnet8_qop_u8s8.onnx"),
    *("mlperf_tiny/resnet8_int8.tflite", "mlperf_tiny/kws_f32.tflite"),
)
EVERY = pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
OPTIONS = Options(target="cortex-m7", vectors=0)


def model(name: str) -> Path:
    return shared_dir() / "models" / name


def as_imported(path: Path, **asked: object) -> Graph:
    return read_model(path, replace(OPTIONS, **asked), load_target(OPTIONS.target))  # type: ignore[arg-type]


def drawn(graph: Graph, seed: int = 1) -> dict[str, Array]:
    rng, (port,) = np.random.default_rng(seed), graph.inputs
    if port.model_dtype == "int8":
        return {port.name: rng.integers(-128, 128, port.model_shape).astype(np.int8)}
    return {port.name: rng.normal(0, 1, port.model_shape).astype(np.float32)}


def answer(graph: Graph, sample: dict[str, Array]) -> Array:
    ports, (out,) = graph_ports(graph)
    return out.to_model(run_graph(graph, network_feeds(ports, sample))[out.value])


def count(made: Compiled, key: str) -> int:
    found = made.manifest[key]
    assert isinstance(found, int)
    return found


@EVERY
def test_memory_is_that_of_one_image_and_what_comes_in_and_goes_out(name: str, tmp_path: Path) -> None:
    one, several = (compile_file(path, OPTIONS) for path in (model(name), with_batch(model(name), IMAGES, tmp_path)))
    borders = count(several, "input_bytes") + count(several, "output_bytes")
    assert count(several, "arena_bytes") <= 1.25 * count(one, "arena_bytes") + borders
    assert count(several, "weights_bytes") <= 1.02 * count(one, "weights_bytes"), "images share them"
    assert len({c.fn.symbol for g in several.program.groups for c in g.calls}) <= 2 + len(one.plan.graph.nodes)


@EVERY
def test_each_image_gives_what_it_gives_alone(name: str, tmp_path: Path) -> None:
    path = with_batch(model(name), IMAGES, tmp_path)
    one, several = as_imported(model(name)), as_imported(path)
    assert any(value.endswith(":image3") for value in several.values), "it is cut into images"
    sample = drawn(several)
    found = answer(several, sample)
    if path.suffix == ".onnx":  # convolutions of TFLite take no batches
        assert np.array_equal(found, answer(as_imported(path, stream_input=True), sample))
    for image in range(IMAGES):
        alone = answer(one, {key: array[image : image + 1] for key, array in sample.items()})
        assert np.array_equal(found[image : image + 1], alone)


@pytest.mark.one_in(2)
@EVERY
def test_the_c_is_golden(name: str, tmp_path: Path) -> None:
    require_tool("gcc")
    path = with_batch(model(name), IMAGES, tmp_path)
    result = verify(path, inputs=[drawn(as_imported(path))], samples=1)
    assert result.equal, result.first_difference and result.first_difference.text()


def test_random_networks_give_for_each_image_what_it_gives_alone_and_their_c_is_golden(tmp_path: Path) -> None:
    require_tool("gcc")
    graphs, feeds = list[Graph](), list[dict[str, Array]]()
    for seed in range(10):
        one, several = random_network(seed), random_network(seed, IMAGES)
        cut = image_by_image(several)
        assert cut
        graphs.append(settle(replace(cut[0], definition="onnx"), "ort", Borders(io_layout="model")))
        alone = settle(replace(one, definition="onnx"), "ort", Borders(io_layout="model"))
        feeds.append(drawn(graphs[-1], seed))
        found = run_graph(graphs[-1], feeds[-1])
        for image in range(IMAGES):
            wanted = run_graph(alone, {name: x[image : image + 1] for name, x in feeds[-1].items()})
            for port, own in zip(graphs[-1].outputs, alone.outputs, strict=True):
                assert found[port.value][image : image + 1].tobytes() == wanted[own.value].tobytes(), seed
    check_c_is_golden(graphs, feeds, tmp_path / "project")


def test_onnx_runtime_says_the_same(tmp_path: Path) -> None:
    path = with_batch(model(QUICK[0]), IMAGES, tmp_path)
    sample = drawn(graph := as_imported(path))
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, sample)
    assert np.abs(answer(graph, sample) - np.asarray(wanted)).max() <= 1e-5


def test_tensors_are_dumped_as_the_model_has_them(tmp_path: Path) -> None:
    require_tool("gcc")
    path = with_batch(model(QUICK[0]), IMAGES, tmp_path)
    sample = drawn(as_imported(path))
    with GoldenEngine(path, OPTIONS) as golden, CEngine(path, OPTIONS, dump=True, brief=True) as c:
        expected, found = golden.dump(sample), c.dump(sample)
    assert found["relu_9_out"].shape == (IMAGES, 64, 25, 5)
    assert not any(name.endswith(":image1") for name in expected)
    assert np.array_equal(found["relu_9_out"], expected["relu_9_out"])


def test_a_layer_has_one_kernel_for_all_images(tmp_path: Path) -> None:
    """Bytes that are idle beside one image alone are no reason to pack its weights another way."""
    path = with_batch(model("mlperf_tiny_onnx/resnet8_qdq.onnx"), IMAGES, tmp_path)
    made = compile_file(path, replace(OPTIONS, target="cortex-m4"))
    forms: dict[str, set[tuple[str, object]]] = {}
    names = {i: made.plan.graph.nodes[i].outputs[0] for i in made.kernels}
    for i, form in ((i, form) for i, form in made.kernels.items() if of_batch(names[i]) != names[i]):
        forms.setdefault(of_batch(names[i]), set()).add((form.kernel, form.context))
    assert IMAGES * len(forms) + 1 == len(made.kernels), "all but the join"
    assert all(len(found) == 1 for found in forms.values())


@pytest.mark.parametrize("name", [QUICK[1], pytest.param("mlperf_tiny_onnx/resnet8_qdq.onnx", marks=pytest.mark.slow)])
def test_many_images_are_planned(name: str, tmp_path: Path) -> None:
    options = replace(OPTIONS, target="cortex-m4")
    made, one = (compile_file(path, options) for path in (with_batch(model(name), 32, tmp_path), model(name)))
    borders = count(made, "input_bytes") + count(made, "output_bytes")
    assert count(made, "arena_bytes") <= 1.25 * count(one, "arena_bytes") + borders
    assert count(made, "weights_bytes") <= 1.02 * count(one, "weights_bytes")
