"""Maps read at computed places, pools with places and bits, beside ONNX Runtime; all of them in one C program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from codegen.errors import ModelRejected
from codegen.frontends.onnx import import_onnx
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from tests.support.onnx_files import onnx_model, ports_of
from tests.support.together import check_c_is_golden
from tests.support.tools import require_tool

Feeds = dict[str, Array]


def model_of(node: Any, feeds: Feeds, opset: int = 20, **constants: Array) -> onnx.ModelProto:
    """A network of one operator."""
    model = onnx_model([node], ports_of(feeds), node.output, constants, sets=opset, ir_version=9)
    return onnx.shape_inference.infer_shapes(model)


def cases() -> Iterator[tuple[str, onnx.ModelProto, Feeds]]:
    rng = np.random.default_rng(7)

    def draw(*shape: int) -> Array:
        return rng.standard_normal(shape).astype(np.float32)

    for mode in ("linear", "nearest", "cubic"):
        for outside in ("zeros", "border", "reflection"):
            corners = int(rng.integers(2))
            node = helper.make_node(
                "GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=outside, align_corners=corners
            )
            feeds = {"x": draw(2, 3, 5, 4), "g": draw(2, 3, 6, 2)}
            yield f"grid_{mode}_{outside}_{corners}", model_of(node, feeds), feeds
    boxes = np.abs(draw(4, 4)) * 3 + np.array([0, 0, 5, 5], np.float32)
    for mode in ("avg", "max"):
        for half in ("half_pixel", "output_half_pixel"):
            made = {"output_height": 3, "output_width": 2, "sampling_ratio": 2, "spatial_scale": 0.7}
            node = helper.make_node(
                "RoiAlign", ["x", "b", "n"], ["y"], mode=mode, coordinate_transformation_mode=half, **made
            )
            feeds = {"x": np.abs(draw(2, 3, 9, 8)), "b": boxes, "n": np.array([1, 0, 1, 1])}
            yield f"roi_{mode}_{half}", model_of(node, feeds), feeds
            # one point in each cell of all sides: of more ONNX Runtime sums corners before it takes the greatest
            made = {"output_height": 3, "output_width": 2} | ({"spatial_scale": 0.2} if mode == "max" else {})
            node = helper.make_node(
                "RoiAlign", ["x", "b", "n"], ["y"], mode=mode, coordinate_transformation_mode=half, **made
            )
            feeds, known = {"x": np.abs(draw(2, 3, 9, 8))}, {"b": boxes, "n": np.array([1, 0, 1, 1])}
            yield f"roi_known_{mode}_{half}", model_of(node, feeds, **known), feeds
    node = helper.make_node("MaxPool", ["x"], ["y", "at"], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    feeds = {"x": draw(2, 3, 7, 6)}
    yield "places", model_of(node, feeds), feeds
    node = helper.make_node("MaxUnpool", ["x", "at"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
    at = rng.permutation(2 * 8 * 8)[: 2 * 4 * 4].reshape(1, 2, 4, 4)
    feeds = {"x": draw(1, 2, 4, 4), "at": at}
    yield "unpool", model_of(node, feeds), feeds
    node = helper.make_node("Col2Im", ["x", "image", "block"], ["y"], pads=[1, 0, 0, 1], strides=[2, 1])
    feeds = {"x": draw(2, 3 * 6, 3 * 4)}
    sizes = {"image": np.array([6, 5]), "block": np.array([3, 3])}
    feeds["x"] = draw(2, 3 * 9, 3 * 4)
    yield "columns", model_of(node, feeds, **sizes), feeds
    for size in (1, 2, 3, 4):
        node, feeds = helper.make_node("Det", ["x"], ["y"]), {"x": draw(2, 3, size, size)}
        yield f"det_{size}", model_of(node, feeds), feeds
    node, feeds = helper.make_node("Einsum", ["x", "v"], ["y"], equation="bii,i->b"), {"x": draw(2, 3, 3), "v": draw(3)}
    yield "trace", model_of(node, feeds), feeds
    node, feeds = helper.make_node("Einsum", ["s", "x"], ["y"], equation=",ij->ji"), {"x": draw(2, 3)}
    yield "one_number", model_of(node, feeds, s=np.array(0.7, np.float32)), feeds


def imported(model: onnx.ModelProto, folder: Path) -> Graph:
    onnx.save(model, folder / "model.onnx")
    return import_onnx(folder / "model.onnx", mode="ort", io_layout="model")


def outsider(name: str, model: onnx.ModelProto, feeds: Feeds) -> list[Array]:
    """ONNX Runtime; ONNX's own evaluator where that does not hold cubic places at the border, as ONNX says."""
    if name.startswith("grid_cubic_border"):
        return list(ReferenceEvaluator(model).run(None, feeds))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds))


def test_sampling_is_that_of_onnxruntime_and_c_that_of_golden(tmp_path: Path) -> None:
    require_tool("gcc")
    graphs, feeds = list[Graph](), list[Feeds]()
    for name, model, fed in cases():
        graph = imported(model, tmp_path)
        held = {n: x.astype(np.int32) if x.dtype.kind == "i" else x for n, x in fed.items()}
        found = run_graph(graph, held)
        for port, wanted in zip(graph.outputs, outsider(name, model, fed), strict=True):
            assert np.allclose(found[port.value], wanted, rtol=2e-4, atol=2e-4), name
        graphs.append(graph)
        feeds.append(held)
    check_c_is_golden(graphs, feeds, tmp_path / "project")


def _boxes_of_any_size() -> tuple[Any, Feeds]:
    zeros = np.zeros((1, 1, 4, 4), np.float32)
    feeds = {"x": zeros, "b": np.zeros((1, 4), np.float32), "n": np.zeros(1, np.int64)}
    return helper.make_node("RoiAlign", ["x", "b", "n"], ["y"]), feeds


def _large_determinant() -> tuple[Any, Feeds]:
    return helper.make_node("Det", ["x"], ["y"]), {"x": np.zeros((5, 5), np.float32)}


def _columns_of_whole_numbers() -> tuple[Any, Feeds]:
    node = helper.make_node("Col2Im", ["x", "s", "s"], ["y"])
    return node, {"x": np.zeros((1, 4, 1), np.int64)}


@pytest.mark.parametrize(
    ("build", "code"), [(_boxes_of_any_size, "022"), (_large_determinant, "022"), (_columns_of_whole_numbers, "007")]
)
def test_forms_without_c_are_refused_by_their_id(build: Any, code: str, tmp_path: Path) -> None:
    node, feeds = build()
    with pytest.raises(ModelRejected) as caught:
        imported(model_of(node, feeds, **({"s": np.array([2, 2])} if node.op_type == "Col2Im" else {})), tmp_path)
    assert [p.code for p in caught.value.problems()] == [f"LAM-IMPORT-{code}"]
