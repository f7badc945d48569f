"""What the operators that move numbers say of sizes, places and steps.

Source: tensorflow/lite/kernels/internal: strided_slice_logic.h, reference/resize_nearest_neighbor.h.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from codegen.errors import AttributeBad, ShapeMismatch
from codegen.frontends.tflite.axes import read_axes, read_axis
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.tensors import Tensors

Sizes = tuple[int, ...]


def asked_shape(ctx: Tensors, node: TfliteNode) -> Sizes:
    """The shape that RESHAPE, SQUEEZE or EXPAND_DIMS asks for, where the file says it; else the output's own."""
    asked = _ASKED[node.op_type](ctx, node)
    return ctx.result(node).shape if asked is None else asked


def _reshaped(ctx: Tensors, node: TfliteNode) -> Sizes | None:
    """The shape that a known input asks for, one size perhaps left open."""
    if not ctx.has(node, 1) or (known := ctx.tensor(node, 1).data) is None or not known.size:
        return None
    sizes = ctx.int_list(node, 1)
    elements, rest = math.prod(ctx.tensor(node, 0).shape), math.prod(n for n in sizes if n != -1)
    if min(sizes) < -1 or 0 in sizes or sizes.count(-1) > 1 or elements % rest:
        return None
    return tuple(elements // rest if n == -1 else n for n in sizes)


def _squeezed(ctx: Tensors, node: TfliteNode) -> Sizes:
    """Without the axes that are named, or all of size 1 where none is."""
    shape, dims = ctx.tensor(node, 0).shape, node.option_list(_SQUEEZE_DIMS)
    if dims is None or not dims.size:
        return tuple(n for n in shape if n != 1)
    gone = read_axes(node, dims.tolist(), len(shape))
    if any(shape[axis] != 1 for axis in gone):
        raise ShapeMismatch(f"axes {list(gone)} of {list(shape)} are to have one element", where=node.where)
    return tuple(n for axis, n in enumerate(shape) if axis not in gone)


def _expanded(ctx: Tensors, node: TfliteNode) -> Sizes | None:
    """With one more axis, where that is known."""
    shape = ctx.tensor(node, 0).shape
    if ctx.tensor(node, 1).data is None:
        return None
    axis = read_axis(node, ctx.whole_number(node, 1), len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:])


_SQUEEZE_DIMS = 0
"""Of the fields of SqueezeOptions."""

_ASKED: Mapping[str, Callable[[Tensors, TfliteNode], Sizes | None]] = {
    "RESHAPE": _reshaped,
    "SQUEEZE": _squeezed,
    "EXPAND_DIMS": _expanded,
}
"""The shape that an operator gives its result; None where only the result's record says it."""


def read_perm(ctx: Tensors, node: TfliteNode) -> Sizes:
    """The order of axes of TRANSPOSE."""
    perm, rank = ctx.int_list(node, 1), len(ctx.tensor(node, 0).shape)
    if any(not -rank <= p < rank for p in perm) or sorted(p % rank for p in perm) != list(range(rank)):
        raise ShapeMismatch(f"axes {list(perm)} of a tensor of {rank} axes", where=node.where)
    return tuple(p % rank for p in perm)


def read_slice(ctx: Tensors, node: TfliteNode) -> tuple[Sizes, Sizes]:
    """Starts and lengths of SLICE."""
    shape = ctx.tensor(node, 0).shape
    starts, sizes = ctx.int_list(node, 1), ctx.int_list(node, 2)
    if len(starts) != len(shape) or len(sizes) != len(shape):
        raise ShapeMismatch(f"{len(starts)} starts and {len(sizes)} sizes of {len(shape)} axes", where=node.where)
    return starts, tuple(n - s if size == -1 else size for n, s, size in zip(shape, starts, sizes, strict=True))


def read_parts(ctx: Tensors, node: TfliteNode) -> tuple[int, int, Sizes]:
    """Which input SPLIT and SPLIT_V divide, along which axis, and the lengths of the parts."""
    variable = node.op_type == "SPLIT_V"
    data = 0 if variable else 1
    shape = ctx.tensor(node, data).shape
    axis = read_axis(node, ctx.whole_number(node, 2 if variable else 0), len(shape))
    sizes = [ctx.result(node, i).shape for i in range(len(node.outputs))]
    lengths = tuple(s[axis] if len(s) == len(shape) else 0 for s in sizes)
    if sum(lengths) != shape[axis]:
        raise ShapeMismatch(f"parts of {list(lengths)} of an axis of {shape[axis]}", where=node.where)
    return data, axis, lengths


