"""A batch that is cut: what runs for each image, where that ends, and when it pays."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from codegen.build import Net, Tensor
from codegen.frontends.onnx import import_onnx
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.images import of_batch, of_image, waiting_bytes, with_batches
from codegen.ir.quant import Array, DType
from codegen.ir.real import RealGraph, RealNode
from codegen.ops import Concat as JoinOp
from codegen.options import Options
from codegen.real.engine import RealEngine
from codegen.real.movement import Concat, Slice
from codegen.settle import images
from codegen.settle.images import image_by_image, live_bytes
from codegen.settle.walk import settle
from tests.support.float_networks import random_network

N = 3


def cut_of(graph: RealGraph) -> RealGraph:
    found = image_by_image(graph)
    assert found
    return found[0]


def saves(graph: RealGraph) -> bool:
    found = image_by_image(graph)
    return found is not None and found[1]


def feeds(graph: RealGraph) -> dict[str, Array]:
    rng = np.random.default_rng(3)
    return {name: rng.normal(0, 1, graph.type(name).shape).astype(np.float32) for name in graph.inputs}


def answers(graph: RealGraph, given: Mapping[str, Array]) -> list[Array]:
    return [*RealEngine(graph, exact=True).run(given).values()]


def assert_equal(graph: RealGraph, cut: RealGraph) -> None:
    given = feeds(graph)
    for whole, made in zip(answers(graph, given), answers(cut, given), strict=True):
        assert whole.tobytes() == made.tobytes()


def image_of(node: RealNode) -> str:
    """Which image a node is for, empty for none."""
    return node.outputs[0].removeprefix(of_batch(node.outputs[0]))


def kinds(graph: RealGraph) -> list[str]:
    return [type(node.op).__name__ for node in graph.nodes]


def conv(net: Net, x: Tensor, outputs: int, inputs: int) -> Tensor:
    weights = np.random.default_rng(inputs).normal(0, 1, (outputs, inputs, 3, 3)).astype(np.float32)
    return one(net.onnx.Conv(x, weights, pads=[1] * 4))


def one(made: object) -> Tensor:
    assert isinstance(made, Tensor)
    return made


@pytest.mark.parametrize("seed", range(16))
def test_images_one_after_the_other_give_the_same_bits(seed: int) -> None:
    graph = random_network(seed, N)
    cut = cut_of(graph)
    assert_equal(graph, cut)
    assert [image for image, _ in groupby(map(image_of, cut.nodes))] == [*(f":image{i + 1}" for i in range(N)), ""]
    assert {type(n.op) for n in cut.nodes if not image_of(n)} == {Concat}
    assert len(cut.nodes) == N * (len(graph.nodes) + 1) + len(graph.outputs)
    assert (cut.inputs, cut.outputs, cut.faces) == (graph.inputs, graph.outputs, graph.faces)


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_not_copied(seed: int) -> None:
    graph = random_network(seed, N)
    weights = {name for name, value in graph.values.items() if value.data is not None}
    assert {name for name, value in cut_of(graph).values.items() if value.data is not None} == weights


def test_one_image_is_as_it_was() -> None:
    assert image_by_image(random_network(1)) is None


def test_what_mixes_images_gets_them_joined_and_nothing_behind_it_is_cut() -> None:
    net = Net()
    y = conv(net, net.input("x", (N, 2, 8, 8)), 4, 2)
    mixed = one(net.onnx.Relu(net.onnx.Reshape(y, np.array([2, -1]))))
    net.output(mixed, "mixed")
    net.output(one(net.onnx.Sigmoid(y)), "apart")
    graph = net.graph()
    cut = cut_of(graph)
    assert_equal(graph, cut)
    assert kinds(cut) == [*["Slice", "Conv", "Function"] * N, "Concat", "Concat", "Reshape", "Function"]
    assert [image_of(n) for n in cut.nodes[-4:]] == [""] * 4


def test_what_no_image_changes_is_computed_once_and_first() -> None:
    net = Net()
    x, mask = net.input("x", (N, 2, 8, 8)), net.input("mask", (8, 8))
    net.output(one(net.onnx.Mul(conv(net, x, 4, 2), net.onnx.Sigmoid(mask))), "y")
    cut = cut_of(net.graph())
    assert_equal(net.graph(), cut)
    assert kinds(cut) == ["Function", *["Slice", "Conv", "Binary"] * N, "Concat"]


def test_an_input_without_a_batch_may_come_first_and_two_with_one_are_cut_alike() -> None:
    net = Net()
    scale, a, b = net.input("scale", ()), net.input("a", (N, 2, 8, 8)), net.input("b", (N, 4, 8, 8))
    net.output(one(net.onnx.Mul(net.onnx.Add(conv(net, a, 4, 2), b), scale)), "y")
    cut = cut_of(net.graph())
    assert_equal(net.graph(), cut)
    assert kinds(cut) == [*["Slice", "Slice", "Conv", "Binary", "Binary"] * N, "Concat"]
    assert all(image_of(n) for n in cut.nodes if isinstance(n.op, Slice))


def test_it_pays_where_the_inside_is_larger_than_the_borders() -> None:
    def network(inner: int) -> RealGraph:
        net = Net()
        y = conv(net, conv(net, net.input("x", (N, 4, 16, 16)), inner, 4), 4, inner)
        net.output(y, "y")
        return net.graph()

    assert saves(network(32))
    assert not saves(network(4))
    assert live_bytes(network(4)) == 2 * N * 4 * 16 * 16 * 4


@pytest.mark.parametrize(("shape", "cut"), [((64, 10), True), ((64, 5, 10), False)])
def test_rows_that_flow_through_a_network_are_left_to_the_plan(shape: tuple[int, ...], cut: bool) -> None:
    net, rng = Net(), np.random.default_rng(1)
    x = net.input("x", shape)
    for inputs, outputs in ((10, 64), (64, 64), (64, 2)):
        x = one(net.onnx.Relu(net.onnx.MatMul(x, rng.normal(size=(inputs, outputs)).astype(np.float32))))
    net.output(x, "y")
    assert saves(net.graph()) is cut
    made = net.compiled(Options(target="cortex-m4", vectors=0))
    assert made.plan.arena_bytes < net.graph().type("x").shape[0] * (10 + 64) * 4


def test_batches_of_very_many_operators_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_network(1, N)
    monkeypatch.setattr(images, "_MOST_NODES", N * len(graph.nodes) - 1)
    assert image_by_image(graph) is None
    monkeypatch.setattr(images, "_MOST_NODES", N * len(graph.nodes))
    assert image_by_image(graph) is not None


def test_images_that_wait_are_all_but_one_where_a_batch_is_cut() -> None:
    cut, whole = (settle(graph, "ort") for graph in (cut_of(random_network(1, N)), random_network(1, N)))
    assert waiting_bytes(cut) == (N - 1) * 3 * 6 * 6 * 4
    assert waiting_bytes(whole) == 0


def test_a_streamed_input_is_whole_and_the_user_hears_of_images() -> None:
    net = Net()
    x = net.input("x", (N, 2, 16, 16))
    net.output(conv(net, conv(net, conv(net, x, 16, 2), 16, 16), 2, 16), "y")
    by_image = net.compiled(Options(target="cortex-m4", vectors=0))
    assert [*by_image.graph.notes] == [f"the batch of {N} is taken image by image"]
    streamed = net.compiled(Options(target="cortex-m4", vectors=0, stream_input=True))
    assert streamed.plan.streamed
    assert not streamed.graph.notes


def test_tensors_of_images_are_the_batch_s_again() -> None:
    parts = {of_image("a", i): np.full((1, 2), i) for i in (1, 11, 2)}
    whole = with_batches({"x": np.zeros(2), of_image("x", 1): np.ones(1), **parts, f"{of_image('b', 2)}.t": np.ones(1)})
    assert list(whole) == ["x", "a", "b:image2.t"]
    assert whole["x"].shape == (2,)
    assert whole["a"][:, 0].tolist() == [1, 2, 11]
    assert of_batch("b:image2.t") == "b.t"


def golden(
    path: Path, *, by_image: bool, io_type: Literal["model", "quantized"] = "model"
) -> tuple[Graph, list[Array]]:
    graph = import_onnx(path, mode="ort", io_type=io_type, io_layout="model", by_image=by_image)
    rng = np.random.default_rng(3)
    given = {
        port.value: rng.normal(0, 60, graph.type(port.value).shape).astype(graph.type(port.value).dtype.numpy)
        for port in graph.inputs
    }
    made = run_graph(graph, given)
    return graph, [made[port.value] for port in graph.outputs]


def quantized_conv(net: Net, x: Tensor, outputs: int, inputs: int) -> Tensor:
    weights = np.random.default_rng(inputs).integers(-127, 128, (outputs, inputs, 3, 3)).astype(np.int8)
    return one(net.onnx.Conv(x, net.weights(weights, np.full(outputs, 0.01, np.float32), axis=0), pads=[1] * 4))


@pytest.mark.parametrize("io_type", ["model", "quantized"])
@pytest.mark.parametrize("end", ["Sigmoid", "Softmax", "moved", "tensor", "mixed", "real", "both"])
def test_what_has_no_scale_at_the_end_is_joined_before(end: str, io_type: str, tmp_path: Path) -> None:
    """The integers, and the last function's, are those of the batch at once; what has a scale is cut."""
    net = Net()
    x = net.quantized(net.input("x", (N, 2, 12, 12)), 0.5)
    y = net.quantized(quantized_conv(net, net.quantized(quantized_conv(net, x, 96, 2), 0.7), 4, 96), 0.9)
    if end == "moved":
        y = one(net.onnx.Transpose(net.onnx.Tanh(y), perm=[0, 2, 3, 1]))
    elif end == "mixed":
        y = net.quantized(one(net.onnx.Reshape(quantized_conv(net, y, 4, 4), np.array([4, -1]))), 0.8)
    elif end == "real":
        y = quantized_conv(net, y, 4, 4)
    elif end == "both":
        net.output(y, "middle")
        y = net.quantized(quantized_conv(net, y, 4, 4), 0.8)
    elif end != "tensor":
        y = one(getattr(net.onnx, end)(y))
    net.output(y, "y")
    path = tmp_path / "ends.onnx"
    path.write_bytes(net.to_onnx())
    (graph, found), (_, wanted) = (golden(path, by_image=cut, io_type=io_type) for cut in (True, False))  # type: ignore[arg-type]
    assert any("image by image" in note for note in graph.notes)
    assert [array.tobytes() for array in found] == [array.tobytes() for array in wanted]
    joins = [graph.type(node.outputs[0]).dtype for node in graph.nodes if isinstance(node.op, JoinOp)]
    assert DType.S8 in joins or end == "real"


