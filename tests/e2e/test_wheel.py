"""What is published works without the checkout: sdist to wheel to a fresh environment to a compiled network."""

from __future__ import annotations

import os
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from codegen.errors import CompileError
from codegen.process import check_program
from tests.support import wheel as published
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


def urls(wheel: Path) -> list[str]:
    """The addresses in a wheel's metadata."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(next(n for n in archive.namelist() if n.endswith("METADATA"))).decode("utf-8")
    return Parser().parsestr(text).get_all("Project-URL") or []


def test_the_addresses_are_those_of_pages_of_the_site(wheel: Path) -> None:
    pages = dict(url.split(", ") for url in urls(wheel))
    assert set(pages) == {"Documentation", "Errors", "API"}
    for address in pages.values():
        site, _, page = address.rpartition("/")
        assert site == published.SITE
        assert (ROOT / "docs" / page).with_suffix(".md").is_file()


def test_without_an_address_the_package_names_none(tmp_path: Path) -> None:
    published.build(ROOT, tmp_path / "dist", "wheel", "")
    assert urls(next((tmp_path / "dist").glob("*.whl"))) == []


def test_an_address_that_is_none_of_the_web_builds_nothing(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="LAMINA_SITE: 'docs' is not an address"):
        published.build(ROOT, tmp_path / "dist", "wheel", "docs")


def test_an_error_is_explained_with_the_address_of_its_page(programs: Path, tmp_path: Path) -> None:
    said = apart(programs, tmp_path, "-m", "codegen", "help", "LAM-API-005").splitlines()
    assert said[0] == "LAM-API-005"
    assert said[-1].strip() == f"{published.SITE}/errors.html"


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
