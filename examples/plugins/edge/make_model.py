"""Writes edge.onnx: a convolution, Edge, and another convolution, quantized; its weights are random.

python make_model.py edge.onnx
"""

from __future__ import annotations

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DOMAIN = "example.edge"
SCALES = {"x": 0.02, "first": 0.05, "edge": 0.05, "second": 0.1}


def model() -> onnx.ModelProto:
    """The network."""
    rng = np.random.default_rng(1)
    nodes: list[onnx.NodeProto] = []
    known: list[onnx.TensorProto] = []

    def const(name: str, array: np.ndarray) -> str:
        known.append(numpy_helper.from_array(array, name))
        return name

    def held(name: str, scale: float) -> str:
        """The tensor as bytes of a scale, and as real numbers again."""
        pair = [const(f"{name}_scale", np.array(scale, np.float32)), const(f"{name}_zero", np.array(0, np.int8))]
        nodes.append(helper.make_node("QuantizeLinear", [name, *pair], [f"{name}_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}_q", *pair], [f"{name}_dq"]))
        return f"{name}_dq"

    def weights(name: str, shape: tuple[int, ...]) -> str:
        array = const(f"{name}_q", rng.integers(-127, 128, shape).astype(np.int8))
        scale = const(f"{name}_scale", np.array(0.01, np.float32))
        nodes.append(helper.make_node("DequantizeLinear", [array, scale], [name]))
        return name

    x = held("x", SCALES["x"])
    nodes.append(helper.make_node("Conv", [x, weights("w1", (8, 3, 3, 3))], ["first"], pads=[1, 1, 1, 1]))
    first = held("first", SCALES["first"])
    nodes.append(helper.make_node("Edge", [first], ["edge"], "edge", domain=DOMAIN))
    edge = held("edge", SCALES["edge"])
    nodes.append(helper.make_node("Conv", [edge, weights("w2", (4, 8, 3, 3))], ["second"], strides=[2, 2]))
    out = held("second", SCALES["second"])
    graph = helper.make_graph(
        nodes,
        "edge",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 24, 20])],
        [helper.make_tensor_value_info(out, TensorProto.FLOAT, [1, 4, 11, 9])],
        known,
    )
    versions = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=versions, ir_version=8)


if __name__ == "__main__":
    onnx.save(model(), sys.argv[1] if len(sys.argv) > 1 else "edge.onnx")
