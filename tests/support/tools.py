"""Programs and packages that a test needs.  A test without them is skipped; under CI it fails, so that none is lost."""

from __future__ import annotations

import importlib.util
import os

import pytest

from codegen.process import find_program


def require_tool(*names: str) -> None:
    """The test goes on only when all these programs are installed."""
    _require([name for name in names if find_program(name) is None])


def require_module(*names: str) -> None:
    """The test goes on only when all these Python packages are installed."""
    _require([name for name in names if importlib.util.find_spec(name) is None])


def _require(names: list[str]) -> None:
    if names:
        missing(", ".join(names))


def missing(what: str) -> None:
    """The test ends: skipped, or failed under CI."""
    reason = f"not installed: {what}"
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; under CI every tool must be there", pytrace=False)
    pytest.skip(reason)