def read_pads(ctx: Tensors, node: TfliteNode) -> tuple[Sizes, Sizes]:
    """Elements before and after each axis."""
    table, rank = ctx.constant(node, 1), len(ctx.tensor(node, 0).shape)
    if table.dtype.kind != "i" or table.shape != (rank, 2) or table.min(initial=0) < 0:
        raise ShapeMismatch(f"pads of shape {list(table.shape)} for {rank} axes", where=node.where)
    return tuple(int(p) for p in table[:, 0]), tuple(int(p) for p in table[:, 1])


def read_mirror(ctx: Tensors, node: TfliteNode) -> tuple[Literal["reflect", "symmetric"], Sizes, Sizes]:
    """How MIRROR_PAD picks elements again, as numpy calls it, and how many before and after each axis."""
    mode = int(node.options_of("MirrorPadOptions").Mode())
    if mode not in (0, 1):
        raise AttributeBad(f"mirror mode {mode}", where=node.where, hint="the known ones are REFLECT and SYMMETRIC")
    befores, afters = read_pads(ctx, node)
    for n, before, after in zip(ctx.tensor(node, 0).shape, befores, afters, strict=True):
        if max(before, after) > n - (mode == 0):
            raise ShapeMismatch(f"pads of {before} and {after} for {n} elements", where=node.where)
    return "symmetric" if mode else "reflect", befores, afters


def nearest_positions(n_in: int, n_out: int, corners: bool, centres: bool) -> tuple[int, ...]:
    """Source position of each output position.  Source: reference/resize_nearest_neighbor.h."""
    if n_out < 1:
        return ()
    single = np.float32
    aligned = corners and n_out > 1
    scale = single(n_in - 1) / single(n_out - 1) if aligned else single(n_in) / single(n_out)
    at = (np.arange(n_out, dtype=single) + single(0.5 if centres else 0.0)) * scale
    whole = np.floor(at + 0.5) if corners else np.floor(at)
    return tuple(int(i) for i in np.clip(whole, 0, n_in - 1))


def read_stretches(ctx: Tensors, node: TfliteNode) -> tuple[Sizes, Sizes, Sizes]:
    """Starts, lengths and steps of STRIDED_SLICE along every axis of its input."""
    options = node.options_of("StridedSliceOptions")
    shape = ctx.tensor(node, 0).shape
    begin, end, step = (ctx.int_list(node, i) for i in (1, 2, 3))
    places = _places(len(begin), len(shape), int(options.EllipsisMask()), int(options.NewAxisMask()))
    if not len(begin) == len(end) == len(step) or len(places) != len(shape) or 0 in step:
        raise ShapeMismatch(f"{len(begin)} starts, {len(end)} ends, steps {list(step)}", where=node.where)
    masks = (int(options.BeginMask()), int(options.EndMask()), int(options.ShrinkAxisMask()))
    stretches, steps = [], []
    for n, i in zip(shape, places, strict=True):
        told = (begin[i], end[i], step[i], tuple(bool(m >> i & 1) for m in masks)) if i is not None else _ALL
        stretches.append(_stretch(n, *told, bool(options.Offset())))
        steps.append(told[2])
    return tuple(s for s, _ in stretches), tuple(size for _, size in stretches), tuple(steps)


_ALL = (0, 0, 1, (True, True, False))
"""Of an axis of which nothing is said."""


def _places(count: int, rank: int, ellipsis: int, new: int) -> list[int | None]:
    """Which entry of a list of `count` speaks of each axis: None where an ellipsis does, or the list has ended."""
    found: list[int | None] = []
    spoken = sum(not (ellipsis | new) >> i & 1 for i in range(count))
    for i in range(count):
        if ellipsis >> i & 1:
            found += [None] * (rank - spoken)
        elif not new >> i & 1:
            found.append(i)
    return found + [None] * (rank - len(found))


def _stretch(n: int, begin: int, end: int, step: int, masks: Sequence[bool], offset: bool) -> tuple[int, int]:
    """First position and number of elements along one axis; with `offset` the end counts from the first position.

    Source: internal/strided_slice_logic.h.
    """
    no_begin, no_end, shrink = masks
    low, high = (0, n) if step > 0 else (-1, n - 1)
    start = (low if step > 0 else high) if no_begin else min(max(begin + n if begin < 0 else begin, low), high)
    if shrink:
        return start, 1
    end += start if offset else 0
    stop = (high if step > 0 else low) if no_end else min(max(end + n if end < 0 else end, low), high)
    return start, max(0, -(-(stop - start) // step))
