"""An operator that ONNX defines as a function written from its attributes, which lacks the one that holds its graph."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from codegen.api import compile_model
from codegen.errors import ModelRejected


def test_a_map_without_a_body_is_refused_by_its_attribute(tmp_path: Path) -> None:
    """onnx raises a ValueError of its own where it writes the function."""
    port = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("SequenceMap", ["x"], ["y"])], "g", port[:1], port[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "m.onnx")
    with pytest.raises(ModelRejected, match=r"LAM-IMPORT-013(.|\n)*body"):
        compile_model(tmp_path / "m.onnx", out=tmp_path / "out")
