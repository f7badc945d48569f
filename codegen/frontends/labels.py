"""Lists of labels in the metadata of a model's file, written by whoever made the file.

Decides: how large a list may be, and how it may be written.  What is damaged, too large or no list of texts becomes an
empty one, never an error: the network is what it is without labels.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence

from codegen.ir.labels import Labels

MAX_LABEL_BYTES = 2**20
MAX_LABELS = 2**16
_LEAST_LABELS = 2
LABEL_KEYS = ("names", "labels", "classes")
"""Entries of an ONNX model's metadata in which exporters write labels."""

_ESCAPE = r"""\\(?:[\\'"abfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4})"""
_TEXT = rf"""(?:'(?:[^'\\\x00-\x1f]|{_ESCAPE})*+'|"(?:[^"\\\x00-\x1f]|{_ESCAPE})*+")"""
_FLAT = re.compile(
    rf"\{{(?:\s*+[0-9]{{1,6}}\s*+:\s*+{_TEXT}\s*+(?:,|(?=\}})))*+\s*+\}}"
    rf"|\[(?:\s*+{_TEXT}\s*+(?:,|(?=\])))*+\s*+\]"
)
"""Python's spelling of texts by number, and of a list of texts: nothing that nests, so that parsing takes no depth."""


def lines_of(data: bytes) -> Labels:
    """The lines of a text in UTF-8."""
    try:
        return _checked(data.decode("utf-8-sig").rstrip().split("\n")) if len(data) <= MAX_LABEL_BYTES else ()
    except UnicodeDecodeError:
        return ()


def listed(value: str) -> Labels:
    """What an entry of metadata lists: JSON, Python's literals, or texts between commas or ends of lines."""
    text = value.strip() if len(value) <= MAX_LABEL_BYTES else ""
    if text.startswith(("[", "{")):
        return _of_json(text) or _of_literal(text)
    return _checked(text.split("\n" if "\n" in text else ","))


def _of_json(text: str) -> Labels:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    return _checked(found) if isinstance(found, list) and all(isinstance(item, str) for item in found) else ()


def _of_literal(text: str) -> Labels:
    """Texts in a list, or by numbers that count from 0."""
    try:
        found = ast.literal_eval(text) if _FLAT.fullmatch(text) else []
    except (SyntaxError, ValueError, MemoryError):
        return ()
    if isinstance(found, list):
        return _checked(found)
    return _checked([found[i] for i in range(len(found))]) if set(found) == set(range(len(found))) else ()


def _checked(texts: Sequence[str]) -> Labels:
    labels = tuple(text.strip() for text in texts) if _LEAST_LABELS <= len(texts) <= MAX_LABELS else ()
    return labels if all(labels) else ()
