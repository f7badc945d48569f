"""Small float models as ONNX files, with what real ones have: branches, pools, activations, a tail with Softmax."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from codegen.build import Net
from codegen.frontends import read_real
from codegen.real.engine import RealEngine

INPUT, OUTPUT = "image", "classes"


def float_model(path: Path, seed: int = 0) -> Path:
    """A convolution, a residual block with a depthwise layer, a pool, a dense layer and Softmax; trained on nothing.

    The dense layer's bias makes its classes equally likely.
    """
    _written(path, seed, np.zeros(5))
    graph = read_real(path)
    engine = RealEngine(replace(graph, outputs=("dense",), faces=("dense",)))
    logits = np.concatenate([engine.run({INPUT: x[None]})["dense"] for x in images(30, seed=2)])
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
    net = Net("small")
    w = {name: net.const(array.astype(np.float32), name) for name, array in weights.items()}
    op, image = net.onnx, net.input(INPUT, (1, 3, 8, 8))
    held = op.Relu(op.Conv(image, w["w1"], w["b1"], pads=[1] * 4, name="first"), name="relu1")
    y = op.HardSwish(op.Conv(held, w["w2"], w["b2"], pads=[1] * 4, group=8, name="depthwise"), name="swish")
    y = op.Add(op.Conv(y, w["w3"], name="point"), held, name="add")
    y = op.GlobalAveragePool(op.MaxPool(y, kernel_shape=[2, 2], strides=[2, 2], name="pool"), name="mean")
    logits = op.Gemm(op.Flatten(y, name="flat"), w["w4"], w["b4"], name="dense")
    net.output(op.Softmax(logits, name="shares"), OUTPUT)
    path.write_bytes(net.to_onnx())
    return path


def images(count: int, seed: int = 1) -> np.ndarray:
    """What goes in, with an offset per image, so that they are not all alike."""
    rng = np.random.default_rng(seed)
    return (rng.normal(0, 1, (count, 3, 8, 8)) + rng.normal(0, 0.5, (count, 1, 1, 1))).astype(np.float32)
