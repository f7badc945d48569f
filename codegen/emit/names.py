"""C identifiers.  Everything a network exports starts with its name, so that two networks link into one image."""

from __future__ import annotations

import re

_C_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    main lam
"""
_RESERVED = frozenset(_C_WORDS.split())
_LONGEST = 31


def network_name(raw: str) -> str:
    """A C identifier for a network, from any text: lower case, letters, digits and single underscores."""
    name = re.sub(r"[^0-9a-z]+", "_", raw.lower()).strip("_")[:_LONGEST].strip("_")
    if not name or name[0].isdigit() or name in _RESERVED or name.startswith("lam_"):
        name = f"net_{name}".rstrip("_")
    return name


def comment(text: str) -> str:
    """Text that cannot end a C comment or leave its line."""
    printable = "".join(ch if ch.isprintable() and ch.isascii() else "?" for ch in text)
    return printable.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace("\\", "/")
