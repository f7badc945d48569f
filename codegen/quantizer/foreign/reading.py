"""Files of other tools: JSON documents and lines of text, within limits.

Decides: how much is read, and that JSON has only the numbers that JSON has.  What a document means is said in the file
of its format.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from codegen.datafiles import read_file
from codegen.errors import QuantConfigUnreadable

MAX_FOREIGN_BYTES = 16 << 20
"""A table with a scale per channel of a large network has a few hundred KB."""


def read_text(path: Path) -> str:
    """The text of a file; LAM-QUANT-001 when it is missing or no text, the ids of `codegen.datafiles.read_file`."""
    data = read_file(path, MAX_FOREIGN_BYTES, lambda found: QuantConfigUnreadable(found, where=str(path)))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QuantConfigUnreadable("is not text in UTF-8", where=str(path)) from error


def parse_json(text: str, file: str) -> Mapping[str, object]:
    """The object of a JSON document; LAM-QUANT-001 for other text, and for keys that stand twice."""
    try:
        found = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_each_once)
    except RecursionError as error:
        raise QuantConfigUnreadable("nests too deep", where=file) from error
    except ValueError as error:  # JSONDecodeError is one, and so is what Python says of an endless integer
        raise QuantConfigUnreadable(f"is not JSON: {error}", where=file) from error
    if not isinstance(found, dict):
        raise QuantConfigUnreadable("holds no JSON object", where=file)
    return found


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is no number of JSON")


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key in found if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"the key {twice!r} stands twice")
    return found
