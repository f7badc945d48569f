"""Names that nothing has yet."""

from __future__ import annotations

from collections.abc import Container


def free_name(name: str, taken: Container[str], mark: str = ":") -> str:
    """The name, or with a number behind `mark` the first variation that is not taken."""
    free, count = name, 0
    while free in taken:
        count += 1
        free = f"{name}{mark}{count}"
    return free
