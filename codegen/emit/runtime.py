"""Which runtime headers a text needs: those that define a function it calls, and those they include."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from codegen.resources import resource_dir

_DEFINED = re.compile(r"^(?:static inline|LAM_INLINE|LAM_BLOCK) [^;{=]*?\b(lam_\w+)\(", re.MULTILINE)
_INCLUDED = re.compile(r'^#include "(lam_\w+\.h)"', re.MULTILINE)


@cache
def _headers() -> dict[str, str]:
    """Every header by name: the common ones, and those of an instruction set (isa/)."""
    root = resource_dir("runtime_c")
    paths = [*root.glob("include/lam_*.h"), *root.glob("isa/*/lam_*.h")]
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(paths, key=lambda p: p.name)}


def needed_headers(texts: Iterable[str]) -> tuple[str, ...]:
    """Headers to include for these C texts, by name, sorted; lam_base.h is not listed (everything includes it)."""
    words = {word for text in texts for word in re.findall(r"\blam_\w+", text)}
    return tuple(name for name, text in _headers().items() if words & set(_DEFINED.findall(text)))


def header_closure(texts: Iterable[str]) -> dict[str, str]:
    """File name to text of every runtime header that these C texts include, directly or not."""
    todo = [name for text in texts for name in _INCLUDED.findall(text)]
    found: dict[str, str] = {}
    while todo:
        name = todo.pop()
        if name not in found and name in _headers():
            found[name] = _headers()[name]
            todo += _INCLUDED.findall(found[name])
    return dict(sorted(found.items()))
