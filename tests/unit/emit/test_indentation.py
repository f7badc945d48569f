"""The text of generated C: what is in a block stands further in than the line that opens it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from codegen.pipeline import Options, compile_file
from tests.e2e.projects import DIGITS


def misplaced(text: str) -> Iterator[str]:
    """Lines that begin a block and stand no deeper than the line before them, which opens it."""
    opened = None
    for line in filter(str.strip, text.splitlines()):
        said, depth = line.strip(), len(line) - len(line.lstrip())
        if said.startswith("#"):
            continue
        if opened is not None and depth <= opened and not said.startswith(("}", "case ")):
            yield line
        opened = depth if said.endswith("{") else None


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55", "cortex-m0plus", "host"])
def test_a_block_is_indented(target: str) -> None:
    files = compile_file(DIGITS, Options(target=target, vectors=0)).files
    texts = {path: data.decode() for path, data in files.items() if path.startswith("src/") and path.endswith(".c")}
    assert {path: found for path, text in texts.items() if (found := list(misplaced(text)))} == {}


def test_one_that_is_not_is_seen() -> None:
    assert list(misplaced("if (a) {\nfor (;;) {\n        b();\n    }\n}\n")) == ["for (;;) {"]
