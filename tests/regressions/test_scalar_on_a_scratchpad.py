"""A number without axes has no channels that tiles of a scratchpad could share out."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import helper

from codegen import api


def test_a_number_without_axes_compiles_for_a_scratchpad(tmp_path: Path) -> None:
    nodes = [helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0), helper.make_node("Exp", ["s"], ["y"])]
    ends = [helper.make_tensor_value_info("x", 1, [4, 5])], [helper.make_tensor_value_info("y", 1, [])]
    model = helper.make_model(helper.make_graph(nodes, "scalar", *ends), opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, tmp_path / "scalar.onnx")
    assert api.verify(tmp_path / "scalar.onnx", target="sophgo-like").equal
