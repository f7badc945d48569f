"""Operators that move numbers and compute nothing.

Decides: which of our operators a movement is.  The file gives the shape of every result, and `Context.write` compares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.axes import read_axis
from codegen.frontends.tflite.context import Context
from codegen.frontends.tflite.extents import (
    asked_shape,
    nearest_positions,
    read_mirror,
    read_pads,
    read_parts,
    read_perm,
    read_slice,
    read_stretches,
)
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
    ctx.write(node, Reshape(asked_shape(ctx, node)), (ctx.value(node, 0),))


def transpose(ctx: Context, node: TfliteNode) -> None:
    """TRANSPOSE."""
    ctx.write(node, Transpose(read_perm(ctx, node)), (ctx.value(node, 0),))


def pad(ctx: Context, node: TfliteNode) -> None:
    """PAD with the zero point, PADV2 with a number of the output's own scale."""
    before, after = read_pads(ctx, node)
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
    mode, befores, afters = read_mirror(ctx, node)
    shape = ctx.type(node, 0).shape
    ops: list[Op] = []
    for axis, (n, before, after) in enumerate(zip(shape, befores, afters, strict=True)):
        if before or after:
            picked = np.pad(np.arange(n), (before, after), mode=mode)
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
    data, axis, lengths = read_parts(ctx, node)
    shape = ctx.type(node, data).shape
    start = 0
    for index, length in enumerate(lengths):
        ctx.write(node, _part(shape, axis, start, length), (ctx.value(node, data),), index)
        start += length


def slice_op(ctx: Context, node: TfliteNode) -> None:
    """SLICE."""
    starts, lengths = read_slice(ctx, node)
    ctx.write(node, Slice(starts, lengths, (1,) * len(starts)), (ctx.value(node, 0),))


def strided_slice(ctx: Context, node: TfliteNode) -> None:
    """STRIDED_SLICE; the file says which axes of one element are new or left out."""
    op = Slice(*read_stretches(ctx, node))
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
    op = ResizeNearest(
        nearest_positions(height, rows, corners, centres), nearest_positions(width, columns, corners, centres)
    )
    ctx.write(node, op, (ctx.value(node, 0),))


def _part(shape: Sequence[int], axis: int, start: int, length: int) -> Slice:
    """Some elements of one axis."""
    sizes = tuple(length if a == axis else n for a, n in enumerate(shape))
    return Slice(tuple(start if a == axis else 0 for a in range(len(shape))), sizes, (1,) * len(shape))
