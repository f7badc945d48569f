"""Float TFLite networks that are small or odd, quantized: one number, nothing but a copy, edges mirrored."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import codegen
from codegen.ir.quant import Array
from tests.support.tflite_models import Model


def largest_difference(model: Model, folder: Path, shape: tuple[int, ...]) -> float:
    """Between the network and its quantized form, over the samples."""
    path, samples = folder / "m.tflite", np.random.default_rng(0).uniform(-1, 1, (10, *shape)).astype(np.float32)
    samples.reshape(10, -1)[:, :2] = -1, 1
    path.write_bytes(model.bytes())
    made = codegen.quantize(path, samples, recipe="fast").model
    pairs: list[tuple[Array, Array]] = [(codegen.run(path, x), codegen.run(made, x)) for x in samples]
    assert all(a.shape == b.shape for a, b in pairs)
    return max(float(np.abs(a - b).max()) for a, b in pairs)


def test_a_result_without_axes(tmp_path: Path) -> None:
    model = Model()
    x, y = model.input((7,), "float32"), model.output((), "float32")
    model.op("MEAN", [x, model.const(np.array([0], np.int32))], [y], "ReducerOptions")
    assert largest_difference(model, tmp_path, (7,)) < 0.02


def test_a_network_without_operators(tmp_path: Path) -> None:
    model = Model()
    model.graph.outputs.append(model.input((2, 3), "float32"))
    assert largest_difference(model, tmp_path, (2, 3)) < 0.02


def test_edges_that_are_mirrored_themselves(tmp_path: Path) -> None:
    model = Model()
    x, y = model.input((3, 4), "float32"), model.output((6, 5), "float32")
    pads = model.const(np.array([[1, 2], [0, 1]], np.int32))
    model.op("MIRROR_PAD", [x, pads], [y], "MirrorPadOptions", Mode=1)
    assert largest_difference(model, tmp_path, (3, 4)) < 0.02
