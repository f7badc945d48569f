"""Every example of the pages: what it prints is what the page says.

An example is a fenced block of Python with prompts; the blocks of a page are run in its order and share their names.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^( *)```python\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.REPORT_NDIFF
PAGES = ["numerics.md", "preprocess.md", "quantization.md", "scheduler.md", "state.md", "tflite.md"]
"""Pages of the specification, which must have examples; others may."""


def examples(page: Path) -> str:
    """The page with all lines blank that are no example, so that line numbers stay true."""
    text = page.read_text()
    kept = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        if ">>>" in block[2]:
            first = text.count("\n", 0, block.start(2))
            lines = block[2].splitlines()
            kept[first : first + len(lines)] = lines
    return "\n".join(kept)


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda p: p.name)
def test_examples_print_what_the_page_says(page: Path) -> None:
    test = doctest.DocTestParser().get_doctest(examples(page), {}, page.name, str(page), 0)
    found: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=found.append)
    assert not found, "".join(found)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_specification_has_examples(name: str) -> None:
    assert ">>>" in examples(DOCS / name)


def test_a_wrong_example_is_found() -> None:
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "page", "page", 0)
    found: list[str] = []
    assert doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=found.append).failed == 1
