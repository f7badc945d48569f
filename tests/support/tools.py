"""Programs and packages that a test needs.  A test without them is skipped; under CI it fails, so that none is lost."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from codegen.process import find_program
from codegen.target import Target, load_target


def require_tool(*names: str) -> None:
    """The test goes on only when all these programs are installed."""
    _require([name for name in names if find_program(name) is None])


def require_board(chip: str) -> Target:
    """The target, when its compiler and emulator are installed."""
    target = load_target(chip)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.toolchain.size, target.board.emulator[0])
    return target


def require_module(*names: str) -> None:
    """The test goes on only when all these Python packages are installed."""
    _require([name for name in names if importlib.util.find_spec(name) is None])


def _require(names: list[str]) -> None:
    if names:
        missing(", ".join(names))


def require_installed(name: str) -> Path:
    """A program of a Python package that is installed beside this Python; the test goes on only when it is."""
    found = installed(name)
    if found is None:
        missing(name)
    assert found is not None, "the test has ended"
    return found


def installed(name: str) -> Path | None:
    """The program of that name that pip has put beside this Python."""
    found = Path(sys.executable).parent / name
    return found if found.is_file() else None


def missing(what: str) -> None:
    """The test ends: skipped, or failed under CI."""
    reason = f"not installed: {what}"
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; under CI every tool must be there", pytrace=False)
    pytest.skip(reason)
