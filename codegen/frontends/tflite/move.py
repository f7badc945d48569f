"""Operators that move numbers and compute nothing.

Decides: which of our operators a movement is.  The file gives the shape of every result, and `Context.write` compares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from codegen.errors import AttributeBad, FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.axes import read_axes, read_axis
from codegen.frontends.tflite.context import Context
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.windows import feature_map
from codegen.ir.op import Op
from codegen.ops import (
    Concat,
    DepthToSpace,
    Gather,
    Pad,
    Reshape,
    ResizeNearest,
    Slice,
    SpaceToDepth,
    Transpose,
    requantize_table,
)


def reshape(ctx: Context, node: TfliteNode) -> None:
    """RESHAPE, SQUEEZE and EXPAND_DIMS: what they ask for, where the file says it; else the output's own shape."""
    asked = _ASKED[node.op_type](ctx, node)
    ctx.write(node, Reshape(ctx.result(node).shape if asked is None else asked), (ctx.value(node, 0),))


def _reshaped(ctx: Context, node: TfliteNode) -> tuple[int, ...] | None:
    """The shape that a known input asks for, one size perhaps left open."""
    if not ctx.has(node, 1) or (known := ctx.tensor(node, 1).data) is None or not known.size:
        return None
    sizes = tuple(int(n) for n in known.reshape(-1))
    elements, rest = math.prod(ctx.type(node, 0).shape), math.prod(n for n in sizes if n != -1)
    if min(sizes) < -1 or 0 in sizes or sizes.count(-1) > 1 or elements % rest:
        return None
    return tuple(elements // rest if n == -1 else n for n in sizes)


def _squeezed(ctx: Context, node: TfliteNode) -> tuple[int, ...]:
    """Without the axes that are named, or all of size 1 where none is."""
    shape, dims = ctx.type(node, 0).shape, node.option_list(_SQUEEZE_DIMS)
    if dims is None or not dims.size:
        return tuple(n for n in shape if n != 1)
    gone = read_axes(node, dims.tolist(), len(shape))
    if any(shape[axis] != 1 for axis in gone):
        raise ShapeMismatch(f"axes {list(gone)} of {list(shape)} are to have one element", where=node.where)
    return tuple(n for axis, n in enumerate(shape) if axis not in gone)


def _expanded(ctx: Context, node: TfliteNode) -> tuple[int, ...] | None:
    """With one more axis, where that is known."""
    shape = ctx.type(node, 0).shape
    if ctx.tensor(node, 1).data is None:
        return None
    axes = ctx.constant(node, 1).reshape(-1).tolist()
    if len(axes) != 1:
        raise ShapeMismatch(f"axes {axes}", where=node.where)
    axis = read_axis(node, axes[0], len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:])


_SQUEEZE_DIMS = 0
"""Of the fields of SqueezeOptions."""

_ASKED: Mapping[str, Callable[[Context, TfliteNode], tuple[int, ...] | None]] = {
    "RESHAPE": _reshaped,
    "SQUEEZE": _squeezed,
    "EXPAND_DIMS": _expanded,
}
"""The shape that an operator gives its result; None where only the result's record says it."""


def transpose(ctx: Context, node: TfliteNode) -> None:
    """TRANSPOSE."""
    perm, rank = ctx.int_list(node, 1), len(ctx.type(node, 0).shape)
    if any(not -rank <= p < rank for p in perm) or sorted(p % rank for p in perm) != list(range(rank)):
        raise ShapeMismatch(f"axes {list(perm)} of a tensor of {rank} axes", where=node.where)
    ctx.write(node, Transpose(tuple(p % rank for p in perm)), (ctx.value(node, 0),))


def pad(ctx: Context, node: TfliteNode) -> None:
    """PAD with the zero point, PADV2 with a number of the output's own scale."""
    before, after = _pads(ctx, node)
    if node.op_type == "PADV2":
        value = ctx.constant(node, 2)
        if value.size != 1 or value.dtype.kind not in "iu":
            raise ShapeMismatch(f"a padding value of shape {list(value.shape)}", where=node.where)
        fill = int(value.reshape(-1)[0])
    else:
        fill = ctx.quantized_result(node)[0].zero_point if ctx.result(node).scale.size else 0
    ctx.write(node, Pad(before, after, "constant", fill), (ctx.value(node, 0),))


