"""Masks of attention: numbers that Softmax makes nothing of take no room in the integers, however deep they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import codegen

LENGTH, WIDTH = 9, 12
HF = float(np.finfo(np.float32).min)


def attention(path: Path, mask: str, depth: float = 0.0) -> Path:
    """One head whose scores are masked: by an input, by a constant triangle that is added, or one that is picked."""
    rng = np.random.default_rng(3)
    sizes = {"wq": (WIDTH, WIDTH), "wk": (WIDTH, WIDTH), "wv": (WIDTH, WIDTH), "wo": (WIDTH, 5)}
    constants = {n: rng.normal(0, 0.45, size).astype(np.float32) for n, size in sizes.items()}
    constants |= {"one": np.float32(1), "depth": np.float32(depth)}
    nodes = [helper.make_node("MatMul", ["x", f"w{n}"], [n]) for n in "qkv"]
    nodes += [
        helper.make_node("Transpose", ["k"], ["turned"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "turned"], ["scores"]),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, LENGTH, WIDTH])]
    below = np.triu(np.ones((1, LENGTH, LENGTH), bool), 1)
    if mask == "given":
        inputs.append(helper.make_tensor_value_info("m", TensorProto.FLOAT, [1, 1, LENGTH]))
        nodes += [
            helper.make_node("Sub", ["one", "m"], ["away"]),
            helper.make_node("Mul", ["away", "depth"], ["low"]),
            helper.make_node("Add", ["scores", "low"], ["masked"]),
        ]
    elif mask == "added":
        constants["low"] = np.where(below, np.float32(depth), np.float32(0))
        nodes.append(helper.make_node("Add", ["scores", "low"], ["masked"]))
    elif mask == "picked":
        constants["below"] = below
        nodes.append(helper.make_node("Where", ["below", "depth", "scores"], ["masked"]))
    nodes += [
        helper.make_node("Softmax", ["masked" if mask else "scores"], ["shares"], axis=-1),
        helper.make_node("MatMul", ["shares", "v"], ["mixed"]),
        helper.make_node("MatMul", ["mixed", "wo"], ["y"]),
    ]
    stored = [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, LENGTH, 5])
    graph = helper.make_graph(nodes, "attention", inputs, [out], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return path


def samples(given: bool) -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(5)
    found = {"x": rng.normal(0, 1, (40, 1, LENGTH, WIDTH)).astype(np.float32)}
    if given:
        lengths = rng.integers(3, LENGTH + 1, 40)
        found["m"] = (np.arange(LENGTH) < lengths[:, None]).astype(np.float32).reshape(40, 1, 1, LENGTH)
    return found


def sqnr(path: Path, given: bool = False) -> float:
    found = codegen.quantize(path, samples(given), recipe="fast").report
    assert found.sqnr is not None, found.refusal
    return found.sqnr


@pytest.mark.parametrize(
    ("mask", "depth"),
    [
        ("given", -1e9),
        ("given", HF),
        ("added", -1e4),
        ("added", HF),
        ("added", -np.inf),
        ("picked", -1e9),
        ("picked", -np.inf),
    ],
)
def test_a_deep_mask_costs_as_little_as_a_shallow_one(tmp_path: Path, mask: str, depth: float) -> None:
    shallow = sqnr(attention(tmp_path / "shallow.onnx", mask, -30.0), mask == "given")
    deep = sqnr(attention(tmp_path / "deep.onnx", mask, depth), mask == "given")
    assert deep > 25
    assert deep > shallow - 1.5


def test_scores_that_softmax_reads_whole_are_left_as_they_are(tmp_path: Path) -> None:
    """Without a mask nothing lies deep enough to be left out: the range is that of the numbers."""
    x = 0.4 * samples(given=False)["x"]
    made = codegen.quantize(attention(tmp_path / "plain.onnx", ""), {"x": x}, recipe="fast")
    scores = next(t for t in made.report.tensors if t.tensor == "scores")
    assert scores.clipped < 0.01


def test_what_is_written_is_what_onnx_runtime_computes(tmp_path: Path) -> None:
    ort = pytest.importorskip("onnxruntime")
    given = samples(given=True)
    model = attention(tmp_path / "m.onnx", "given", -1e9)
    made = codegen.quantize(model, given, recipe="fast")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    sessions = [ort.InferenceSession(m, options, providers=["CPUExecutionProvider"]) for m in (model, made.model)]
    (tmp_path / "q.onnx").write_bytes(made.model)
    project = codegen.compile_model(tmp_path / "q.onnx", "host", tmp_path / "c", io_type="model", io_layout="model")
    with codegen.load(project) as network:
        (ours,) = network.run(given).values()
    real, theirs = (
        np.concatenate([s.run(None, {n: a[i] for n, a in given.items()})[0] for i in range(40)]) for s in sessions
    )
    for found in (theirs, ours.reshape(real.shape)):
        assert 10 * np.log10((real**2).sum() / ((real - found) ** 2).sum()) > 22
