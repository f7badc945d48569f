"""The commands of a page of the documentation, run as they stand."""

from __future__ import annotations

import pytest

from codegen.cli import main


def told(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command prints; it must end well."""
    program, *words = command.split()
    assert program == "lamina"
    capsys.readouterr()
    code = main(words)
    said = capsys.readouterr()
    assert code == 0, f"{command}: {said.err}"
    return said.out