def mirror_pad(ctx: Context, node: TfliteNode) -> None:
    """MIRROR_PAD: each padded axis picks its own elements again, the border itself repeated or not."""
    mode = int(node.options_of("MirrorPadOptions").Mode())
    if mode not in (0, 1):
        raise AttributeBad(f"mirror mode {mode}", where=node.where, hint="the known ones are REFLECT and SYMMETRIC")
    shape = ctx.type(node, 0).shape
    ops: list[Op] = []
    for axis, (n, before, after) in enumerate(zip(shape, *_pads(ctx, node), strict=True)):
        if max(before, after) > n - (mode == 0):
            raise ShapeMismatch(f"pads of {before} and {after} for {n} elements", where=node.where)
        if before or after:
            picked = np.pad(np.arange(n), (before, after), mode="symmetric" if mode else "reflect")
            ops.append(Gather(axis, tuple(picked.tolist())))
    first, *rest = ops or [Reshape(shape)]
    ctx.write(node, first, (ctx.value(node, 0),), post=rest)


def concatenation(ctx: Context, node: TfliteNode) -> None:
    """CONCATENATION; TFLite copies 8-bit and 16-bit signed numbers as they are and rescales unsigned ones."""
    options = node.options_of("ConcatenationOptions")
    if node.activation(options):
        raise FormUnsupported("a fused activation", where=node.where)
    axis = read_axis(node, int(options.Axis()), len(ctx.result(node).shape))
    values = [ctx.value(node, i) for i in range(len(node.inputs))]
    if not ctx.result(node).scale.size:
        ctx.write(node, Concat(axis, (None,) * len(values), ctx.type(node, 0).dtype, None), values)
        return
    y, dtype = ctx.quantized_result(node)
    tables = []
    for index in range(len(node.inputs)):
        x, x_dtype = ctx.quantized(node, index)
        same = x == y or (ctx.mode == "tflite" and dtype.low < 0)
        tables.append(None if same else requantize_table(x, x_dtype, y, dtype, ctx.mode))
    ctx.write(node, Concat(axis, tuple(tables), dtype, y), values)


def pack(ctx: Context, node: TfliteNode) -> None:
    """PACK: each input gains the axis along which they are joined."""
    shape, meaning = ctx.result(node).shape, ctx.builder.type(ctx.value(node, 0))
    axis = read_axis(node, int(node.options_of("PackOptions").Axis()), len(shape))
    one = (*shape[:axis], 1, *shape[axis + 1 :])
    parts = []
    for i in range(len(node.inputs)):
        if ctx.type(node, i).elements * len(node.inputs) != ctx.builder.type(ctx.value(node, 0)).elements * shape[axis]:
            raise ShapeMismatch(f"inputs that do not fill {list(shape)}", where=node.where)
        parts.append(ctx.reshaped(node, ctx.value(node, i), one, f"part{i}"))
    if len(parts) == 1:
        ctx.write(node, Reshape(shape), (parts[0],))
        return
    ctx.write(node, Concat(axis, (None,) * len(parts), meaning.dtype, meaning.quant), parts)


def unpack(ctx: Context, node: TfliteNode) -> None:
    """UNPACK: slices that lose their axis."""
    shape = ctx.type(node, 0).shape
    axis = read_axis(node, int(node.options_of("UnpackOptions").Axis()), len(shape))
    if len(node.outputs) != shape[axis]:
        raise ShapeMismatch(f"{len(node.outputs)} outputs of an axis of {shape[axis]}", where=node.where)
    for index in range(len(node.outputs)):
        post = (Reshape(ctx.result(node, index).shape),)
        ctx.write(node, _part(shape, axis, index, 1), (ctx.value(node, 0),), index, post=post)


def split(ctx: Context, node: TfliteNode) -> None:
    """SPLIT and SPLIT_V."""
    variable = node.op_type == "SPLIT_V"
    data = 0 if variable else 1
    shape = ctx.type(node, data).shape
    given = ctx.int_list(node, 2 if variable else 0)
    if len(given) != 1:
        raise ShapeMismatch(f"axes {list(given)}", where=node.where)
    axis = read_axis(node, given[0], len(shape))
    sizes = [ctx.result(node, i).shape for i in range(len(node.outputs))]
    lengths = [s[axis] if len(s) == len(shape) else 0 for s in sizes]
    if sum(lengths) != shape[axis]:
        raise ShapeMismatch(f"parts of {lengths} of an axis of {shape[axis]}", where=node.where)
    start = 0
    for index, length in enumerate(lengths):
        ctx.write(node, _part(shape, axis, start, length), (ctx.value(node, data),), index)
        start += length


def slice_op(ctx: Context, node: TfliteNode) -> None:
    """SLICE."""
    shape = ctx.type(node, 0).shape
    starts, sizes = ctx.int_list(node, 1), ctx.int_list(node, 2)
    if len(starts) != len(shape) or len(sizes) != len(shape):
        raise ShapeMismatch(f"{len(starts)} starts and {len(sizes)} sizes of {len(shape)} axes", where=node.where)
    lengths = tuple(n - s if size == -1 else size for n, s, size in zip(shape, starts, sizes, strict=True))
    ctx.write(node, Slice(starts, lengths, (1,) * len(shape)), (ctx.value(node, 0),))


