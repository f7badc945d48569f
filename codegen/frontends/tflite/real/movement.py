"""Operators that move numbers and compute nothing: the same whatever holds the numbers."""

from __future__ import annotations

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.axes import read_axes, read_axis
from codegen.frontends.tflite.batches import batch_steps, space_steps
from codegen.frontends.tflite.extents import (
    asked_shape,
    read_mirror,
    read_pads,
    read_parts,
    read_perm,
    read_slice,
    read_stretches,
)
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext, Table, Versions
from codegen.frontends.tflite.real.elementwise import activation
from codegen.frontends.tflite.windows import feature_map
from codegen.ir.shape import Shape
from codegen.real import movement as real
from codegen.real.scatter import GatherND

_LAST = -1


def reshape(ctx: RealContext, node: TfliteNode) -> None:
    """RESHAPE, SQUEEZE and EXPAND_DIMS."""
    ctx.write(node, real.Reshape(asked_shape(ctx, node)), [ctx.value(node, 0)])


def transpose(ctx: RealContext, node: TfliteNode) -> None:
    """TRANSPOSE."""
    ctx.write(node, real.Transpose(read_perm(ctx, node)), [ctx.value(node, 0)])


def pad(ctx: RealContext, node: TfliteNode) -> None:
    """PAD with zeros, PADV2 with a number."""
    before, after = read_pads(ctx, node)
    fill = _fill(ctx, node) if node.op_type == "PADV2" else 0.0
    ctx.write(node, real.Pad(before, after, "constant", fill), [ctx.value(node, 0)])


def _fill(ctx: RealContext, node: TfliteNode) -> float:
    """The number of PADV2; an integer without a scale has that of what is padded."""
    held, own = ctx.stored(ctx.value(node, 0)), ctx.stored(ctx.value(node, 2))
    number = ctx.number(node, 2)
    if held is None or own is not None:
        return number
    return (number - float(held.zero_point.reshape(-1)[0])) * float(held.scale.reshape(-1)[0])


def mirror_pad(ctx: RealContext, node: TfliteNode) -> None:
    """MIRROR_PAD."""
    mode, before, after = read_mirror(ctx, node)
    ctx.write(node, real.Pad(before, after, mode), [ctx.value(node, 0)])


def concatenation(ctx: RealContext, node: TfliteNode) -> None:
    """CONCATENATION."""
    ctx.of_one_type(node)
    options = node.options_of("ConcatenationOptions")
    axis = read_axis(node, int(options.Axis()), len(ctx.shape(node, 0)))
    ctx.write(node, real.Concat(axis), ctx.values_of(node), post=activation(node, options))


def pack(ctx: RealContext, node: TfliteNode) -> None:
    """PACK: each input gains the axis along which they are joined."""
    ctx.of_one_type(node)
    shape = ctx.shape(node, 0)
    axis = read_axis(node, int(node.options_of("PackOptions").Axis()), len(shape) + 1)
    one = (*shape[:axis], 1, *shape[axis:])
    if any(ctx.shape(node, i) != shape for i in range(len(node.inputs))):
        raise ShapeMismatch("inputs of several shapes", where=node.where)
    parts = [ctx.reshaped(node, value, one, f"part{i}") for i, value in enumerate(ctx.values_of(node))]
    ctx.write(node, real.Concat(axis), parts)


def unpack(ctx: RealContext, node: TfliteNode) -> None:
    """UNPACK: slices that lose their axis."""
    shape = ctx.shape(node, 0)
    axis = read_axis(node, int(node.options_of("UnpackOptions").Axis()), len(shape))
    if len(node.outputs) != shape[axis]:
        raise ShapeMismatch(f"{len(node.outputs)} outputs of an axis of {shape[axis]}", where=node.where)
    post = real.Reshape((*shape[:axis], *shape[axis + 1 :]))
    for index in range(len(node.outputs)):
        ctx.write(node, _part(shape, axis, index, 1), [ctx.value(node, 0)], index, post=[post])


