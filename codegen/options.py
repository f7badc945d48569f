"""What a compilation may be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index

from codegen.errors import ShapeBad
from codegen.old_names import OLD_MODES, current

ShapePairs = tuple[tuple[str, tuple[int, ...]], ...]
ShapesGiven = Mapping[str, Sequence[int]] | None
"""Shapes for inputs of which the model leaves dimensions open, by the inputs' names."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a compilation may be told.

    `requant` None means the arithmetic of the model's own format, or else the target's default; `optimize` None what
    the target says; `name` None the file's name.
    """

    target: str = "host"
    requant: str | None = None
    weights: str = "c"
    io_layout: str = "nhwc"
    io_type: str = "quantized"
    name: str | None = None
    vectors: int = 2
    optimize: str | None = None
    arena_limit: int | None = None
    stream_input: bool = False
    shapes: ShapePairs = ()

    def __post_init__(self) -> None:
        """Take names of the past for those of today."""
        object.__setattr__(self, "requant", current(self.requant, OLD_MODES, "requant"))


def shape_pairs(shapes: ShapesGiven) -> ShapePairs:
    """The shapes as options hold them; LAM-IMPORT-050 for what is no shape."""
    if shapes is None:
        return ()
    if not isinstance(shapes, Mapping):
        raise ShapeBad(f"{shapes!r} is no mapping of names to shapes", where="shapes")
    return tuple((str(name), _sizes(str(name), shape)) for name, shape in shapes.items())


def _sizes(name: str, shape: Sequence[int]) -> tuple[int, ...]:
    try:
        sizes = tuple(index(n) for n in shape)
    except TypeError as error:
        raise ShapeBad(f"the shape is {shape!r}", where=f"input '{name}'") from error
    if min(sizes, default=0) < 1 or isinstance(shape, bytes):
        raise ShapeBad(f"the shape is {list(sizes)}", where=f"input '{name}'")
    return sizes
