"""Data movement as nested loops with literal sizes and strides: the part that all movement kernels share.

A Move copies a box of elements: loops over axes, each with a step in the source (or a table of positions) and one in
the output, around one contiguous run where there is one.  A Fill writes one value to such a box.  What the boxes are
is decided in movement.py and join.py; here axes of size one vanish and neighbours that lie together become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codegen.ir.shape import Shape
from codegen.records import record


@record
class Loop:
    """One axis: `size` is a number or the C expression `n`; `table` names the params field with source positions."""

    size: int | str
    dst: int
    src: int = 0
    table: str = ""


@record
class Place:
    """Where along one axis a box goes: `start` is a C expression, held in 0 .. `last`, and `step` that of the axis."""

    start: str
    last: int
    step: int


@record
class Move:
    """One box.  `x` is the C expression of the source pointer; `run` elements lie together in the innermost place.

    `lut` names the params field through which elements go, and `x_t` is the source's type.  `when` is the C condition
    under which the box is copied; empty means always.  `places` are added to `dst` when the network runs,
    and a box that `overlaps` may lie where it goes, or partly.
    """

    x: str
    x_t: str
    src: int
    dst: int
    loops: tuple[Loop, ...]
    run: int = 1
    lut: str = ""
    when: str = ""
    places: tuple[Place, ...] = ()
    overlaps: bool = False


@record
class Fill:
    """One box of the padding value."""

    dst: int
    loops: tuple[Loop, ...]
    run: int = 1


@record
class MoveContext:
    """All boxes of one kernel.  Where `phases` > 1 the source starts `phase` * (n % phases) elements later."""

    element_bytes: int
    moves: tuple[Move, ...]
    fills: tuple[Fill, ...] = ()
    phases: int = 1
    phase: int = 0

    def bytes_of(self, run: int) -> int:
        """What so many elements take."""
        return run * self.element_bytes


def strides(shape: Shape) -> tuple[int, ...]:
    """Elements between neighbours of each axis, row-major."""
    found = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        found[axis] = found[axis + 1] * shape[axis + 1]
    return tuple(found)


def box_loops(sizes: Sequence[int], dst: Sequence[int], src: Sequence[int]) -> tuple[Loop, ...]:
    """One loop per axis."""
    return tuple(Loop(n, d, s) for n, d, s in zip(sizes, dst, src, strict=True))


def nest(loops: Sequence[Loop]) -> tuple[tuple[Loop, ...], int]:
    """The fewest loops for the same box, and the run inside them."""
    merged: list[Loop] = []
    for loop in loops:
        if loop.size == 1 and not loop.table:
            continue
        if merged and _joins(merged[-1], loop):
            outer = merged.pop()
            assert isinstance(outer.size, int)
            assert isinstance(loop.size, int)
            loop = Loop(outer.size * loop.size, loop.dst, loop.src)
        merged.append(loop)
    last = merged[-1] if merged else None
    if last is not None and isinstance(last.size, int) and not last.table and last.dst == last.src == 1:
        return tuple(merged[:-1]), last.size
    return tuple(merged), 1


def _joins(outer: Loop, inner: Loop) -> bool:
    if outer.table or inner.table or isinstance(outer.size, str) or isinstance(inner.size, str):
        return False
    return outer.dst == inner.dst * inner.size and outer.src == inner.src * inner.size


def move(x: str, x_t: str, loops: Sequence[Loop], *, src: int = 0, dst: int = 0, **more: Any) -> Move:
    """A box copied, in as few loops as it takes; `more` are `lut`, `when`, `places` and `overlaps` of the Move."""
    fewest, run = nest(loops)
    return Move(x, x_t, src, dst, fewest, run, **more)


def fill(loops: Sequence[Loop], *, dst: int = 0) -> Fill:
    """A box of padding, in as few loops as it takes; no source, so that steps in it follow the output."""
    fewest, run = nest([Loop(loop.size, loop.dst, loop.dst) for loop in loops])
    return Fill(dst, fewest, run)
