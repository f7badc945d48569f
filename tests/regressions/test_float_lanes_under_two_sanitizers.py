"""gcc compiles float layers of a host in seconds with both sanitizers, though vectors are arrays then."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from codegen.build import Net
from tests.support.tools import require_tool


def test_gcc_ends_with_both_sanitizers(tmp_path: Path) -> None:
    require_tool("gcc")
    net, project = Net("lanes"), tmp_path / "p"
    weights = np.linspace(-1, 1, 48 * 37, dtype=np.float32).reshape(37, 48)
    net.output(net.onnx.MatMul(net.input("x", (12, 37)), weights))
    net.compile(out=project)
    flags = ["-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    roots = [f"-I{project / part}" for part in ("include", "runtime", "src")]
    sources = [str(p) for part in ("src", "test") for p in sorted((project / part).glob("*.c"))]
    subprocess.run(["gcc", *flags, *roots, *sources, "-o", str(tmp_path / "test")], check=True, timeout=60)
    subprocess.run([str(tmp_path / "test")], check=True, timeout=60)
