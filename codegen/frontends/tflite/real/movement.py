"""Operators that move numbers and compute nothing: the same whatever holds the numbers."""

from __future__ import annotations

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
from codegen.real.along import ReverseSequence

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


def reverse_sequence(ctx: RealContext, node: TfliteNode) -> None:
    """REVERSE_SEQUENCE: of each entry the first elements, as many as the second input says."""
    options, rank = node.options_of("ReverseSequenceOptions"), len(ctx.shape(node, 0))
    time, batch = (read_axis(node, int(axis), rank) for axis in (options.SeqDim(), options.BatchDim()))
    if ctx.type(node, 1).dtype.kind != "i":
        raise FormUnsupported(f"lengths of type {ctx.type(node, 1).dtype}", where=node.where)
    known, steps = ctx.tensor(node, 1).data, ctx.shape(node, 0)[time]
    if known is not None and bool(((known < 0) | (known > steps)).any()):
        raise ShapeMismatch(f"lengths outside 0 .. {steps}", where=node.where)
    order = (*sorted((time, batch)), *(a for a in range(rank) if a not in (time, batch)))
    if len(order) != rank:
        raise ShapeMismatch(f"axis {time} is both time and batch", where=node.where)
    x = ctx.apply(node, real.Transpose(order), [ctx.value(node, 0)])
    back = real.Transpose(tuple(order.index(a) for a in range(rank)))
    ctx.write(node, ReverseSequence(order.index(time), order.index(batch)), [x, ctx.value(node, 1)], post=[back])


def _part(shape: Shape, axis: int, start: int, length: int) -> real.Slice:
    """Some elements of one axis."""
    counts = (*shape[:axis], length, *shape[axis + 1 :])
    return real.Slice(tuple(start if a == axis else 0 for a in range(len(shape))), counts, (1,) * len(shape))


TRANSLATORS: Table = {
    "BATCH_TO_SPACE_ND": batch_to_space,
    "BROADCAST_TO": broadcast_to,
    "CONCATENATION": concatenation,
    "DEPTH_TO_SPACE": depth_to_space,
    "EXPAND_DIMS": reshape,
    "FILL": fill,
    "MIRROR_PAD": mirror_pad,
    "PACK": pack,
    "PAD": pad,
    "PADV2": pad,
    "RESHAPE": reshape,
    "REVERSE_SEQUENCE": reverse_sequence,
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
    "FILL": 4,
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
