"""Operators that only move elements.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import AttributeBad, RowsLeftOver, ShapeMismatch, TrainingForm
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table
from codegen.frontends.onnx.real.scatter import check_positions
from codegen.frontends.onnx.tensors import constant_of, decode
from codegen.real.movement import (
    BlockMode,
    Concat,
    DepthToSpace,
    Expand,
    Gather,
    Pad,
    Reshape,
    Slice,
    SpaceToDepth,
    Tile,
    Transpose,
)
from codegen.settle.builder import MAX_ELEMENTS

_PAD_MODES = ("constant", "edge", "reflect", "wrap")


def constant(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Constant."""
    return [r.constant(node.outputs[0], constant_of(node, halves=True))]


def constant_of_shape(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ConstantOfShape."""
    shape = r.int_list(node, 0)
    value = decode(node.tensor("value"), node.where, halves=True) if node.has("value") else np.zeros(1, np.float32)
    if value.size != 1:
        raise ShapeMismatch(f"`value` holds {value.size} numbers, one is repeated", where=node.where)
    seed = r.constant(f"{node.outputs[0]}:value", value.reshape(()))
    return [r.apply(Expand(shape), [seed], node)]


def shape_of(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Shape, or a part of it, and Size."""
    value = r.value(node, 0)
    shape = r.type(value).shape
    start, stop = node.integer("start", 0), node.integer("end", len(shape))
    if value in r.left_over and (node.op_type == "Size" or r.left_over[value] in range(len(shape))[start:stop]):
        raise RowsLeftOver(f"{node.op_type} counts rows of which some may be left over", where=node.where)
    if node.op_type == "Size":
        return [r.constant(node.outputs[0], np.array(math.prod(shape), np.int64))]
    return [r.constant(node.outputs[0], np.array(shape[start:stop], np.int64))]


def reshape(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Reshape: 0 keeps a size, -1 is what is left."""
    x = r.value(node, 0)
    shape = r.type(x).shape
    wanted = r.integers(node, 1, "shape")
    if wanted is None:
        raise ShapeMismatch("the shape is missing", where=node.where)
    if not node.flag("allowzero"):
        if any(n == 0 and i >= len(shape) for i, n in enumerate(wanted)):
            raise ShapeMismatch(f"a tensor {list(shape)} reshaped to {list(wanted)}", where=node.where)
        wanted = tuple(shape[i] if n == 0 else n for i, n in enumerate(wanted))
    return [r.apply(Reshape(_filled(node, wanted, shape)), [x], node)]


def _filled(node: OnnxNode, wanted: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    rest = math.prod(n for n in wanted if n != -1)
    if wanted.count(-1) > 1 or min(wanted, default=0) < -1:
        raise ShapeMismatch(f"a tensor {list(shape)} reshaped to {list(wanted)}", where=node.where)
    return tuple(math.prod(shape) // max(rest, 1) if n == -1 else n for n in wanted)


def flatten(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Flatten to a matrix."""
    x = r.value(node, 0)
    shape = r.type(x).shape
    axis = node.integer("axis", 1, low=-len(shape), high=len(shape))
    axis = axis + len(shape) if axis < 0 else axis
    return [r.apply(Reshape((math.prod(shape[:axis]), math.prod(shape[axis:]))), [x], node)]


def squeeze(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Squeeze: axes of size 1 gone, all of them where none is named."""
    x = r.value(node, 0)
    shape = r.type(x).shape
    given = r.integers(node, 1, "axes")
    axes = r.axes(node, given, len(shape)) if given is not None else tuple(i for i, n in enumerate(shape) if n == 1)
    if any(shape[a] != 1 for a in axes):
        raise ShapeMismatch(f"axes {list(axes)} of a tensor {list(shape)} are not 1", where=node.where)
    return [r.apply(Reshape(tuple(n for i, n in enumerate(shape) if i not in axes)), [x], node)]


def unsqueeze(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Unsqueeze: new axes of size 1."""
    x = r.value(node, 0)
    given = r.integers(node, 1, "axes")
    if given is None:
        raise ShapeMismatch("the axes are missing", where=node.where)
    rank = r.rank(x) + len(given)
    axes, sizes = r.axes(node, given, rank), iter(r.type(x).shape)
    return [r.apply(Reshape(tuple(1 if i in axes else next(sizes) for i in range(rank))), [x], node)]


def transpose(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Transpose."""
    x = r.value(node, 0)
    perm = node.integers("perm", tuple(reversed(range(r.rank(x)))))
    return [r.apply(Transpose(perm), [x], node)]


def concat(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Concat; what has no elements adds none."""
    inputs = r.given(node)
    return [joined(r, node, inputs, r.axis(node, inputs[0]))]


def joined(r: Reading, node: OnnxNode, inputs: Sequence[str], axis: int) -> str:
    """Tensors behind each other along an axis; what has no elements adds none."""
    op, kinds = Concat(axis), [r.type(i) for i in inputs]
    op.infer(kinds)
    parts = [i for i, kind in zip(inputs, kinds, strict=True) if 0 not in kind.shape]
    return r.apply(op, parts or inputs, node)


def split(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Split into parts of given sizes, or as even as can be."""
    x = r.value(node, 0)
    shape, axis = r.type(x).shape, r.axis(node, x, 0)
    parts = node.integer("num_outputs", len(node.outputs))
    if parts != len(node.outputs):
        raise ShapeMismatch(f"num_outputs is {parts}, and it has {len(node.outputs)}", where=node.where)
    sizes = r.integers(node, 1, "split") or _even(shape[axis], parts)
    return parts_of(r, node, x, axis, sizes)


def parts_of(r: Reading, node: OnnxNode, x: str, axis: int, sizes: Sequence[int]) -> list[str]:
    """Parts of a tensor along an axis, called as the node's outputs; the sizes must add up to the tensor's."""
    shape = r.type(x).shape
    if len(sizes) != len(node.outputs) or sum(sizes) != shape[axis] or min(sizes, default=0) < 0:
        raise ShapeMismatch(f"a tensor {list(shape)} split into {list(sizes)} along axis {axis}", where=node.where)
    results, start = [], 0
    for output, size in zip(node.outputs, sizes, strict=True):
        starts, counts = [0] * len(shape), list(shape)
        starts[axis], counts[axis] = start, size
        op = Slice(tuple(starts), tuple(counts), (1,) * len(shape))
        results.append(r.apply(op, [x], _writing(node, output)))
        start += size
    return results


def _even(size: int, parts: int) -> tuple[int, ...]:
    each = -(-size // parts)
    return tuple(min(each, max(size - i * each, 0)) for i in range(parts))


def _writing(node: OnnxNode, output: str) -> OnnxNode:
    """The node as if it wrote one output only."""
    return replace(node, outputs=(output,))


def slice_op(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Slice: starts, ends, axes and steps; bounds beyond the tensor are its bounds."""
    x = r.value(node, 0)
    shape = r.type(x).shape
    starts, ends = r.integers(node, 1, "starts"), r.integers(node, 2, "ends")
    if starts is None or ends is None or len(starts) != len(ends):
        raise ShapeMismatch("the starts and ends do not fit each other", where=node.where)
    axes = r.axes(node, r.integers(node, 3, "axes") or tuple(range(len(starts))), len(shape))
    steps = r.integers(node, 4, "steps") or (1,) * len(starts)
    if not len(axes) == len(steps) == len(starts) or 0 in steps:
        raise ShapeMismatch(f"starts {list(starts)}, axes {list(axes)}, steps {list(steps)}", where=node.where)
    ranges = [range(n) for n in shape]
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        ranges[axis] = range(*slice(start, _end(end, step, shape[axis]), step).indices(shape[axis]))
    op = Slice(tuple(g.start if len(g) else 0 for g in ranges), tuple(map(len, ranges)), tuple(g.step for g in ranges))
    return [r.apply(op, [x], node)]


def _end(end: int, step: int, size: int) -> int | None:
    """The end as Python's slices have it: before the first element is None where the step goes backwards."""
    return None if step < 0 and end < -size else end


def pad(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Pad by constants, the edge, a mirror, or around."""
    x = r.value(node, 0)
    rank = r.rank(x)
    pads = r.integers(node, 1, "pads")
    given = r.integers(node, 3, "axes")
    axes = tuple(range(rank)) if given is None else r.axes(node, given, rank)
    if pads is None or len(pads) != 2 * len(axes):
        raise ShapeMismatch(f"pads {list(pads or ())} for {len(axes)} axes", where=node.where)
    before, after = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = pads[i], pads[i + len(axes)]
    mode = node.string("mode", "constant", _PAD_MODES)
    value = node.real("value", 0.0) if r.optional(node, 2) is None else float(r.number(node, 2))
    return [r.apply(Pad(tuple(before), tuple(after), mode, value), [x], node)]  # type: ignore[arg-type]


def expand(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Expand."""
    return [r.apply(Expand(r.int_list(node, 1)), [r.value(node, 0)], node)]


def tile(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Tile."""
    return [r.apply(Tile(r.int_list(node, 1)), [r.value(node, 0)], node)]


def gather(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Gather; constant positions are inside the tensor."""
    x, at = r.value(node, 0), r.value(node, 1)
    axis = r.axis(node, x, 0)
    check_positions(r, node, at, r.type(x).shape[axis : axis + 1])
    return [r.apply(Gather(axis), [x, at], node)]


def depth_to_space(r: Reading, node: OnnxNode) -> Sequence[str]:
    """DepthToSpace."""
    return _blocks(r, node, DepthToSpace)


def space_to_depth(r: Reading, node: OnnxNode) -> Sequence[str]:
    """SpaceToDepth."""
    return _blocks(r, node, SpaceToDepth)


def _blocks(r: Reading, node: OnnxNode, kind: type[DepthToSpace] | type[SpaceToDepth]) -> Sequence[str]:
    mode: BlockMode = "CRD" if node.string("mode", "DCR", ("DCR", "CRD")) == "CRD" else "DCR"
    return [r.apply(kind(node.integer("blocksize", low=1, high=1 << 16), mode), [r.value(node, 0)], node)]


def range_of(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Range of known bounds."""
    start, limit, step = (r.number(node, i) for i in range(3))
    if step == 0 or not abs((float(limit) - float(start)) / float(step)) <= MAX_ELEMENTS:
        raise AttributeBad(f"a range from {start} to {limit} in steps of {step}", where=node.where)
    return [r.constant(node.outputs[0], np.arange(start, limit, step, dtype=r.type(r.value(node, 0)).dtype))]


def dropout(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Dropout outside training: the tensor itself, and a mask that keeps everything."""
    training, ratio = r.optional_const(node, 2), r.optional_const(node, 1)
    drops = ratio is None or bool(np.any(ratio != 0))
    if (training is not None and np.any(training) and drops) or node.integer("is_test", 1) == 0:
        raise TrainingForm.of("Dropout with training_mode true", node.where)
    x = r.value(node, 0)
    if not any(node.outputs[1:]):
        return [x]
    return [x, r.constant(node.outputs[1], np.ones(r.type(x).shape, bool))]


TRANSLATORS: Table = {
    ("", "Concat"): concat,
    ("", "Constant"): constant,
    ("", "ConstantOfShape"): constant_of_shape,
    ("", "DepthToSpace"): depth_to_space,
    ("", "Dropout"): dropout,
    ("", "Expand"): expand,
    ("", "Flatten"): flatten,
    ("", "Gather"): gather,
    ("", "Pad"): pad,
    ("", "Range"): range_of,
    ("", "Reshape"): reshape,
    ("", "Shape"): shape_of,
    ("", "Size"): shape_of,
    ("", "Slice"): slice_op,
    ("", "SpaceToDepth"): space_to_depth,
    ("", "Split"): split,
    ("", "Squeeze"): squeeze,
    ("", "Tile"): tile,
    ("", "Transpose"): transpose,
    ("", "Unsqueeze"): unsqueeze,
    (MICROSOFT, "Pad"): pad,
}
