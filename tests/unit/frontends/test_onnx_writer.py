"""What is read, written and read again computes the same, over ONNX's own tests of its operators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CompileError
from codegen.frontends.onnx.real import read_real
from codegen.frontends.onnx.writer import model_bytes
from codegen.frontends.tflite.real import read_real as read_tflite
from codegen.ir.real import RealGraph
from codegen.real.engine import RealEngine
from tests.support.node_tests import NodeTest, held, node_tests, read
from tests.support.tflite_real_cases import CASES

_UNWRITTEN = ("TfIdfVectorizer", "TreeEnsemble")
"""Operators that are read and not written; trees, for only ONNX's domain for classical learning has them."""
_TFLITE_ONLY = {
    *("ADD_N", "FULLY_CONNECTED", "L2_NORMALIZATION", "RESIZE_NEAREST_NEIGHBOR", "RSQRT", "SOFTMAX", "TOPK_V2"),
}
"""Operators of TFLite of which ONNX has none, or none with all their attributes."""
_OTHERWISE = (
    *("resize_downsample_sizes_nearest_not", "quantizelinear_uint2", "quantizelinear_int2"),
    *("_bf16", "celu_bfloat16"),
)
"""Sizes by a policy that factors do not give, tensors of two bits, which few runtimes have, and sums and functions in
bfloat16, which are written as those of float32."""


def _sizes_known(graph: RealGraph) -> bool:
    """A file names sizes from one on; an input of none, or of no axes, has nothing to name."""
    return all(graph.type(i).shape and min(graph.type(i).shape) > 0 for i in graph.inputs)


def _readable(case: NodeTest, folder: Path) -> RealGraph | None:
    try:
        graph, _ = read(case, folder)
    except CompileError:
        return None
    kinds = {n.op_type for n in graph.nodes}
    left_out = kinds.intersection(_UNWRITTEN) or any(word in case.name for word in _OTHERWISE)
    return graph if graph.nodes and _sizes_known(graph) and not left_out else None


def _same(case: NodeTest, folder: Path) -> bool:
    """Whether the case survives; True for one that is not read."""
    graph = _readable(case, folder)
    if graph is None:
        return True
    path = folder / "written.onnx"
    path.write_bytes(model_bytes(graph))
    again = read_real(path)
    feeds = {name: held(array) for name, array in case.feeds.items() if name in graph.inputs}
    if feeds.keys() != set(graph.inputs):
        return True
    one, other = (RealEngine(g).run(feeds) for g in (graph, again))
    pairs = zip(one.values(), other.values(), strict=True)
    alike = (a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)
    return graph.faces == again.faces and all(alike)


def test_one_test_of_each_third_operator_survives_being_written(tmp_path: Path) -> None:
    first: dict[str, str] = {}
    for name, case in node_tests().items():
        for node in case.model.graph.node:
            first.setdefault(node.op_type, name)
    chosen = sorted(set(first.values()))
    assert len(chosen) > 130
    assert [name for name in chosen[::3] if not _same(node_tests()[name], tmp_path)] == []


@pytest.mark.slow
def test_every_test_survives_being_written(tmp_path: Path) -> None:
    assert [name for name, case in node_tests().items() if not _same(case, tmp_path)] == []


@pytest.mark.parametrize("name", [name for name in CASES if name.split()[0] in _TFLITE_ONLY])
def test_what_only_tflite_has_as_one_operator_survives_being_written(name: str, tmp_path: Path) -> None:
    case, paths = CASES[name](), (tmp_path / "m.tflite", tmp_path / "m.onnx")
    paths[0].write_bytes(case.data)
    graph = read_tflite(paths[0])
    paths[1].write_bytes(model_bytes(graph))
    again = read_real(paths[1])
    one, other = (RealEngine(g).run(dict(zip(g.inputs, case.inputs, strict=True))) for g in (graph, again))
    for a, b in zip(one.values(), other.values(), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
