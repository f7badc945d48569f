"""What several files of tests share and takes seconds to make."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import wheel as published
from tests.support.browser import Browser, opened


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