def split(ctx: RealContext, node: TfliteNode) -> None:
    """SPLIT and SPLIT_V."""
    data, axis, lengths = read_parts(ctx, node)
    shape, start = ctx.shape(node, data), 0
    for index, length in enumerate(lengths):
        ctx.write(node, _part(shape, axis, start, length), [ctx.value(node, data)], index)
        start += length


def slice_op(ctx: RealContext, node: TfliteNode) -> None:
    """SLICE."""
    starts, counts = read_slice(ctx, node)
    ctx.write(node, real.Slice(starts, counts, (1,) * len(starts)), [ctx.value(node, 0)])


def strided_slice(ctx: RealContext, node: TfliteNode) -> None:
    """STRIDED_SLICE; the file says which axes of one element are new or left out."""
    post = real.Reshape(ctx.result(node).shape)
    ctx.write(node, real.Slice(*read_stretches(ctx, node)), [ctx.value(node, 0)], post=[post])


def depth_to_space(ctx: RealContext, node: TfliteNode) -> None:
    """DEPTH_TO_SPACE."""
    block = node.take(node.options_of("DepthToSpaceOptions"), "BlockSize")
    feature_map(node, ctx.shape(node, 0))
    ctx.write(node, real.DepthToSpace(block, "DCR", _LAST), [ctx.value(node, 0)])


def space_to_depth(ctx: RealContext, node: TfliteNode) -> None:
    """SPACE_TO_DEPTH."""
    block = node.take(node.options_of("SpaceToDepthOptions"), "BlockSize")
    feature_map(node, ctx.shape(node, 0))
    ctx.write(node, real.SpaceToDepth(block, "DCR", _LAST), [ctx.value(node, 0)])


def space_to_batch(ctx: RealContext, node: TfliteNode) -> None:
    """SPACE_TO_BATCH_ND: blocks of pixels become images."""
    before, after, parts, order = space_steps(ctx, node)
    post = (real.Reshape(parts), real.Transpose(order), real.Reshape(ctx.result(node).shape))
    ctx.write(node, real.Pad(before, after), [ctx.value(node, 0)], post=post)


def batch_to_space(ctx: RealContext, node: TfliteNode) -> None:
    """BATCH_TO_SPACE_ND: images become blocks of pixels."""
    parts, order, whole, starts, counts = batch_steps(ctx, node)
    post = (real.Transpose(order), real.Reshape(whole), real.Slice(starts, counts, (1,) * len(whole)))
    ctx.write(node, real.Reshape(parts), [ctx.value(node, 0)], post=post)


def tile(ctx: RealContext, node: TfliteNode) -> None:
    """TILE."""
    ctx.write(node, real.Tile(ctx.int_list(node, 1)), [ctx.value(node, 0)])


def broadcast_to(ctx: RealContext, node: TfliteNode) -> None:
    """BROADCAST_TO."""
    ctx.write(node, real.Expand(ctx.int_list(node, 1)), [ctx.value(node, 0)])


def fill(ctx: RealContext, node: TfliteNode) -> None:
    """FILL: one number, computed or known, again and again."""
    shape = ctx.int_list(node, 0)
    number = ctx.reshaped(node, ctx.value(node, 1), (1,) * len(shape), "number")
    ctx.write(node, real.Expand(shape), [number])


def reverse(ctx: RealContext, node: TfliteNode) -> None:
    """REVERSE_V2."""
    shape = ctx.shape(node, 0)
    axes = read_axes(node, ctx.int_list(node, 1), len(shape))
    starts = tuple(n - 1 if a in axes else 0 for a, n in enumerate(shape))
    steps = tuple(-1 if a in axes else 1 for a in range(len(shape)))
    ctx.write(node, real.Slice(starts, shape, steps), [ctx.value(node, 0)])


