"""The generated pages equal the code, and every id means one thing."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from pathlib import Path

import pytest

from codegen import errors
from codegen.ops import OPS
from codegen.report.pages import pages

ROOT = Path(__file__).resolve().parents[2]
ERRORS = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, errors.CompileError)]


@pytest.mark.parametrize("name", sorted(pages()))
def test_the_page_is_what_the_code_says(name: str) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert page == pages()[name], "run `make docs`"


def test_every_id_is_used_once() -> None:
    ids = Counter([c.code for c in ERRORS] + [limit.code for op in OPS for limit in op.limits])
    assert [code for code, count in ids.items() if count > 1] == []


def test_every_id_has_its_form() -> None:
    ids = [c.code for c in ERRORS] + [limit.code for op in OPS for limit in op.limits]
    assert [code for code in ids if not re.fullmatch(r"LAM-[A-Z]+-\d{3}|LAM-OPS-[A-Z]+-\d\d", code)] == []


def test_every_refusal_says_what_it_means_and_the_way_out() -> None:
    causes = [c for c in ERRORS if c is not errors.CompileError]
    assert [c.__name__ for c in causes if not c.__doc__ or not c.hint] == []


def test_every_page_that_a_message_names_exists() -> None:
    named = {page for c in ERRORS for page in re.findall(r"(?:docs|targets)/\w+\.md", c.hint)}
    assert [page for page in sorted(named) if not (ROOT / page).is_file()] == []
