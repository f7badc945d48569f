"""Layout of parameters: fields by falling alignment, layers one after another, equal layers stored once.

What is read in vectors comes first: a struct begins where its alignment says, and the first member with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.form import Field
from codegen.ir.weights import Params

PARAMS_ALIGN = 16


def field_offsets(fields: Sequence[Field]) -> tuple[tuple[Field, ...], dict[str, int], int]:
    """Fields in memory order, the offset of each, and the total size in bytes."""
    ordered = tuple(sorted(fields, key=lambda f: (-f.alignment, -f.values.dtype.itemsize)))
    offsets: dict[str, int] = {}
    position = 0
    for field in ordered:
        assert position % field.values.dtype.itemsize == 0, f"what lies before {field.name} fills whole ones of it"
        offsets[field.name] = position
        position += field.values.nbytes
    return ordered, offsets, position


class ParamsPool:
    """Places each layer's parameters in the weight section; returns the earlier place for equal contents."""

    def __init__(self) -> None:
        """Start with an empty section."""
        self.placed: list[Params] = []
        self.bytes = 0
        self._known: dict[tuple[tuple[str, str, bytes], ...], Params] = {}

    def place(self, name: str, fields: Sequence[Field]) -> Params | None:
        """The layer's Params, or None when it has no fields."""
        if not fields:
            return None
        ordered, offsets, size = field_offsets(fields)
        key = tuple((f.name, f.values.dtype.str, f.values.tobytes()) for f in ordered)
        if key not in self._known:
            align = max(PARAMS_ALIGN, *(field.alignment for field in ordered))
            start = -(-self.bytes // align) * align
            self._known[key] = Params(name, start, size, ordered, offsets)
            self.placed.append(self._known[key])
            self.bytes = start + size
        return self._known[key]
