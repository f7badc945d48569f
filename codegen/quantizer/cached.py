"""Numbers in parts that stay at hand while they are gone over several times."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ir.quant import Array

CACHED = 1 << 16
"""Numbers of a part."""


def in_parts(flat: Array) -> Iterator[Array]:
    """All numbers, in order."""
    return (flat[at : at + CACHED] for at in range(0, flat.size, CACHED))
