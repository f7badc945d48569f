"""Which runtime headers a project gets: those that its C includes, and those that they include.

Which of them a kernel's C includes is declared beside the kernel (kernels/kernel.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from codegen.resources import resource_dir

_INCLUDED = re.compile(r'^#include "(lam_\w+\.h)"', re.MULTILINE)


@cache
def _headers() -> dict[str, str]:
    """Every header by name: the common ones, and those of an instruction set (isa/)."""
    root = resource_dir("runtime_c")
    paths = [*root.glob("include/lam_*.h"), *root.glob("isa/*/lam_*.h")]
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(paths, key=lambda p: p.name)}


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
