"""Which runtime headers a text of C calls functions or has words of, found in the text; kernels declare theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from codegen.resources import resource_dir

_DEFINED = re.compile(
    r"^(?:static inline [^;{=]*?|LAM_(?:INLINE|BLOCK|PANEL) [^;{=]*?|#define )\b(lam_\w+)\(", re.MULTILINE
)
_WORD = re.compile(r"^(?:#define (?=LAM_\w+(?:\(\) __asm__| _Pragma))|typedef int\w+_t )(\w+)", re.MULTILINE)
"""What tells compilers something, before a loop or of memory, and a type."""

_PARTS = ("lam_lanes_neon.h",)
"""Headers that only another one includes, whose functions it gives on one processor."""


@cache
def functions_of_headers() -> dict[str, frozenset[str]]:
    """The functions that each header defines, by its name: the common ones, and those of an instruction set (isa/)."""
    root = resource_dir("runtime_c")
    paths = [p for p in (*root.glob("include/lam_*.h"), *root.glob("isa/*/lam_*.h")) if p.name not in _PARTS]
    texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
    return {name: frozenset((*_DEFINED.findall(text), *_WORD.findall(text))) for name, text in texts.items()}


def needed_headers(texts: Iterable[str]) -> tuple[str, ...]:
    """Headers to include for these C texts, by name, sorted; lam_base.h defines none."""
    words = {word for text in texts for word in re.findall(r"\b(?:lam|LAM)_\w+", text)}
    return tuple(sorted(name for name, functions in functions_of_headers().items() if words & functions))
