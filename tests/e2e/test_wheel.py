"""What is published works without the checkout: sdist to wheel to a fresh environment to a compiled network."""

from __future__ import annotations

import os
import site
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from codegen.process import check_program
from tests.support.shared import ROOT

RESOURCES = ("templates", "runtime_c", "targets", "examples")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive of the checkout."""
    out = tmp_path_factory.mktemp("sdist")
    build(ROOT, out, "sdist")
    return next(out.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the unpacked source archive and not from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    unpacked = next(p for p in folder.iterdir() if p.is_dir())
    build(unpacked, folder / "dist", "wheel")
    return next((folder / "dist").glob("*.whl"))


def build(source: Path, out: Path, what: str) -> None:
    argv = [sys.executable, "-m", "build", "--no-isolation", f"--{what}", "--outdir", str(out), str(source)]
    check_program(argv, cwd=out.parent, timeout_s=120)


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


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of a fresh environment with the wheel; dependencies are this environment's, through a .pth file."""
    folder = tmp_path_factory.mktemp("env")
    check_program([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], timeout_s=120)
    home = folder / "venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]
    check_program([*pip, "--target", home, wheel], timeout_s=120)
    (home / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return folder / "venv" / "bin" / "python"


def apart(installed: Path, folder: Path, *arguments: str | Path) -> str:
    """What the fresh environment's Python printed, in a folder far from the checkout."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    return check_program([installed, *arguments], cwd=folder, env=env, timeout_s=120).stdout.decode("utf-8")


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


def test_an_installed_wheel_compiles_a_model_far_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    where = apart(installed, tmp_path, "-c", _COMPILE).strip()
    assert Path(where).is_relative_to(installed.parents[1])
    assert (tmp_path / "out" / "include" / "tiny_qdq.h").is_file()
    assert (tmp_path / "out" / "runtime" / "lam_base.h").is_file()


def test_the_installed_command_compiles_too(installed: Path, tmp_path: Path) -> None:
    model = ROOT / "examples" / "tiny" / "tiny_qdq.onnx"
    apart(installed, tmp_path, "-m", "codegen", "compile", model, "-t", "cortex-m4", "-o", "out")
    assert (tmp_path / "out" / "manifest.json").is_file()
    assert "compile" in apart(installed, tmp_path, "-m", "codegen", "--help")