def test_elements_that_flow_through_a_network_are_left_to_the_plan() -> None:
    net = Net()
    x = net.input("x", (N, 4, 16, 16))
    wide = net.onnx.Mul(x, np.ones((32, 1, 1, 1, 1), np.float32))
    net.output(one(net.onnx.Sigmoid(wide)), "y")
    assert image_by_image(net.graph()) is None, "the batch is not the first axis"
    net = Net()
    y = net.onnx.Mul(net.onnx.Sigmoid(net.input("x", (N, 300))), np.ones(300, np.float32))
    net.output(one(net.onnx.Add(y, net.onnx.Exp(y))), "y")
    assert not saves(net.graph())


@pytest.mark.parametrize("io_layout", ["nhwc", "model"])
def test_a_model_s_own_transposition_stands_for_the_layout_of_each_image(io_layout: str, tmp_path: Path) -> None:
    """As with one image: inputs and outputs that the model has in NHWC stay as they are."""
    net = Net()
    x = net.onnx.Transpose(net.input("x", (N, 12, 10, 2)), perm=[0, 3, 1, 2])
    y = conv(net, conv(net, conv(net, one(x), 16, 2), 16, 16), 2, 16)
    net.output(one(net.onnx.Transpose(y, perm=[0, 2, 3, 1])), "y")
    path = tmp_path / "nhwc.onnx"
    path.write_bytes(net.to_onnx())
    for by_image in (True, False):
        graph = import_onnx(path, mode="ort", io_layout=io_layout, by_image=by_image)  # type: ignore[arg-type]
        assert any("image by image" in note for note in graph.notes) is by_image
        for port, shape in ((graph.inputs[0], (N, 12, 10, 2)), (graph.outputs[0], (N, 12, 10, 2))):
            assert port.perm is None
            assert graph.type(port.value).shape == shape
