"""Templates are compiled once, and what is kept never says anything else than the template does."""

from __future__ import annotations

import sys
from pathlib import Path

import jinja2
import pytest

from codegen.emit.render import environment
from codegen.resources import Roots


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "t.c.j2").write_text("{% for i in n %}x{{ i }};{% endfor %}")
    return tmp_path


def rendered(folder: Path) -> str:
    """By an environment of its own, which has compiled nothing."""
    return environment.__wrapped__(Roots((folder,), ())).get_template("t.c.j2").render(n=(1, 2))


def kept(folder: Path) -> Path:
    (found,) = (folder / "__pycache__").iterdir()
    return found


def test_a_template_is_compiled_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rendered(folder) == "x1;x2;"
    assert kept(folder).name == f"t.c.{sys.implementation.cache_tag}.pyc"
    monkeypatch.setattr(jinja2.Environment, "_parse", lambda *_: pytest.fail("it is compiled again"))
    assert rendered(folder) == "x1;x2;"


def test_a_changed_template_is_compiled_again(folder: Path) -> None:
    rendered(folder)
    (folder / "t.c.j2").write_text("{{ n[0] }}\n")
    assert rendered(folder) == "1\n"
    (folder / "t.c.j2").write_text("{{ n[1] }}\n")
    assert rendered(folder) == "2\n"


@pytest.mark.parametrize("keep", [0, 3, 40, 60, -1])
def test_a_damaged_file_is_replaced(folder: Path, keep: int) -> None:
    rendered(folder)
    whole = kept(folder).read_bytes()
    kept(folder).write_bytes(whole[:keep])
    assert rendered(folder) == "x1;x2;"
    assert kept(folder).read_bytes() == whole


def test_another_version_of_jinja_has_nothing_of_this_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered(folder)
    before = kept(folder).read_bytes()
    monkeypatch.setattr(jinja2, "__version__", "0.0.0")
    rendered(folder)
    assert kept(folder).read_bytes() != before


def test_nothing_is_kept_where_python_keeps_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered(folder) == "x1;x2;"
    assert not (folder / "__pycache__").exists()


def test_a_folder_that_takes_no_file_is_no_fault(folder: Path) -> None:
    (folder / "__pycache__").write_text("a file")
    assert rendered(folder) == "x1;x2;"
