"""Masks of attention: numbers that Softmax makes nothing of take no room in the integers, however deep they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import codegen
from codegen.build import Net
from codegen.errors import CompileError

LENGTH, WIDTH = 9, 12
HF = float(np.finfo(np.float32).min)


def attention(path: Path, mask: str, depth: float = 0.0) -> Path:
    """One head whose scores are masked: by an input, padded or not, by a constant triangle that is added, or picked."""
    rng = np.random.default_rng(3)
    wq, wk, wv, wo = (rng.normal(0, 0.45, (WIDTH, n)).astype(np.float32) for n in (WIDTH, WIDTH, WIDTH, 5))
    below, low = np.triu(np.ones((1, LENGTH, LENGTH), bool), 1), np.float32(depth)
    net = Net("attention")
    op, x = net.onnx, net.input("x", (1, LENGTH, WIDTH))
    q, k, v = (op.MatMul(x, w) for w in (wq, wk, wv))
    if mask == "padded":  # a key and a value of their own, which no mask is for
        k, v = (op.Concat(t, rng.normal(0, 1, (1, 1, WIDTH)).astype(np.float32), axis=1) for t in (k, v))
    scores = op.MatMul(q, op.Transpose(k, perm=[0, 2, 1]), name="scores")
    if mask == "given":
        scores = op.Add(scores, op.Mul(op.Sub(np.float32(1), net.input("m", (1, 1, LENGTH))), low))
    elif mask == "padded":
        picked = op.Where(op.Less(net.input("m", (1, 1, LENGTH)), np.float32(0.5)), net.const(low), np.float32(0))
        scores = op.Add(scores, op.Pad(picked, [0, 0, 0, 0, 0, 1]))
    elif mask == "added":
        scores = op.Add(scores, np.where(below, low, np.float32(0)))
    elif mask == "picked":
        scores = op.Where(net.const(below), net.const(low), scores)
    net.output(op.MatMul(op.MatMul(op.Softmax(scores, axis=-1), v), wo), "y")
    path.write_bytes(net.to_onnx())
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
        ("padded", -np.inf),
    ],
)
def test_a_deep_mask_costs_as_little_as_a_shallow_one(tmp_path: Path, mask: str, depth: float) -> None:
    shallow = sqnr(attention(tmp_path / "shallow.onnx", mask, -30.0), mask in ("given", "padded"))
    deep = sqnr(attention(tmp_path / "deep.onnx", mask, depth), mask in ("given", "padded"))
    assert deep > 24
    assert deep > shallow - 1.5


def test_scores_that_softmax_reads_whole_are_left_as_they_are(tmp_path: Path) -> None:
    """Without a mask nothing lies deep enough to be left out: the range is that of the numbers."""
    x = 0.4 * samples(given=False)["x"]
    made = codegen.quantize(attention(tmp_path / "plain.onnx", ""), {"x": x}, recipe="fast")
    scores = next(t for t in made.report.tensors if t.tensor.startswith("scores"))
    assert scores.clipped < 0.01


def test_what_others_read_keeps_its_range(tmp_path: Path) -> None:
    """Scores that go into a sum before Softmax and into another output as well."""
    rng = np.random.default_rng(2)
    net = Net("shared")
    op, x = net.onnx, net.input("x", (1, LENGTH, WIDTH))
    scores, more, last = (rng.normal(0, 8, (WIDTH, n)).astype(np.float32) for n in (LENGTH, LENGTH, 4))
    s = op.MatMul(x, scores, name="scores")
    net.output(op.Softmax(op.Add(s, op.MatMul(x, more)), axis=-1), "y")
    net.output(op.MatMul(s, last[:LENGTH]), "z")
    (tmp_path / "s.onnx").write_bytes(net.to_onnx())
    made = codegen.quantize(tmp_path / "s.onnx", samples(given=False), recipe="fast")
    row = next(t for t in made.report.tensors if t.tensor.startswith("scores"))
    assert row.clipped < 0.01


def test_rows_that_are_masked_as_a_whole_count_for_nothing(tmp_path: Path) -> None:
    given = samples(given=True)
    given["m"][::4] = 0
    path = attention(tmp_path / "m.onnx", "given", -1e9)
    report = codegen.quantize(path, given, recipe="fast").report
    assert report.sqnr is not None
    assert report.sqnr > 20


def test_infinity_that_is_moved_before_softmax_is_refused(tmp_path: Path) -> None:
    net = Net("moved")
    op, x = net.onnx, net.input("x", (1, LENGTH))
    net.output(op.Softmax(op.Reshape(op.Add(x, np.full(LENGTH, -np.inf, np.float32)), [LENGTH, 1]), axis=0), "y")
    (tmp_path / "r.onnx").write_bytes(net.to_onnx())
    x = np.random.default_rng(1).normal(0, 1, (20, 1, LENGTH)).astype(np.float32)
    with pytest.raises(CompileError, match="LAM-QUANT-022"):
        codegen.quantize(tmp_path / "r.onnx", x, recipe="fast")


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
