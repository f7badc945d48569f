"""A command line in this process, a small model, and every kind of file that is wrong."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from codegen.cli import main
from codegen.process import Completed, run_program
from codegen.resources import resource_dir
from codegen.target import find_chip
from tests.support.onnx_files import onnx_model, port

TINY = resource_dir("examples") / "tiny" / "tiny_qdq.onnx"
DIGITS = resource_dir("examples") / "digits" / "digits_qdq.onnx"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(resource_dir("examples").parent)}
"""For child processes, which find the package here wherever they run."""
HELD_OUT = resource_dir("examples") / "digits" / "digits_test.npz"


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


Lamina = Callable[..., Ran]


def python(*words: str, cwd: Path | None = None) -> Completed:
    """Run Python with these arguments in a process of its own."""
    return run_program([sys.executable, "-B", *words], cwd=cwd, env=ENVIRONMENT, timeout_s=120)


@pytest.fixture
def lamina(capsys: pytest.CaptureFixture[str]) -> Lamina:
    """Run one command."""

    def run(*words: str | Path) -> Ran:
        capsys.readouterr()
        code = main([str(w) for w in words])
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


@pytest.fixture(scope="session")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files that are wrong, and a few that are right."""
    folder = tmp_path_factory.mktemp("bad")
    whole = TINY.read_bytes()
    (folder / "empty.onnx").write_bytes(b"")
    (folder / "cut.onnx").write_bytes(whole[: len(whole) // 2])
    (folder / "lfs.onnx").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    (folder / "strange.onnx").write_bytes(_strange_model())
    (folder / "folder").mkdir()
    (folder / "folder" / "mine.txt").write_text("keep me")
    (folder / "file").write_text("a file")
    _data(folder)
    (folder / "broken.toml").write_text("[preprocess\n")
    (folder / "key.toml").write_text("[preprocess]\nlayuot = 'NHWC'\n")
    (folder / "value.toml").write_text("[preprocess]\ndivide = 0\n")
    (folder / "mean.toml").write_text("[preprocess]\nlayout = 'NCHW'\nmean = [1, 2, 3]\n")
    (folder / "jpeg.toml").write_text("[preprocess]\njpeg = true\nlayout = 'NHWC'\n")
    (folder / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    chip = find_chip("generic").read_text(encoding="utf-8")
    (folder / "chip_key.toml").write_text(f"frequency = 3\n{chip}")
    (folder / "chip_value.toml").write_text(chip.replace('"little"', '"middle"'))
    (folder / "chip_short.toml").write_text('name = "short"\n')
    (folder / "chip_small.toml").write_text(chip.replace('kind = "ram"', 'kind = "ram"\nbytes = 100\nsource = "none"'))
    return folder


def _data(folder: Path) -> None:
    """Arrays for the tiny model, whose input is float32 [1, 1, 8, 8]."""
    x = np.linspace(0, 1, 3 * 64, dtype=np.float32).reshape(3, 1, 8, 8)
    np.savez(folder / "good.npz", x=x, y=np.array([0, 1, 2]))
    np.savez(folder / "other.npz", y=np.array([0]))
    np.savez(folder / "shape.npz", x=x[:, :, :7], y=np.array([0, 1, 2]))
    np.savez(folder / "nan.npz", x=np.full((1, 1, 8, 8), np.nan, np.float32), y=np.array([0]))
    np.savez(folder / "text.npz", x=np.array([["a"] * 64]), y=np.array([0]))
    np.savez(folder / "zero.npz", x=x[:0], y=np.zeros(0, np.int64))
    np.savez(folder / "labels.npz", x=x, y=np.array([0, 1]))
    np.savez(folder / "classes.npz", x=x, y=np.array([0, 1, 99]))
    np.savez(folder / "real_labels.npz", x=x, y=np.array([0.0, 1.0, 2.0]))
    np.savez(folder / "no_labels.npz", x=x)
    np.savez(folder / "objects.npz", x=np.array([{}], object), y=np.array([{}], object))
    (folder / "cut.npz").write_bytes((folder / "good.npz").read_bytes()[:300])


def _strange_model() -> bytes:
    node = helper.make_node("Strange", ["x"], ["y"])
    model = onnx_model([node], [port("x", [1, 4])], [port("y", [1, 4])], name="strange")
    data: bytes = onnx.ModelProto.SerializeToString(model)
    return data
