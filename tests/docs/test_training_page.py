"""The blocks of the pages about PyTorch and Keras run as they stand, Python and commands in their order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.cli import main
from tests.support.shared import ROOT
from tests.support.tools import require_module

BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


KERAS = pytest.param(
    "keras.md", marks=[pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning:keras")]
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["training.md", "pytorch.md", KERAS])
def test_the_blocks_of_a_page_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_module("torch")
    if name == "keras.md":
        require_module("keras")
    import torch

    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = BLOCK.findall((ROOT / "docs" / name).read_text(encoding="utf-8"))
    assert blocks
    for language, block in blocks:
        if language == "python":
            exec(compile(block, name, "exec"), names)
        else:
            commands(block)


def commands(block: str) -> None:
    for line in block.splitlines():
        program, *words = line.split()
        assert program == "lamina"
        assert main(words) == 0, line
