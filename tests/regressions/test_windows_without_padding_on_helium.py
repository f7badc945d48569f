"""A first layer of three rows without padding copies its windows by a macro, and has the header that it stands in."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from codegen import compile_model, load, quantize
from codegen.build import Net
from tests.support.tools import require_tool


def test_the_header_of_the_windows_comes_along(tmp_path: Path) -> None:
    require_tool("gcc")
    rng = np.random.default_rng(0)
    net = Net("first")
    weights = rng.normal(0, 0.3, (8, 3, 3, 3)).astype(np.float32)
    net.output(net.onnx.Conv(net.input("x", (1, 3, 12, 21)), weights), "y")
    (tmp_path / "f.onnx").write_bytes(net.to_onnx())
    x = rng.normal(0, 1, (20, 1, 3, 12, 21)).astype(np.float32)
    (tmp_path / "q.onnx").write_bytes(quantize(tmp_path / "f.onnx", x, recipe="fast").model)
    project = compile_model(tmp_path / "q.onnx", "cortex-m55", tmp_path / "c")
    layers = next((tmp_path / "c" / "src").glob("*_layers.c")).read_text()
    assert "lam_mve_three_rows(" in layers
    with load(project) as network:
        assert network.run({network.inputs[0].name: x[0]})
