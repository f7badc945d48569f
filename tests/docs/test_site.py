"""The site: it builds strictly, every page is reached, and what it says of Python is there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import yaml

from codegen.process import check_program
from tests.support.shared import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    check_program(command, cwd=ROOT, env=env, timeout_s=300)
    return folder


def pages_of(entries: object) -> list[str]:
    """The pages of a part of the navigation."""
    if isinstance(entries, str):
        return [entries]
    parts = entries.values() if isinstance(entries, dict) else entries
    return [page for part in parts for page in pages_of(part)]  # type: ignore[attr-defined]


def test_every_page_is_in_the_navigation_once() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = pages_of(yaml.safe_load(text.partition("\nnav:\n")[2]))
    there = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    assert sorted(named) == sorted({*there, "targets/README.md"})


def test_the_site_has_every_page_and_asks_nobody_for_fonts(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        made = site / page.relative_to(ROOT / "docs").with_suffix(".html")
        assert made.is_file(), page
        assert "fonts.googleapis" not in made.read_text(encoding="utf-8")


def test_links_out_of_the_pages_lead_to_the_files(site: Path) -> None:
    assert (site / "targets" / "index.html").is_file()
    assert "examples/firmware/zephyr/index.html" in (site / "packages" / "zephyr.html").read_text(encoding="utf-8")


def test_python_is_described_by_its_own_words(site: Path) -> None:
    text = (site / "api.html").read_text(encoding="utf-8")
    for name in ("compile_model", "evaluate", "fits_each", "quantize"):
        assert f"codegen.api.functions.{name}" in text, name
    assert "codegen.options.Options" in text
