"""docs/packages: the commands of each page, at most five, run one after the other in an empty folder."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from codegen.options import PACKAGES
from codegen.process import check_program, find_program
from tests.support.shared import ROOT

PAGES = sorted((ROOT / "docs" / "packages").glob("*.md"))
ELSEWHERE = {"arduino-cli", "cargo", "cbuild", "cpackget", "west", "idf.py", "pio", "compote"}
"""Programs of an ecosystem, which a machine has when somebody works in it; what they are given is looked into in
tests/e2e/test_packages.py."""


def commands(page: Path) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def test_every_package_has_a_page() -> None:
    assert [page.stem for page in PAGES] == list(PACKAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    lines = commands(page)
    assert 1 <= len(lines) <= 5
    assert lines[0].startswith("lamina compile ")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    for line in lines:
        program, *arguments = shlex.split(line)
        if program in ELSEWHERE and (program != "compote" or find_program(program) is None):
            continue
        argv = [sys.executable, "-m", "codegen", *arguments] if program == "lamina" else [program, *arguments]
        check_program(argv, cwd=tmp_path, env=env, timeout_s=120)
    if page.stem == "cmake":
        assert (tmp_path / "installed" / "lib" / "cmake" / "digits" / "digitsConfig.cmake").is_file()
