"""Elements taken from, and put to, positions that are numbers of a tensor.

Of a position outside its axis the remainder by the axis' length is taken, so that negative ones count from the end;
where `nearest`, it is the nearest one inside.  Source: onnx/docs/Operators.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ir.shape import Shape
from codegen.real.movement import check_places
from codegen.records import record

Reduction = Literal["none", "add", "mul", "max", "min"]
_ADDERS: Mapping[str, Callable[[Array, Any, Array], None]] = {
    "add": np.add.at,
    "max": np.maximum.at,
    "min": np.minimum.at,
    "mul": np.multiply.at,
}


@record
class GatherElements:
    """y[i, j] = x[at[i, j], j] where `axis` is 0, and so on: x, positions."""

    axis: int

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The positions' shape."""
        _check_elements(ins[0].shape, ins[1], self.axis)
        return (ins[0].shaped(ins[1].shape),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Moved."""
        return (ins[0][_places(ins[0].shape, ins[1], self.axis)],)


@record
class ScatterElements:
    """x with y[at[i, j], j] = u[i, j] where `axis` is 0, and so on: x, positions, u."""

    axis: int
    reduction: Reduction = "none"

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As x."""
        _check_elements(ins[0].shape, ins[1], self.axis)
        if ins[1].shape != ins[2].shape:
            raise ShapeMismatch(f"updates {list(ins[2].shape)} at positions {list(ins[1].shape)}")
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Updates in row order."""
        y = ins[0].copy()
        _put(y, _places(y.shape, ins[1], self.axis), ins[2], self.reduction)
        return (y,)


@record
class GatherND:
    """Slices of x at the positions in the last axis of the second input, behind `batch` common axes."""

    batch: int = 0
    nearest: bool = False

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The positions' axes but the last, then what one position leaves."""
        x, at = ins[0].shape, ins[1].shape
        if not at or self.batch >= min(len(x), len(at)) or x[: self.batch] != at[: self.batch]:
            raise ShapeMismatch(f"positions {list(at)} in a tensor {list(x)}, {self.batch} axes in common")
        if not 0 < at[-1] <= len(x) - self.batch:
            raise ShapeMismatch(f"positions of {at[-1]} numbers in a tensor {list(x)}")
        check_places(ins[1], x[self.batch :][: at[-1]])
        return (ins[0].shaped((*at[:-1], *x[self.batch + at[-1] :])),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Moved."""
        x, at = ins
        at = _inside(at, x.shape[self.batch :][: at.shape[-1]], self.nearest)
        common = np.ix_(*(np.arange(n) for n in at.shape[: self.batch]))
        shared = tuple(c.reshape(*c.shape, *(1,) * (at.ndim - 1 - self.batch)) for c in common)
        return (x[(*shared, *np.moveaxis(at, -1, 0))],)


@record
class ScatterND:
    """x with slices put at the positions in the last axis of the second input: x, positions, slices."""

    reduction: Reduction = "none"
    nearest: bool = False

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As x."""
        x, at, updates = (t.shape for t in ins)
        if not at or not 0 < at[-1] <= len(x) or updates != (*at[:-1], *x[at[-1] :]):
            raise ShapeMismatch(f"updates {list(updates)} at positions {list(at)} of a tensor {list(x)}")
        check_places(ins[1], x[: at[-1]])
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Updates in row order."""
        y = ins[0].copy()
        at = _inside(ins[1], y.shape[: ins[1].shape[-1]], self.nearest)
        _put(y, tuple(np.moveaxis(at, -1, 0)), ins[2], self.reduction)
        return (y,)


@record
class CacheWrite:
    """A cache with new entries along `axis`, from a position per entry of the batch on: cache, entries, positions."""

    axis: int
    circular: bool = False

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As the cache."""
        old, new, at = (t.shape for t in ins)
        fits = len(old) == len(new) and all(
            n == m or i == self.axis for i, (n, m) in enumerate(zip(old, new, strict=True))
        )
        if not 0 < self.axis < len(old) or not fits or new[self.axis] > old[self.axis] or at != old[:1]:
            raise ShapeMismatch(f"entries {list(new)} at positions {list(at)} of a cache {list(old)}")
        check_places(ins[2], old[self.axis : self.axis + 1])
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Written over; around the end, as no position is outside."""
        y = ins[0].copy()
        for i, start in enumerate(ins[2]):
            at = (start + np.arange(ins[1].shape[self.axis])) % y.shape[self.axis]
            y[i][(slice(None),) * (self.axis - 1) + (at,)] = ins[1][i]
        return (y,)


def _check_elements(x: Shape, places: RealType, axis: int) -> None:
    at = places.shape
    if (
        len(x) != len(at)
        or not 0 <= axis < len(x)
        or any(m > n for i, (n, m) in enumerate(zip(x, at, strict=True)) if i != axis)
    ):
        raise ShapeMismatch(f"positions {list(at)} along axis {axis} of a tensor {list(x)}")
    check_places(places, x[axis : axis + 1])


def _places(shape: Shape, at: Array, axis: int) -> tuple[Array, ...]:
    grid = list(np.ogrid[tuple(slice(n) for n in at.shape)])
    grid[axis] = at % shape[axis]
    return tuple(grid)


def _inside(at: Array, sizes: Shape, nearest: bool) -> Array:
    """Positions in axes of these sizes, the last axis one for each."""
    return np.clip(at, 0, np.array(sizes) - 1) if nearest else at % np.array(sizes)


def _put(y: Array, places: tuple[Array, ...], updates: Array, reduction: str) -> None:
    if reduction == "none":
        y[places] = updates
    else:
        _ADDERS[reduction](y, places, updates)
