"""Links between pages: what is named is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.shared import ROOT

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"), *ROOT.glob("targets/*.md")]
LINK = re.compile(r"\]\((?!https?://|#)([^)\s#]+)(#[^)\s]*)?\)")


def places(page: Path, text: str) -> list[Path]:
    return [page.parent / found[1] for found in LINK.finditer(re.sub(r"```.*?```", "", text, flags=re.DOTALL))]


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    assert [str(place) for place in places(page, page.read_text(encoding="utf-8")) if not place.exists()] == []


def test_links_are_found() -> None:
    text = "[a](b.md) [c](https://d.e) [f](g/h.md#i)\n```\n[j](k.md)\n```\n[l](#m)"
    assert places(ROOT / "x.md", text) == [ROOT / "b.md", ROOT / "g" / "h.md"]
    assert len(PAGES) > 30
