"""Real models and data, which lie beside the checkout and not in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SHARED = ROOT.parent / "shared"


def shared_dir() -> Path:
    """The folder of models and data; without it the test is skipped, or fails under CI."""
    if _SHARED.is_dir():
        return _SHARED
    reason = "no folder ../shared with real models and data"
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; under CI it must be there", pytrace=False)
    pytest.skip(reason)
