"""Operators that only move elements: they do not know what numbers are, and so move integers that hold them as well.

Decides: nothing about values.  Sources: onnx/docs/Operators.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.element import element_name
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ir.shape import Shape
from codegen.real.broadcast import broadcast
from codegen.real.images import Apart, of_first
from codegen.records import record

BlockMode = Literal["DCR", "CRD"]
PadMode = Literal["constant", "edge", "reflect", "symmetric", "wrap"]


@record
class Reshape:
    """The same elements in another shape."""

    shape: Shape

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The stated shape, of as many elements."""
        if math.prod(self.shape) != math.prod(ins[0].shape):
            raise ShapeMismatch(f"a tensor {list(ins[0].shape)} reshaped to {list(self.shape)}")
        return (ins[0].shaped(self.shape),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> Reshape | None:
        """Where the batch stays the first axis."""
        return Reshape((1, *self.shape[1:])) if self.shape[:1] == ins[0].shape[:1] else None

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """In row order."""
        return (ins[0].reshape(self.shape),)


@record
class Transpose:
    """Axes in another order: axis i of the output is axis perm[i] of the input."""

    perm: tuple[int, ...]

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The sizes in that order."""
        if sorted(self.perm) != list(range(len(ins[0].shape))):
            raise ShapeMismatch(f"axes {list(self.perm)} of a tensor {list(ins[0].shape)}")
        return (ins[0].shaped([ins[0].shape[i] for i in self.perm]),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> Transpose | None:
        """Where the batch stays the first axis."""
        return self if self.perm[0] == 0 else None

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """A view."""
        return (ins[0].transpose(self.perm),)


@record
class Concat:
    """Tensors behind each other along one axis, which is not negative."""

    axis: int

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The sizes along the axis added."""
        first, axis = ins[0].shape, self.axis
        if axis >= len(first) or any(
            len(t.shape) != len(first) or _without(t.shape, axis) != _without(first, axis) for t in ins
        ):
            raise ShapeMismatch(f"tensors {[list(t.shape) for t in ins]} joined along axis {axis}")
        total = sum(t.shape[axis] for t in ins)
        return (ins[0].shaped((*first[:axis], total, *first[axis + 1 :])),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> Concat | None:
        """Along another axis, of tensors that all have the batch."""
        return self if self.axis and all(apart) else None

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """In order."""
        return (np.concatenate(ins, self.axis),)


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], -1, *shape[axis + 1 :])


@record
class Slice:
    """`counts[i]` elements of axis i, from `starts[i]` on, `steps[i]` apart; a step may be negative."""

    starts: tuple[int, ...]
    counts: tuple[int, ...]
    steps: tuple[int, ...]

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The counts."""
        shape = ins[0].shape
        if len(shape) != len(self.starts) or not all(map(_within, self.starts, self.counts, self.steps, shape)):
            raise ShapeMismatch(f"a slice {self.starts}, {self.counts}, {self.steps} of a tensor {list(shape)}")
        return (ins[0].shaped(self.counts),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> Slice | None:
        """Of every image the same part."""
        whole = (self.starts[0], self.counts[0], self.steps[0]) == (0, ins[0].shape[0], 1)
        return replace(self, counts=(1, *self.counts[1:])) if whole else None

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """A copy."""
        places = [s + np.arange(n) * d for s, n, d in zip(self.starts, self.counts, self.steps, strict=True)]
        return (ins[0][np.ix_(*places)] if places else ins[0],)


def _within(start: int, count: int, step: int, size: int) -> bool:
    return count == 0 or (0 <= start < size and 0 <= start + (count - 1) * step < size)


@record
class Pad:
    """Elements added before and behind each axis; negative counts take some away first."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    mode: PadMode = "constant"
    value: float = 0.0

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The sizes with the padding."""
        shape = ins[0].shape
        if not len(shape) == len(self.before) == len(self.after):
            raise ShapeMismatch(f"padding of {len(self.before)} axes for a tensor {list(shape)}")
        sizes = [n + b + a for n, b, a in zip(shape, self.before, self.after, strict=True)]
        if min(sizes, default=1) < 1:
            raise ShapeMismatch(f"a tensor {list(shape)} padded to {sizes}")
        return (ins[0].shaped(sizes),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> Pad | None:
        """Of every image."""
        return None if self.before[0] or self.after[0] else self

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Cut first, padded then."""
        (x,) = ins
        pairs = list(zip(self.before, self.after, strict=True))
        x = x[tuple(slice(max(-b, 0), n - max(-a, 0)) for n, (b, a) in zip(x.shape, pairs, strict=True))]
        widths = [(max(b, 0), max(a, 0)) for b, a in pairs]
        if self.mode == "constant":
            return (np.pad(x, widths, constant_values=x.dtype.type(self.value)) if widths else x,)
        return (np.pad(x, widths, mode=self.mode),)


@record
class Expand:
    """The tensor stretched to what its shape and `shape` broadcast to."""

    shape: Shape

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The common shape."""
        return (ins[0].shaped(broadcast(ins[0].shape, self.shape)),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> Expand | None:
        """Where the batch stays the first axis."""
        rank = len(ins[0].shape)
        grown = (1, *self.shape[1:]) if len(self.shape) == rank else self.shape
        return Expand(grown) if len(self.shape) <= rank else None

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Repeated."""
        return (np.broadcast_to(ins[0], broadcast(ins[0].shape, self.shape)),)


