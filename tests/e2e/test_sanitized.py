"""Clang's integer sanitizer reports unsigned wraps and lossy conversions too: of convolutional networks, nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.process import run_program
from tests.e2e.projects import Project, project
from tests.tools import require_tool

INTEGER = ("-fsanitize=undefined,integer", "-fno-sanitize-recover=all")


def self_test(made: Project, folder: Path, *, also_test: bool = False) -> int:
    """The exit status of the self-test, the network (and the test itself) built with the sanitizer."""
    folder.mkdir()
    sources = [(path, INTEGER) for path in made.sources]
    tests = sorted((made.folder / "test").glob("*.c"))
    sources += [(path, INTEGER if also_test else ()) for path in tests]
    objects = []
    for i, (path, flags) in enumerate(sources):
        objects.append(str(folder / f"{i}.o"))
        argv = ["clang", "-std=c99", "-O1", *flags, *made.includes, "-c", str(path), "-o", objects[-1]]
        assert run_program(argv, timeout_s=120).returncode == 0
    program = str(folder / "program")
    assert run_program(["clang", *INTEGER, *objects, "-lm", "-o", program], timeout_s=120).returncode == 0
    return run_program([program], timeout_s=120).returncode


@pytest.mark.parametrize("network", ["digits", "residual"])
def test_integers_of_a_convolutional_network_neither_wrap_nor_lose_bits(network: str, tmp_path: Path) -> None:
    require_tool("clang")
    made = project(tmp_path / "net", network, target="generic")
    assert self_test(made, tmp_path / "build") == 0


def test_the_sanitizer_reports_the_wraps_of_the_self_tests_generator(tmp_path: Path) -> None:
    require_tool("clang")
    made = project(tmp_path / "net", "residual", target="generic")
    assert self_test(made, tmp_path / "build", also_test=True) != 0
