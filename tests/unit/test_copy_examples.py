"""The examples in a folder of the user's own: whole, and never over something that is there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import codegen
from codegen.cli import main
from codegen.errors import CompileError
from codegen.resources import resource_dir


def files(folder: Path) -> dict[str, bytes]:
    found = (p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found}


@pytest.mark.parametrize("empty", [False, True])
def test_all_examples_come_into_a_new_or_empty_folder(empty: bool, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "examples"
    if empty:
        out.mkdir(parents=True)
    copied = codegen.copy_examples(out)
    assert copied.folder == str(out)
    assert {"digits", "tiny", "firmware", "firmware/zephyr"} <= set(copied.examples)
    assert files(out) == files(resource_dir("examples"))
    assert not list(out.rglob("__pycache__"))


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "nowhere").symlink_to(tmp_path / "none")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "manifest.json").write_text("{}")
    before = files(tmp_path)
    for name in ("folder", "file", "nowhere", "project", "."):
        with pytest.raises(CompileError) as error:
            codegen.copy_examples(tmp_path / name)
        assert error.value.code == "LAM-EMIT-002"
    for name in ("file/below", "x" * 300):
        with pytest.raises(CompileError) as error:
            codegen.copy_examples(tmp_path / name)
        assert error.value.code == "LAM-EMIT-001"
    assert files(tmp_path) == before
    assert not (tmp_path / "none").exists()


def test_the_command_says_what_it_has_copied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "examples"
    assert main(["examples", "-o", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["folder"] == str(out)
    assert main(["examples", "-o", str(out)]) == 1
    assert "LAM-EMIT-002" in capsys.readouterr().err
    assert main(["examples", "-o", str(tmp_path / "other")]) == 0
    assert f"{tmp_path / 'other'}/firmware/arduino" in capsys.readouterr().out


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.copyfile

    def full(source: str, target: str, **words: bool) -> str:
        if target.endswith("whistle.onnx"):
            raise OSError(28, "No space left on device")
        return real(source, target, **words)

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(CompileError) as error:
        codegen.copy_examples(tmp_path / "out")
    assert error.value.code == "LAM-EMIT-001"
    assert "No space left on device" in error.value.text()
    assert not (tmp_path / "out").exists()
