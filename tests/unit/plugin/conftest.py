"""The example of a plug-in, to be spoiled."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.examples import MEDIAN


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example, to be spoiled."""
    shutil.copytree(MEDIAN, tmp_path / "median")
    return tmp_path / "median"
