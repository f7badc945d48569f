"""What is published works without the checkout: sdist to wheel to a fresh environment to a compiled network."""

from __future__ import annotations

import os
import tarfile
import zipfile
from pathlib import Path

from codegen.process import check_program
from tests.support.shared import ROOT

RESOURCES = ("templates", "runtime_c", "targets", "examples", "docs")


def files_of(folder: str) -> set[str]:
    """Files of the checkout that must be published: those that are not hidden or made by Python."""
    found = (p for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {str(p.relative_to(ROOT)) for p in found if not p.name.startswith(".")}


def test_the_source_archive_holds_every_source(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("codegen", *RESOURCES):
        assert files_of(folder) <= names
    assert {"pyproject.toml", "LICENSE"} <= names


def test_the_wheel_holds_the_package_and_its_resources(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = next(n for n in names if n.endswith("METADATA"))
        text = archive.read(metadata).decode("utf-8")
        scripts = archive.read(metadata.replace("METADATA", "entry_points.txt")).decode("utf-8")
    assert files_of("codegen") <= names
    for folder in RESOURCES:
        assert {f"codegen/_resources/{f}" for f in files_of(folder)} <= names, folder
    assert not {n for n in names if "__pycache__" in n or n.startswith(("tests/", "benchmarks/"))}
    assert "Name: lamina" in text
    assert "lamina = codegen.cli:main" in scripts


def apart(programs: Path, folder: Path, *arguments: str | Path) -> str:
    """What the fresh environment's Python printed, in a folder far from the checkout."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    return check_program([programs / "python", *arguments], cwd=folder, env=env, timeout_s=120).stdout.decode("utf-8")


_COMPILE = """
from pathlib import Path
import codegen
from codegen.emit import write_project
from codegen.pipeline import Options, compile_file
from codegen.resources import resource_dir
assert "_resources" in str(resource_dir("templates")), resource_dir("templates")
model = resource_dir("examples") / "tiny" / "tiny_qdq.onnx"
write_project(Path("out"), compile_file(model, Options(target="cortex-m4")).files)
print(codegen.__file__)
"""


def test_an_installed_wheel_compiles_a_model_far_from_the_checkout(programs: Path, tmp_path: Path) -> None:
    where = apart(programs, tmp_path, "-c", _COMPILE).strip()
    assert Path(where).is_relative_to(programs.parent)
    assert (tmp_path / "out" / "include" / "tiny_qdq.h").is_file()
    assert (tmp_path / "out" / "runtime" / "lam_base.h").is_file()


def test_the_installed_command_compiles_too(programs: Path, tmp_path: Path) -> None:
    model = ROOT / "examples" / "tiny" / "tiny_qdq.onnx"
    apart(programs, tmp_path, "-m", "codegen", "compile", model, "-t", "cortex-m4", "-o", "out")
    assert (tmp_path / "out" / "manifest.json").is_file()
    assert "compile" in apart(programs, tmp_path, "-m", "codegen", "--help")
