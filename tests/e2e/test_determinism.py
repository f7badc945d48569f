"""The same input gives the same bytes: in another process, under another hash seed, from another folder."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from codegen.process import check_program
from tests.support.shared import ROOT

_SCRIPT = """
import sys
from pathlib import Path
from codegen.pipeline import Options, compile_file
from codegen.emit import write_project
model, out = map(Path, sys.argv[1:3])
for target, weights in (("host", "c"), ("ppc32", "blob"), ("cortex-m4", "c")):
    write_project(out / target, compile_file(model, Options(target=target, weights=weights)).files)
"""


def compile_apart(model: Path, out: Path, seed: str) -> dict[str, bytes]:
    """Every file of three projects, made by a process of its own."""
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "TZ": f"UTC{int(seed) % 12}"}
    check_program([sys.executable, "-c", _SCRIPT, model, out], cwd=out.parent, env=env, timeout_s=120)
    return {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("model", ["digits/digits_qdq.onnx", "tiny/tiny_qdq.onnx"])
def test_two_processes_write_the_same_bytes(model: str, tmp_path: Path) -> None:
    here = ROOT / "examples" / model
    elsewhere = tmp_path / "a" / "folder" / here.name
    elsewhere.parent.mkdir(parents=True)
    shutil.copy(here, elsewhere)
    first = compile_apart(here, tmp_path / "one", "0")
    second = compile_apart(elsewhere, tmp_path / "two", "4242")
    assert list(first) == list(second)
    assert len(first) > 30
    for path, data in first.items():
        assert data == second[path], path
        assert str(ROOT).encode() not in data
        assert str(tmp_path).encode() not in data
