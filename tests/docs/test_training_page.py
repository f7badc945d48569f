"""The blocks of the pages about PyTorch run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.shared import ROOT
from tests.support.tools import require_module

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = ["training.md"]


@pytest.mark.parametrize("name", PAGES)
def test_the_blocks_of_a_page_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_module("torch")
    import torch

    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = BLOCK.findall((ROOT / "docs" / name).read_text(encoding="utf-8"))
    assert blocks
    for block in blocks:
        exec(compile(block, name, "exec"), names)
