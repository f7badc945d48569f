"""compote manifest lint: keys that the component manager documents, a version of three numbers, examples that exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

KEYS = {"version", "description", "license", "dependencies", "examples"}


def main(argv: list[str]) -> int:
    verb, how, manifest = argv
    assert (verb, how) == ("manifest", "lint")
    text = Path(manifest).read_text()
    assert set(re.findall(r"^(\w+):", text, re.MULTILINE)) <= KEYS
    assert re.search(r'^version: "\d+\.\d+\.\d+"$', text, re.MULTILINE)
    for path in re.findall(r"- path: (\S+)", text):
        assert (Path(manifest).parent / path / "CMakeLists.txt").is_file(), path
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