@record
class Tile:
    """The tensor repeated along each axis."""

    counts: tuple[int, ...]

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Sizes times counts."""
        if len(self.counts) != len(ins[0].shape) or min(self.counts, default=1) < 0:
            raise ShapeMismatch(f"counts {list(self.counts)} for a tensor {list(ins[0].shape)}")
        return (ins[0].shaped([n * c for n, c in zip(ins[0].shape, self.counts, strict=True)]),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> Tile | None:
        """Every image by itself."""
        return self if self.counts[0] == 1 else None

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Repeated."""
        return (np.tile(ins[0], self.counts),)


@record
class Gather:
    """Slices of the first input along one axis at the second's positions.

    Of a position outside the remainder by the axis' length is taken, so that negative ones count from the end; where
    `nearest`, it is the nearest one inside.
    """

    axis: int
    nearest: bool = False

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The positions' shape in place of the axis."""
        x, at = ins[0].shape, ins[1].shape
        if not 0 <= self.axis < len(x):
            raise ShapeMismatch(f"axis {self.axis} of a tensor {list(x)}")
        check_places(ins[1], x[self.axis : self.axis + 1])
        return (ins[0].shaped((*x[: self.axis], *at, *x[self.axis + 1 :])),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> Gather | None:
        """The same positions of every image, or every image's own of a tensor that all read."""
        return self if list(apart) == [self.axis > 0, self.axis == 0] else None

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Moved."""
        return (np.take(ins[0], ins[1], self.axis, mode="clip" if self.nearest else "wrap"),)


def check_places(at: RealType, sizes: Shape, what: str = "positions") -> None:
    """LAM-IMPORT-014 where positions are no whole numbers, or in an axis without elements."""
    if at.dtype.kind not in "iu":
        raise ShapeMismatch(f"{what} of type {element_name(at.dtype)}")
    if 0 in sizes and 0 not in at.shape:
        raise ShapeMismatch(f"{what} in an axis of 0")


@record
class Pick:
    """Of each axis the elements at known places, all of it where that is None."""

    places: tuple[tuple[int, ...] | None, ...]

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As many as there are places."""
        shape = ins[0].shape
        pairs = list(zip(shape, self.places, strict=False))
        if len(shape) != len(self.places) or any(p and not 0 <= min(p) <= max(p) < n for n, p in pairs):
            raise ShapeMismatch(f"places of {len(self.places)} axes of a tensor {list(shape)}")
        return (ins[0].shaped([n if p is None else len(p) for n, p in pairs]),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> Pick | None:
        """Of every image."""
        return self if self.places[0] is None else None

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Axis by axis."""
        y = ins[0]
        for axis, places in enumerate(self.places):
            y = y if places is None else np.take(y, places, axis)
        return (y,)


@record
class DepthToSpace:
    """Channels moved into blocks of pixels; `mode` says whether the block's place or the channel varies slower."""

    block: int
    mode: BlockMode = "DCR"
    channel_axis: int = 1

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Fewer channels, more pixels."""
        n, c, h, w = _as_nchw(ins[0].shape, self.channel_axis)
        if c % self.block**2:
            raise ShapeMismatch(f"{c} channels in blocks of {self.block}")
        sizes = (n, c // self.block**2, h * self.block, w * self.block)
        return (ins[0].shaped(_from_nchw(sizes, self.channel_axis)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Moved by views."""
        x, b = np.moveaxis(ins[0], self.channel_axis, 1), self.block
        n, c, h, w = x.shape
        if self.mode == "DCR":
            y = x.reshape(n, b, b, c // b**2, h, w).transpose(0, 3, 4, 1, 5, 2)
        else:
            y = x.reshape(n, c // b**2, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
        return (np.moveaxis(y.reshape(n, c // b**2, h * b, w * b), 1, self.channel_axis),)

    one_image = of_first


@record
class SpaceToDepth:
    """Blocks of pixels moved into channels; `mode` says whether the block's place or the channel varies slower."""

    block: int
    mode: BlockMode = "DCR"
    channel_axis: int = 1

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """More channels, fewer pixels."""
        n, c, h, w = _as_nchw(ins[0].shape, self.channel_axis)
        if h % self.block or w % self.block:
            raise ShapeMismatch(f"a map of {h} x {w} in blocks of {self.block}")
        sizes = (n, c * self.block**2, h // self.block, w // self.block)
        return (ins[0].shaped(_from_nchw(sizes, self.channel_axis)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Moved by views."""
        x, b = np.moveaxis(ins[0], self.channel_axis, 1), self.block
        n, c, h, w = x.shape
        y = x.reshape(n, c, h // b, b, w // b, b).transpose(
            (0, 3, 5, 1, 2, 4) if self.mode == "DCR" else (0, 1, 3, 5, 2, 4)
        )
        return (np.moveaxis(y.reshape(n, c * b**2, h // b, w // b), 1, self.channel_axis),)

    one_image = of_first


def _as_nchw(shape: Shape, channel_axis: int) -> Shape:
    if len(shape) != 4:
        raise ShapeMismatch(f"a map of shape {list(shape)}, of four axes only")
    return shape if channel_axis == 1 else (shape[0], shape[3], shape[1], shape[2])


def _from_nchw(shape: Shape, channel_axis: int) -> Shape:
    return shape if channel_axis == 1 else (shape[0], shape[2], shape[3], shape[1])


MOVING = (DepthToSpace, Expand, Gather, Reshape, Slice, SpaceToDepth, Tile, Transpose)
"""Operators whose results are elements of their first input."""
