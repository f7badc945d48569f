"""Networks whose inputs are single numbers: an array without axes stays one on its way to golden and to the C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from codegen.api import verify


def _saved(path: Path, nodes: list[onnx.NodeProto], inputs: dict[str, list[int]], shape: list[int]) -> Path:
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()]
    one = numpy_helper.from_array(np.ones(1, np.float32), "one")
    sizes = numpy_helper.from_array(np.array([1], np.int64), "sizes")
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "g", ports, [y], [one, sizes])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_an_input_without_axes_is_verified(tmp_path: Path) -> None:
    nodes = [helper.make_node("Pow", ["x", "k"], ["y"])]
    assert verify(_saved(tmp_path / "m.onnx", nodes, {"x": [3], "k": []}, [3]), samples=2).equal


def test_a_sum_keeps_the_axis_that_a_reshape_gave_it(tmp_path: Path) -> None:
    """The sum of a number without axes and a constant of one axis has one; the Reshape in front must stay there."""
    nodes = [helper.make_node("Reshape", ["x", "sizes"], ["x1"]), helper.make_node("Add", ["x1", "one"], ["y"])]
    assert verify(_saved(tmp_path / "m.onnx", nodes, {"x": []}, [1]), samples=2).equal
