"""Programs that a test needs.  Where one is missing the test is skipped; under CI it fails, so that none is lost."""

from __future__ import annotations

import os

import pytest

from codegen.process import find_program


def require_tool(*names: str) -> None:
    """The test goes on only when all these programs are installed."""
    missing = [name for name in names if find_program(name) is None]
    if not missing:
        return
    reason = f"not installed: {', '.join(missing)}"
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; under CI every tool must be there", pytrace=False)
    pytest.skip(reason)
