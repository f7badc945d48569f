"""The commands of docs/tutorial_quantize.md run, and on the real network they give the figures that the page states."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.support.commands import told
from tests.support.float_models import float_model
from tests.support.shared import ROOT, shared_dir

PAGE = (ROOT / "docs" / "tutorial_quantize.md").read_text(encoding="utf-8")
TABLES = dict(re.findall(r"^`(\w+\.toml)`\n```toml\n(.*?)```$", PAGE, re.MULTILINE | re.DOTALL))
BLOCKS = re.findall(r"^```sh\n(.*?)```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]
SMALL = {"layer1.2.conv1": "depthwise", "layer3.2.conv1": "point"}
"""Layers of the small network that stand for those of the real one."""


def prepared(folder: Path, renamed: Mapping[str, str]) -> None:
    for name, text in TABLES.items():
        for old, new in renamed.items():
            text = text.replace(f'"{old}"', f'"{new}"')
        (folder / name).write_text(text)


def test_the_page_has_the_tables_that_its_commands_name() -> None:
    assert {word for line in COMMANDS for word in line.split() if re.fullmatch(r"\w+\.toml", word)} == {
        *TABLES,
        "ranges.toml",
    }
    assert len(COMMANDS) >= 10


def test_every_command_runs_on_a_small_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    float_model(tmp_path / "resnet20.onnx")
    rng = np.random.default_rng(1)
    for name, count in (("calib.npz", 40), ("test.npz", 20)):
        x = rng.integers(0, 256, (count, 8, 8, 3)).astype(np.uint8)
        np.savez(tmp_path / name, x=x, y=np.arange(count) % 5)
    prepared(tmp_path, SMALL)
    for command in COMMANDS:
        assert told(command, capsys)
    assert (tmp_path / "project" / "src").is_dir()
    assert "[[tensor]]" in (tmp_path / "ranges.toml").read_text()


def figure(text: str, form: str) -> list[float]:
    return [float(number) for number in re.findall(form, text)]


@pytest.mark.slow
def test_the_real_network_gives_the_figures_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No worse by 0.7 points, four pictures of 600, or half a dB: a better quantizer may give more."""
    shared = shared_dir()
    monkeypatch.chdir(tmp_path)
    shutil.copy(shared / "models" / "float" / "resnet20_cifar10_f32.onnx", "resnet20.onnx")
    shutil.copy(shared / "data" / "cifar10_calib200.npz", "calib.npz")
    shutil.copy(shared / "data" / "cifar10_test600.npz", "test.npz")
    prepared(tmp_path, {})
    said = {command: told(command, capsys) for command in COMMANDS}
    scores = [figure(text, r" (\d+\.\d+)% ")[-1] for command, text in said.items() if " eval " in command]
    least_scores = figure(PAGE, r"(\d+\.\d+) % \(")
    assert all(score >= least - 0.7 for score, least in zip(scores, least_scores, strict=True))
    levels = [figure(text, r"\(c\): (\d+\.\d) dB")[-1] for command, text in said.items() if " quantize " in command]
    stated = [32.8, 24.9, 25.2]
    assert all(f"{level} dB" in PAGE for level in stated)
    assert all(level >= least - 0.5 for level, least in zip(levels, stated, strict=True))
    ranked = next(text for command, text in said.items() if " sensitivity " in command)
    assert {row.split()[0] for row in ranked.splitlines()[2:4]} == {"layer2.0.conv1", "layer1.2.conv1"}
