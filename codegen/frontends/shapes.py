"""Shapes of a model's inputs where the model leaves them open.

Decides: that an open first dimension is a batch of one, that a shape given by the user settles the others, and that a
dimension of one name has one size in all inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.errors import ShapeContradiction, ShapeDynamic, ShapeOfNothing

Declared = Sequence[int | str]
"""An input's dimensions as the model has them: a size, or a name (which may be empty) where it is open."""
Given = Mapping[str, tuple[int, ...]]


class Shapes:
    """The inputs' shapes, as far as they can be settled; what was decided for the user is in `notes`."""

    def __init__(self, declared: Mapping[str, Declared | None], given: Given) -> None:
        """Settle what `given` says; a declared None is an input of which the model says nothing.

        Raises:
            ShapeOfNothing: LAM-IMPORT-052, a shape of an input that is not there.
            ShapeContradiction: LAM-IMPORT-051.
        """
        self.notes: list[str] = []
        self._declared = declared
        self._given = given
        self._sizes: dict[str, int] = {}
        for name, shape in given.items():
            if name not in declared:
                known = ", ".join(f"'{n}'" for n in list(declared)[:8]) or "none"
                raise ShapeOfNothing(f"the model has no such input; it has {known}", where=f"input '{name}'")
            self._bind(name, declared[name], shape)

    def of(self, name: str) -> tuple[int, ...]:
        """The shape of one input; LAM-IMPORT-009 where a dimension stays open."""
        declared = self._declared[name]
        if name in self._given:
            return self._given[name]
        if declared is None:
            raise ShapeDynamic("the shape is not given", where=f"input '{name}'", hint=_way_out(name, ["..."]))
        sizes = [self._size(name, declared, axis) for axis in range(len(declared))]
        still = [f"dimension {i} is '{declared[i] or '?'}'" for i, n in enumerate(sizes) if n is None]
        if still:
            wanted = ["?" if n is None else str(n) for n in sizes]
            raise ShapeDynamic(", ".join(still[:8]), where=f"input '{name}'", hint=_way_out(name, wanted))
        return tuple(n for n in sizes if n is not None)

    def known(self, name: str) -> tuple[int, ...] | None:
        """As `of`, without a refusal and without a note; None for what is no input too."""
        before = len(self.notes)
        try:
            return self.of(name) if name in self._declared else None
        except ShapeDynamic:
            return None
        finally:
            del self.notes[before:]

    def _size(self, name: str, declared: Declared, axis: int) -> int | None:
        size = declared[axis]
        if isinstance(size, int):
            return size
        if size in self._sizes:
            return self._sizes[size]
        if axis or len(declared) < 2:
            return None
        self.notes.append(f"input '{name}': its open first dimension '{size or '?'}' is a batch of 1")
        return 1

    def _bind(self, name: str, declared: Declared | None, shape: tuple[int, ...]) -> None:
        """Remember the sizes of named dimensions, all of which agree."""
        if declared is None:
            return
        where = f"input '{name}'"
        spoken = [str(n) if isinstance(n, int) else f"'{n or '?'}'" for n in declared]
        if len(declared) != len(shape):
            found = f"{len(shape)} dimensions given, the model has {len(declared)}: [{', '.join(spoken)}]"
            raise ShapeContradiction(found, where=where)
        for axis, (own, size) in enumerate(zip(declared, shape, strict=True)):
            fixed = own if isinstance(own, int) else self._sizes.get(own, size)
            if fixed != size:
                found = f"dimension {axis} given as {size}, the model has {spoken[axis]}"
                raise ShapeContradiction(found if own == fixed else f"{found}, which is {fixed}", where=where)
            if isinstance(own, str) and own:
                self._sizes[own] = size


def _way_out(name: str, sizes: Sequence[str]) -> str:
    return f"give the shape: --shape {name}={','.join(sizes)} with numbers, or shapes={{'{name}': (...)}} in Python"
