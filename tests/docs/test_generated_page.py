"""docs/generated_c.md shows the C that is generated."""

from __future__ import annotations

from codegen.verbs.generated_page import PAGE, generated_page
from tests.support.shared import ROOT


def test_the_page_is_what_is_generated() -> None:
    assert (ROOT / "docs" / PAGE).read_text(encoding="utf-8") == generated_page(), "run `make docs`"
