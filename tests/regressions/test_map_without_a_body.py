"""A SequenceMap that lacks the attribute which holds its graph."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import helper

from codegen.api import compile_model
from codegen.errors import ModelRejected
from tests.support.onnx_files import onnx_model, port


def test_a_map_without_a_body_is_refused_by_its_attribute(tmp_path: Path) -> None:
    node = helper.make_node("SequenceMap", ["x"], ["y"])
    onnx.save(onnx_model([node], [port("x", [2])], [port("y", [2])]), tmp_path / "m.onnx")
    with pytest.raises(ModelRejected, match=r"LAM-IMPORT-013(.|\n)*body"):
        compile_model(tmp_path / "m.onnx", out=tmp_path / "out")
