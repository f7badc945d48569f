"""Which runtime headers a project gets: those that its C includes, and those that they include.

Which of them a kernel's C includes is declared beside the kernel (kernels/kernel.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from codegen.resources import ROOTS, Roots

_INCLUDED = re.compile(r'^#include "(\w+\.h)"', re.MULTILINE)


@cache
def _headers(roots: Roots) -> dict[str, str]:
    """Every header by name: the common ones, and those of an instruction set (isa/)."""
    paths = [
        path for root in reversed(roots.runtime) for part in ("include/*.h", "isa/*/*.h") for path in root.glob(part)
    ]
    paths += [root.folder / name for root in roots.plugins for name in root.headers]
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def header_closure(texts: Iterable[str], roots: Roots = ROOTS) -> dict[str, str]:
    """File name to text of every runtime header that these C texts include, directly or not."""
    known = _headers(roots)
    todo = [name for text in texts for name in _included(text)]
    found: dict[str, str] = {}
    while todo:
        name = todo.pop()
        if name not in found and name in known:
            found[name] = known[name]
            todo += _included(found[name])
    return dict(sorted(found.items()))


def _included(text: str) -> list[str]:
    """What a file includes; megabytes of weights behind that are not looked at."""
    last = text.rfind("#include")
    return _INCLUDED.findall(text, 0, text.find("\n", last) if last >= 0 else 0)


def header_names(roots: Roots = ROOTS) -> frozenset[str]:
    """The headers that there are."""
    return frozenset(_headers(roots))
