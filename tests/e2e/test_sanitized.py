"""Clang's integer sanitizer reports unsigned wraps and lossy conversions too: of convolutional networks, nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.analysis import INTEGER, clang_integer
from tests.e2e.projects import project
from tests.support.tools import require_tool


@pytest.mark.one_in(2)
@pytest.mark.parametrize("network", ["digits", "residual"])
def test_integers_of_a_convolutional_network_neither_wrap_nor_lose_bits(network: str, tmp_path: Path) -> None:
    require_tool("clang")
    assert clang_integer(project(tmp_path, network, target="generic"), tmp_path) == ""


def test_the_sanitizer_reports_the_wraps_of_the_self_tests_generator(tmp_path: Path) -> None:
    require_tool("clang")
    assert "unsigned integer overflow" in clang_integer(
        project(tmp_path, "residual", target="generic"), tmp_path, INTEGER
    )
