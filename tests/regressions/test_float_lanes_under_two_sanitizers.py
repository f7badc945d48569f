"""gcc compiles float layers of a host in seconds with both sanitizers, though vectors are arrays then."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from codegen import api
from tests.support.tools import require_tool


def test_gcc_ends_with_both_sanitizers(tmp_path: Path) -> None:
    require_tool("gcc")
    w = numpy_helper.from_array(np.linspace(-1, 1, 48 * 37, dtype=np.float32).reshape(37, 48), "w")
    ends = [helper.make_tensor_value_info("x", 1, [12, 37])], [helper.make_tensor_value_info("y", 1, [12, 48])]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "lanes", *ends, [w])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "lanes.onnx")
    project = tmp_path / "p"
    api.compile_model(tmp_path / "lanes.onnx", out=project)
    flags = ["-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    roots = [f"-I{project / part}" for part in ("include", "runtime", "src")]
    sources = [str(p) for part in ("src", "test") for p in sorted((project / part).glob("*.c"))]
    subprocess.run(["gcc", *flags, *roots, *sources, "-o", str(tmp_path / "test")], check=True, timeout=60)
    subprocess.run([str(tmp_path / "test")], check=True, timeout=60)
