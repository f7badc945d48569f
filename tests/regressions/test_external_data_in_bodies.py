"""Numbers in a file beside the model, of constants inside bodies: read as those of the network's own are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import external_data_helper, numpy_helper, parser

from codegen.errors import ModelRejected
from codegen.frontends import read_real
from codegen.frontends.onnx.nodes import tensors_in
from codegen.real.engine import RealEngine

_TEXT = """<ir_version: 9, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) <bool on = {1}> {
    s = If (on) <then_branch = a () => (float[2] p) <float[2] w = {2, 3}> { p = Identity (w) },
        else_branch = b () => (float[2] q) { q = Constant <value = float[2] {4, 5}> () }>
    n = Constant <value = int64[1] {2}> ()
    c = ConstantOfShape <value = float[1] {7}> (n) t = Add (s, c) y = Mul (x, t) }"""


def _tensors(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    return [tensor for _, tensor in tensors_in(model.graph.node, model.graph.initializer)]


def _written(folder: Path) -> Path:
    model = parser.parse_model(_TEXT)
    for tensor in _tensors(model):
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name))
    external_data_helper.convert_model_to_external_data(
        model, location="w.bin", size_threshold=0, convert_attribute=True
    )
    onnx.save(model, folder / "m.onnx")
    return folder / "m.onnx"


def test_constants_of_bodies_are_read_from_a_file_beside_the_model(tmp_path: Path) -> None:
    path = _written(tmp_path)
    held = _tensors(onnx.load(path, load_external_data=False))
    assert [tensor.external_data[0].value for tensor in held] == ["w.bin"] * 5
    (found,) = RealEngine(read_real(path)).run({"x": np.float32([1, 10])}).values()
    np.testing.assert_array_equal(found, np.float32([9, 100]))


def test_a_missing_file_of_theirs_is_reported_once(tmp_path: Path) -> None:
    path = _written(tmp_path)
    (tmp_path / "w.bin").unlink()
    with pytest.raises(ModelRejected) as caught:
        read_real(path)
    assert [problem.found for problem in caught.value.problems()] == ["no file 'w.bin'"]
