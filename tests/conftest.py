"""What several files of tests share and takes seconds to make."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.support import wheel as published
from tests.support.browser import Browser, opened

os.environ["CFLAGS"] = "-O0"
"""C for this machine is built as users get it where a test asks for that (`fastest`): vectors take many times as
long to compile, and their kernels have tests of their own."""


_SLOWNESS = (hypothesis.HealthCheck.too_slow,)
hypothesis.settings.register_profile("alike", derandomize=True, deadline=None, suppress_health_check=_SLOWNESS)
hypothesis.settings.load_profile("alike")
"""The same examples each time, however long they take: no run fails by chance for one who changed nothing."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test marked `one_in(n)` an n-th of the instances are quick, one at least, the others slow."""
    families: dict[str, list[pytest.Function]] = {}
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and item.get_closest_marker("one_in")
            and not item.get_closest_marker("slow")
        ):
            families.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for family in families.values():
        share = next(mark.args[0] for mark in family[0].iter_markers("one_in"))
        for item in _spread(family)[-(-len(family) // share) :]:
            item.add_marker(pytest.mark.slow)


def _spread(family: list[pytest.Function]) -> list[pytest.Function]:
    """Instances in an order in which each brings as many values as it can that no earlier one had.

    Which comes first of those that bring as many follows from their names alone.
    """
    left = sorted(family, key=lambda item: zlib.crc32(item.name.encode()))
    seen: set[tuple[str, str]] = set()
    order = []
    while left:
        best = max(left, key=lambda item: len(_values(item) - seen))
        left.remove(best)
        order.append(best)
        seen |= _values(best)
    return order


def _values(item: pytest.Function) -> set[tuple[str, str]]:
    return {(name, repr(value)) for name, value in item.callspec.params.items()}


@pytest.fixture(autouse=True, scope="session")
def _no_disk_is_waited_for() -> Iterator[None]:
    """Thousands of files are written and thrown away: whether a disk has them matters to none but users."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture
def fastest(monkeypatch: pytest.MonkeyPatch) -> None:
    """C for this machine is built as users get it."""
    monkeypatch.delenv("CFLAGS")


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive of the checkout."""
    return published.sdist(tmp_path_factory)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel."""
    return published.wheel(tmp_path_factory)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with `python` and `lamina` of a fresh environment that the wheel is installed in."""
    return published.installed(tmp_path_factory)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium without a screen."""
    with opened() as found:
        yield found
