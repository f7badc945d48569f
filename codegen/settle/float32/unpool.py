"""Maximum pools with places, the way back from them, and windows added up into an image.

Decides: that a place is looked up by the window and the number of its tap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.quant import Array, DType
from codegen.ir.real import RealNode
from codegen.ir.shape import Window
from codegen.ops import Pad, Scatter, Slice, WholeArithmetic
from codegen.ops.float32 import FloatReduce
from codegen.ops.float32.sums import reaches
from codegen.real import unpool as real
from codegen.settle.context import Context
from codegen.settle.float32 import unfold
from codegen.settle.float32.picking import taken
from codegen.settle.float32.reduction import place_of_best
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State


def max_pool_places(ctx: Context, node: RealNode, op: real.MaxPoolPlaces) -> Sequence[State]:
    """The maxima and where they are, the first of equal ones."""
    w = Writer(ctx, node)
    x = w.cast(w.input(0), DType.F32)
    n, channels, *spatial = w.shape(x)
    images, taps = n * channels, math.prod(v.size for v in op.windows)
    rows, out = unfold.unfolded(w, w.reshaped(x, (images, *spatial, 1)), op.windows, 1, -math.inf)
    tap = place_of_best(w, rows)
    spots = math.prod(out)
    starts = w.const((np.arange(spots, dtype=np.int32) * np.int32(taps))[None, :])
    at = w.apply(WholeArithmetic("+"), w.reshaped(tap, (images, spots)), starts)
    table = w.const(_places(op, spatial, out).reshape(-1, 1))
    places = w.reshaped(taken(w, table, at, 1), (images, spots))
    first = w.const((np.arange(images, dtype=np.int32) * np.int32(math.prod(spatial)))[:, None])
    places = w.apply(WholeArithmetic("+"), places, first)
    y = w.apply(FloatReduce("maximum", (2,)), rows)
    shape = (n, channels, *out)
    return w.done(w.reshaped(y, shape), w.reshaped(places, shape))


def _places(op: real.MaxPoolPlaces, spatial: Sequence[int], out: Sequence[int]) -> Array:
    """The element of the map that each tap of each window reads, 0 in the padding: [windows, taps], s32."""
    order = tuple(reversed(range(len(spatial)))) if op.columns else tuple(range(len(spatial)))
    inside = np.arange(math.prod(spatial)).reshape([spatial[i] for i in order]).transpose(np.argsort(order))
    sizes = [v.size for v in op.windows]
    made = np.zeros((*out, *sizes), np.int32)
    for tap, served, read in reaches(op.windows, out, spatial):
        made[(*served, *(t.start for t in tap))] = inside[read]
    return made.reshape(math.prod(out), math.prod(sizes))


def max_unpool(ctx: Context, node: RealNode, op: real.MaxUnpool) -> Sequence[State]:
    """Elements put to their places in a map of zeros."""
    w = Writer(ctx, node)
    x, at = w.input(0), w.cast(w.input(1), DType.S32)
    count = math.prod(w.shape(x))
    zeros = w.const(np.zeros((math.prod(op.counted), 1), w.type(x).dtype.numpy))
    y = w.apply(Scatter("none"), zeros, w.reshaped(at, (count,)), w.reshaped(x, (count, 1)))
    y = w.reshaped(y, op.counted)
    after = tuple(n - m for n, m in zip(op.shape, op.counted, strict=True))
    return w.done(w.apply(Pad((0,) * len(after), after, "constant", 0), y) if any(after) else y)


def columns_to_image(ctx: Context, node: RealNode, op: real.ColumnsToImage) -> Sequence[State]:
    """Every tap of every window added to its pixel; those in the padding to one more, which is left out."""
    w = Writer(ctx, node)
    x = w.input(0)
    if not w.is_real(0):
        raise FormUnsupported("columns of whole numbers", where=node.where)
    n, size, positions = w.shape(x)
    taps, pixels = math.prod(v.size for v in op.windows), math.prod(op.image)
    maps = n * size // taps
    x = w.reshaped(x, (n * size // taps, taps * positions))
    updates = w.transposed(x, (1, 0))
    at = w.const(_pixels(op.windows, op.image).reshape(-1))
    y = w.apply(Scatter("add"), w.const(np.zeros((pixels + 1, maps), np.float32)), at, updates)
    y = w.apply(Slice((0, 0), (pixels, maps), (1, 1)), y)
    return w.done(w.reshaped(w.transposed(y, (1, 0)), (n, size // taps, *op.image)))


def _pixels(windows: Sequence[Window], image: Sequence[int]) -> Array:
    """The pixel of each tap at each position, one beyond the last in the padding: [taps, positions], s32."""
    positions = [v.out_len(m) for v, m in zip(windows, image, strict=True)]
    sizes = [v.size for v in windows]
    numbers = np.arange(math.prod(image), dtype=np.int32).reshape(image)
    made = np.full((*sizes, *positions), math.prod(image), np.int32)
    for tap, read, served in reaches(windows, positions, image):
        made[(*(t.start for t in tap), *read)] = numbers[served]
    return made.reshape(math.prod(sizes), math.prod(positions))


RULES: Family = (
    Rule(real.ColumnsToImage, columns_to_image),
    Rule(real.MaxPoolPlaces, max_pool_places),
    Rule(real.MaxUnpool, max_unpool),
)