def gather(ctx: RealContext, node: TfliteNode) -> None:
    """GATHER along an axis."""
    options, shape = node.options_of("GatherOptions"), ctx.shape(node, 0)
    if options.BatchDims():
        raise FormUnsupported("positions per batch", where=node.where)
    axis = read_axis(node, int(options.Axis()), len(shape))
    _check_places(ctx, node, 1, shape[axis : axis + 1])
    ctx.write(node, real.Gather(axis), [ctx.value(node, 0), ctx.value(node, 1)])


def gather_nd(ctx: RealContext, node: TfliteNode) -> None:
    """GATHER_ND."""
    shape, places = ctx.shape(node, 0), ctx.shape(node, 1)
    if not places or places[-1] > len(shape):
        raise ShapeMismatch(f"positions of shape {list(places)} in a tensor of shape {list(shape)}", where=node.where)
    _check_places(ctx, node, 1, shape[: places[-1]])
    ctx.write(node, GatherND(), [ctx.value(node, 0), ctx.value(node, 1)])


def embedding_lookup(ctx: RealContext, node: TfliteNode) -> None:
    """EMBEDDING_LOOKUP: rows of a table."""
    _check_places(ctx, node, 0, ctx.shape(node, 1)[:1])
    ctx.write(node, real.Gather(0), [ctx.value(node, 1), ctx.value(node, 0)])


def _check_places(ctx: RealContext, node: TfliteNode, index: int, sizes: Shape) -> None:
    """Positions are whole numbers and, where they are known, inside; LAM-IMPORT-022, -014."""
    kind, known = ctx.type(node, index), ctx.tensor(node, index).data
    if kind.dtype.name not in ("int16", "int32", "int64"):
        raise FormUnsupported(f"positions of type {kind.dtype}", where=node.where)
    if not sizes or (known is not None and bool(((known < 0) | (known >= np.array(sizes))).any())):
        raise ShapeMismatch(f"positions outside {list(sizes)}", where=node.where)


def _part(shape: Shape, axis: int, start: int, length: int) -> real.Slice:
    """Some elements of one axis."""
    counts = (*shape[:axis], length, *shape[axis + 1 :])
    return real.Slice(tuple(start if a == axis else 0 for a in range(len(shape))), counts, (1,) * len(shape))


TRANSLATORS: Table = {
    "BATCH_TO_SPACE_ND": batch_to_space,
    "BROADCAST_TO": broadcast_to,
    "CONCATENATION": concatenation,
    "DEPTH_TO_SPACE": depth_to_space,
    "EMBEDDING_LOOKUP": embedding_lookup,
    "EXPAND_DIMS": reshape,
    "FILL": fill,
    "GATHER": gather,
    "GATHER_ND": gather_nd,
    "MIRROR_PAD": mirror_pad,
    "PACK": pack,
    "PAD": pad,
    "PADV2": pad,
    "RESHAPE": reshape,
    "REVERSE_V2": reverse,
    "SLICE": slice_op,
    "SPACE_TO_BATCH_ND": space_to_batch,
    "SPACE_TO_DEPTH": space_to_depth,
    "SPLIT": split,
    "SPLIT_V": split,
    "SQUEEZE": reshape,
    "STRIDED_SLICE": strided_slice,
    "TILE": tile,
    "TRANSPOSE": transpose,
    "UNPACK": unpack,
}
NEWEST: Versions = {
    "BATCH_TO_SPACE_ND": 4,
    "BROADCAST_TO": 3,
    "CONCATENATION": 4,
    "DEPTH_TO_SPACE": 2,
    "EMBEDDING_LOOKUP": 4,
    "FILL": 4,
    "GATHER": 7,
    "GATHER_ND": 5,
    "MIRROR_PAD": 3,
    "PACK": 4,
    "PAD": 4,
    "PADV2": 4,
    "REVERSE_V2": 3,
    "SLICE": 6,
    "SPACE_TO_BATCH_ND": 4,
    "SPACE_TO_DEPTH": 2,
    "SPLIT": 4,
    "SPLIT_V": 2,
    "SQUEEZE": 2,
    "STRIDED_SLICE": 8,
    "TILE": 3,
    "TRANSPOSE": 6,
    "UNPACK": 4,
}