def strided_slice(ctx: Context, node: TfliteNode) -> None:
    """STRIDED_SLICE; the file says which axes of one element are new or left out."""
    options = node.options_of("StridedSliceOptions")
    shape = ctx.type(node, 0).shape
    begin, end, step = (ctx.int_list(node, i) for i in (1, 2, 3))
    if options.Offset():
        raise FormUnsupported("ends that count from the starts", where=node.where)
    places = _places(len(begin), len(shape), int(options.EllipsisMask()), int(options.NewAxisMask()))
    if not len(begin) == len(end) == len(step) or len(places) != len(shape) or 0 in step:
        raise ShapeMismatch(f"{len(begin)} starts, {len(end)} ends, steps {list(step)}", where=node.where)
    masks = (int(options.BeginMask()), int(options.EndMask()), int(options.ShrinkAxisMask()))
    stretches, steps = [], []
    for n, i in zip(shape, places, strict=True):
        told = (begin[i], end[i], step[i], tuple(bool(m >> i & 1) for m in masks)) if i is not None else _ALL
        stretches.append(_stretch(n, *told))
        steps.append(told[2])
    op = Slice(tuple(s for s, _ in stretches), tuple(size for _, size in stretches), tuple(steps))
    ctx.write(node, op, (ctx.value(node, 0),), post=(Reshape(ctx.result(node).shape),))


def depth_to_space(ctx: Context, node: TfliteNode) -> None:
    """DEPTH_TO_SPACE."""
    block = node.take(node.options_of("DepthToSpaceOptions"), "BlockSize")
    feature_map(node, ctx.type(node, 0).shape)
    ctx.write(node, DepthToSpace(block, "DCR"), (ctx.value(node, 0),))


def space_to_depth(ctx: Context, node: TfliteNode) -> None:
    """SPACE_TO_DEPTH."""
    block = node.take(node.options_of("SpaceToDepthOptions"), "BlockSize")
    feature_map(node, ctx.type(node, 0).shape)
    ctx.write(node, SpaceToDepth(block), (ctx.value(node, 0),))


def resize_nearest(ctx: Context, node: TfliteNode) -> None:
    """RESIZE_NEAREST_NEIGHBOR; positions in float32, as TFLite finds them."""
    options = node.options_of("ResizeNearestNeighborOptions")
    _, height, width, _ = feature_map(node, ctx.type(node, 0).shape)
    _, rows, columns, _ = feature_map(node, ctx.result(node).shape)
    corners, centres = bool(options.AlignCorners()), bool(options.HalfPixelCenters())
    op = ResizeNearest(_nearest(height, rows, corners, centres), _nearest(width, columns, corners, centres))
    ctx.write(node, op, (ctx.value(node, 0),))


def _nearest(n_in: int, n_out: int, corners: bool, centres: bool) -> tuple[int, ...]:
    """Source position of each output position.  Source: reference/resize_nearest_neighbor.h."""
    single = np.float32
    aligned = corners and n_out > 1
    scale = single(n_in - 1) / single(n_out - 1) if aligned else single(n_in) / single(n_out)
    at = (np.arange(n_out, dtype=single) + single(0.5 if centres else 0.0)) * scale
    whole = np.floor(at + 0.5) if corners else np.floor(at)
    return tuple(int(i) for i in np.clip(whole, 0, n_in - 1))


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


def _stretch(n: int, begin: int, end: int, step: int, masks: Sequence[bool]) -> tuple[int, int]:
    """First position and number of elements along one axis.  Source: internal/strided_slice_logic.h."""
    no_begin, no_end, shrink = masks
    low, high = (0, n) if step > 0 else (-1, n - 1)
    start = (low if step > 0 else high) if no_begin else min(max(begin + n if begin < 0 else begin, low), high)
    if shrink:
        return start, 1
    stop = (high if step > 0 else low) if no_end else min(max(end + n if end < 0 else end, low), high)
    return start, max(0, -(-(stop - start) // step))


def _part(shape: Sequence[int], axis: int, start: int, length: int) -> Slice:
    """Some elements of one axis."""
    sizes = tuple(length if a == axis else n for a, n in enumerate(shape))
    return Slice(tuple(start if a == axis else 0 for a in range(len(shape))), sizes, (1,) * len(shape))


def _pads(ctx: Context, node: TfliteNode) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Elements before and after each axis."""
    table, rank = ctx.constant(node, 1), len(ctx.type(node, 0).shape)
    if table.dtype.kind != "i" or table.shape != (rank, 2) or table.min() < 0:
        raise ShapeMismatch(f"pads of shape {list(table.shape)} for {rank} axes", where=node.where)
    return tuple(int(p) for p in table[:, 0]), tuple(int(p) for p in table[:, 1])
