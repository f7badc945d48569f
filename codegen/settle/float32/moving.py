"""Movement of plain numbers, whichever type they have; padding in every mode, and interpolation.

Decides: that repeated tensors are joined, and that padding by a number is a join with constants.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ops import Concat, Gather, Slice
from codegen.ops.float32 import FloatTaps
from codegen.real import movement as real
from codegen.real import resize as real_resize
from codegen.real import taps
from codegen.settle import movement as blocks
from codegen.settle.context import Context
from codegen.settle.float32 import movement
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State


def concat(ctx: Context, node: RealNode, op: real.Concat) -> Sequence[State]:
    """Behind each other."""
    w = Writer(ctx, node)
    return movement.concat(ctx, node, op) if w.is_real(0) else w.done(joined(w, w.inputs(), op.axis))


def joined(w: Writer, parts: Sequence[str], axis: int) -> str:
    """Tensors behind each other."""
    if len(parts) == 1:
        return parts[0]
    kind = w.type(parts[0])
    return w.apply(Concat(axis, (None,) * len(parts), kind.dtype, kind.quant), *parts)


def tile(ctx: Context, node: RealNode, op: real.Tile) -> Sequence[State]:
    """The tensor behind itself."""
    w = Writer(ctx, node)
    return w.done(tiled(w, w.input(0), op.counts))


def tiled(w: Writer, x: str, counts: Sequence[int]) -> str:
    """The tensor so often along each axis."""
    for axis, count in enumerate(counts):
        x = joined(w, [x] * count, axis)
    return x


def pick(ctx: Context, node: RealNode, op: real.Pick) -> Sequence[State]:
    """Known places of each axis."""
    w = Writer(ctx, node)
    return w.done(picked(w, w.input(0), op))


def picked(w: Writer, x: str, op: real.Pick) -> str:
    """Known places of each axis, as many as it has."""
    for axis, places in enumerate(op.places):
        x = x if places is None else w.apply(Gather(axis, places), x)
    return x


def space_to_depth(ctx: Context, node: RealNode, op: real.SpaceToDepth) -> Sequence[State]:
    """Channels from blocks of pixels, NCHW."""
    if op.mode == "DCR":
        return blocks.space_to_depth(ctx, node, op)
    w, b = Writer(ctx, node), op.block
    x = w.input(0)
    n, c, h, width = w.shape(x)
    order = (0, 1, 3, 5, 2, 4)
    x = w.transposed(w.reshaped(x, (n, c, h // b, b, width // b, b)), order)
    return w.done(w.reshaped(x, (n, c * b * b, h // b, width // b)))


def pad(ctx: Context, node: RealNode, op: real.Pad) -> Sequence[State]:
    """Axis by axis: elements again, or a number beside them; cut first where a count is negative."""
    w = Writer(ctx, node)
    if w.is_real(0):
        return movement.pad(ctx, node, op)
    x = w.input(0)
    for axis, (before, after) in enumerate(zip(op.before, op.after, strict=True)):
        if min(before, after) < 0:
            x = _cut(w, x, axis, max(-before, 0), max(-after, 0))
        pads = (max(before, 0), max(after, 0))
        if any(pads):
            x = _beside(w, x, axis, pads, op.value) if op.mode == "constant" else _again(w, x, axis, pads, op.mode)
    return w.done(x)


def _cut(w: Writer, x: str, axis: int, before: int, after: int) -> str:
    shape = w.shape(x)
    starts = tuple(before if i == axis else 0 for i in range(len(shape)))
    sizes = tuple(n - (before + after if i == axis else 0) for i, n in enumerate(shape))
    return w.apply(Slice(starts, sizes, (1,) * len(shape)), x)


def _beside(w: Writer, x: str, axis: int, pads: tuple[int, int], value: float) -> str:
    kind = w.type(x)
    sides = [
        w.const(np.full((*kind.shape[:axis], n, *kind.shape[axis + 1 :]), value, kind.dtype.numpy)) if n else ""
        for n in pads
    ]
    return joined(w, [v for v in (sides[0], x, sides[1]) if v], axis)


def _again(w: Writer, x: str, axis: int, pads: tuple[int, int], mode: str) -> str:
    at = np.pad(np.arange(w.shape(x)[axis]), pads, mode=mode)  # type: ignore[call-overload]
    return w.apply(Gather(axis, tuple(int(i) for i in at)), x)


def resize(ctx: Context, node: RealNode, op: real_resize.Resize) -> Sequence[State]:
    """Axis by axis; whole numbers are interpolated as real ones and cut off."""
    w = Writer(ctx, node)
    x = w.input(0)
    shape = w.shape(x)
    x = x if op.mode == "nearest" else w.cast(x, DType.F32)
    for axis, stretch in enumerate(op.stretches):
        if stretch is not None:
            x = _stretched(w, x, axis, stretch, op)
    if op.coordinates == "tf_crop_and_resize":
        for axis, stretch in enumerate(op.stretches):
            if stretch is not None:
                x = _cropped(w, x, axis, taps.places(stretch, shape[axis], op.coordinates), shape[axis], op.outside)
    return w.done(x)


def _stretched(w: Writer, x: str, axis: int, stretch: taps.Stretch, op: real_resize.Resize) -> str:
    length = w.shape(x)[axis]
    at = taps.places(stretch, length, op.coordinates)
    if op.mode == "nearest":
        return w.apply(Gather(axis, tuple(int(i) for i in taps.nearest(at, length, op.rounding))), x)
    squeeze = min(stretch.scale, 1.0) if op.smooth else 1.0
    if op.mode == "linear":
        elements, weights = taps.linear(at, length, squeeze, inside=op.inside)
    else:
        elements, weights = taps.cubic(at, length, squeeze, op.cubic_a, inside=op.inside)
    places = tuple(tuple(int(i) for i in row) for row in elements)
    return w.apply(FloatTaps(axis, places, tuple(tuple(float(v) for v in row) for row in weights)), x)


def _cropped(w: Writer, x: str, axis: int, at: np.ndarray, length: int, outside: float) -> str:
    """What lies outside the tensor is a number: runs of places inside and outside are joined."""
    inside = [bool(v) for v in (at >= 0) & (at <= length - 1)]
    parts, start = list[str](), 0
    shape = w.shape(x)
    for stop in range(1, len(inside) + 1):
        if stop < len(inside) and inside[stop] == inside[start]:
            continue
        sizes = (*shape[:axis], stop - start, *shape[axis + 1 :])
        if inside[start]:
            starts = tuple(start if i == axis else 0 for i in range(len(shape)))
            parts.append(w.apply(Slice(starts, sizes, (1,) * len(shape)), x))
        else:
            parts.append(w.const(np.full(sizes, outside, w.type(x).dtype.numpy)))
        start = stop
    return joined(w, parts, axis)


RULES: Family = (
    Rule(real.Concat, concat),
    Rule(real.Pad, pad),
    Rule(real.Pick, pick),
    Rule(real.SpaceToDepth, space_to_depth),
    Rule(real.Tile, tile),
    Rule(real_resize.Resize, resize),
)
