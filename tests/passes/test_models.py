"""Real networks: no Transpose is left, and every number is what it was as imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.frontends.onnx import import_onnx
from codegen.ops import Slice
from codegen.passes import simplify
from tests.passes.build import assert_same, kinds, only
from tests.support.shared import ROOT, shared_dir

EXAMPLES = ["examples/digits/digits_qdq.onnx", "examples/tiny/tiny_qdq.onnx"]
TINY = [f"models/mlperf_tiny_onnx/{n}_qdq{kind}.onnx" for n in ("ad", "kws", "resnet8", "vww") for kind in ("", "_sym")]
OTHERS = ["mnist_cnn", "espcn_x3", "yunet_n_320", "fastestdet_352"]


def check(path: Path) -> None:
    graph = import_onnx(path, mode="single")
    best = simplify(graph)
    assert not kinds(best).keys() & {"Transpose", "Gather", "Clamp"}
    assert_same(graph, best)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_have_no_transpose_left(name: str) -> None:
    check(ROOT / name)


@pytest.mark.parametrize("name", [*TINY, *(f"models/onnx/{name}_qdq.onnx" for name in OTHERS)])
def test_models_have_no_transpose_left(name: str) -> None:
    check(shared_dir() / name)


def test_the_channel_shuffles_of_fastestdet_are_slices_of_channels() -> None:
    best = simplify(import_onnx(shared_dir() / "models/onnx/fastestdet_352_qdq.onnx", mode="single"))
    slices = [node.op for node in only(best, Slice)]
    assert len(slices) == 26
    assert all(isinstance(op, Slice) and op.steps == (1, 1, 1, 2) for op in slices)
    assert "Reshape" not in kinds(best)
