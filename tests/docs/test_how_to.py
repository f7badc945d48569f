"""The commands of the pages that begin with a question run as they stand."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.support.commands import told
from tests.support.shared import ROOT
from tests.support.tflite_cases import draw

DOCS = ROOT / "docs"
FAMILIES = list((DOCS / "families").glob("*.md"))


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)```$", text, re.MULTILINE | re.DOTALL)


def run_all(page: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What each command prints; all of them must end well."""
    commands = [line.partition("#")[0] for block in blocks(page, "sh") for line in block.splitlines()]
    return [told(command, capsys) for command in commands]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("page", "count"), [("why_accuracy.md", 9), ("why_not_fit.md", 6)])
def test_every_command_runs_on_the_digits(
    page: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in (*(ROOT / "examples" / "digits").glob("*.onnx"), *(ROOT / "examples" / "digits").glob("*.npz")):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    said = run_all(page, capsys)
    assert len(said) == count
    assert all(said)


@pytest.mark.parametrize(
    "page", [p if p == "avr" else pytest.param(p, marks=pytest.mark.slow) for p in sorted(p.stem for p in FAMILIES)]
)
def test_every_command_of_a_family_of_cores_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(ROOT / "examples" / "digits" / "digits_qdq.onnx", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert len(run_all(f"families/{page}.md", capsys)) >= 3


def test_a_network_in_an_array_becomes_a_file_and_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = draw("CONV_2D", "int8", 3).data
    lines = ", ".join(f"0x{byte:02x}" for byte in data)
    Path("model_data.cc").write_text(f'#include "m.h"\nalignas(16) const unsigned char g_model[] = {{\n{lines}}};\n')
    (code,) = blocks("from_tflite_micro.md", "python")
    exec(compile(code, "from_tflite_micro.md", "exec"), {})
    assert Path("model.tflite").read_bytes() == data
    assert len(run_all("from_tflite_micro.md", capsys)) == 3
    assert Path("net/src").is_dir()
