"""Small float models as ONNX files, with what real ones have: branches, pools, activations, a tail with Softmax."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from codegen.frontends import read_real
from codegen.real.engine import RealEngine

INPUT, OUTPUT = "image", "classes"


def float_model(path: Path, seed: int = 0) -> Path:
    """A convolution, a residual block with a depthwise layer, a pool, a dense layer and Softmax; trained on nothing.

    The dense layer's bias makes its classes equally likely.
    """
    _written(path, seed, np.zeros(5))
    graph = read_real(path)
    engine = RealEngine(replace(graph, outputs=("logits",), faces=("logits",)))
    logits = np.concatenate([engine.run({INPUT: x[None]})["logits"] for x in images(30, seed=2)])
    return _written(path, seed, -logits.mean(axis=0))


def _written(path: Path, seed: int, bias: np.ndarray) -> Path:
    rng = np.random.default_rng(seed)
    weights = {
        "w1": rng.normal(0, 0.4, (8, 3, 3, 3)),
        "b1": rng.normal(0, 0.2, 8),
        "w2": rng.normal(0, 0.5, (8, 1, 3, 3)),
        "b2": rng.normal(0, 0.2, 8),
        "w3": rng.normal(0, 0.3, (8, 8, 1, 1)),
        "w4": rng.normal(0, 1.5, (8, 5)),
        "b4": bias,
    }
    nodes = [
        helper.make_node("Conv", [INPUT, "w1", "b1"], ["c1"], pads=[1, 1, 1, 1], name="first"),
        helper.make_node("Relu", ["c1"], ["r1"], name="relu1"),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], pads=[1, 1, 1, 1], group=8, name="depthwise"),
        helper.make_node("HardSwish", ["c2"], ["h2"], name="swish"),
        helper.make_node("Conv", ["h2", "w3"], ["c3"], name="point"),
        helper.make_node("Add", ["c3", "r1"], ["s"], name="add"),
        helper.make_node("MaxPool", ["s"], ["p"], kernel_shape=[2, 2], strides=[2, 2], name="pool"),
        helper.make_node("GlobalAveragePool", ["p"], ["g"], name="mean"),
        helper.make_node("Flatten", ["g"], ["f"], name="flat"),
        helper.make_node("Gemm", ["f", "w4", "b4"], ["logits"], name="dense"),
        helper.make_node("Softmax", ["logits"], [OUTPUT], name="shares"),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info(INPUT, onnx.TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info(OUTPUT, onnx.TensorProto.FLOAT, [1, 5])],
        [numpy_helper.from_array(a.astype(np.float32), n) for n, a in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def images(count: int, seed: int = 1) -> np.ndarray:
    """What goes in, with an offset per image, so that they are not all alike."""
    rng = np.random.default_rng(seed)
    return (rng.normal(0, 1, (count, 3, 8, 8)) + rng.normal(0, 0.5, (count, 1, 1, 1))).astype(np.float32)
