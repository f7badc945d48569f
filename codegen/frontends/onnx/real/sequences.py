"""Sequences of tensors, resolved while the model is read: which tensors are in each is known then.

Decides: that positions and sizes are constant, so that nothing is left of a sequence but its tensors.
Source: onnx/docs/Operators.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, NotATensor, ShapeMismatch
from codegen.frontends.onnx.nodes import OnnxNode, text_of
from codegen.frontends.onnx.real.control import inlined
from codegen.frontends.onnx.real.movement import joined, parts_of
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.real.movement import Reshape


def construct(r: Reading, node: OnnxNode) -> Sequence[str]:
    """SequenceConstruct, and SequenceEmpty, which has no inputs."""
    return [r.new_sequence(node, r.given(node))]


def insert(r: Reading, node: OnnxNode) -> Sequence[str]:
    """SequenceInsert: before a position, at the end when there is none."""
    parts, new = list(r.sequence(node, 0)), r.value(node, 1)
    parts.insert(_position(r, node, 2, len(parts), len(parts)), new)
    return [r.new_sequence(node, parts)]


def erase(r: Reading, node: OnnxNode) -> Sequence[str]:
    """SequenceErase: the tensor at a position, the last one when there is none."""
    parts = list(r.sequence(node, 0))
    del parts[_position(r, node, 1, len(parts) - 1, len(parts) - 1)]
    return [r.new_sequence(node, parts)]


def at(r: Reading, node: OnnxNode) -> Sequence[str]:
    """SequenceAt."""
    parts = r.sequence(node, 0)
    r.value(node, 1)
    return [parts[_position(r, node, 1, len(parts) - 1, 0)]]


def length(r: Reading, node: OnnxNode) -> Sequence[str]:
    """SequenceLength."""
    return [r.constant(node.outputs[0], np.array(len(r.sequence(node, 0)), np.int64))]


def _position(r: Reading, node: OnnxNode, index: int, last: int, default: int) -> int:
    """The place that an input names, counted from the end where it is negative; at most `last`."""
    given = default if r.optional(node, index) is None else r.whole_number(node, index)
    count = len(r.sequence(node, 0))
    if not -count <= given <= last:
        raise ShapeMismatch(f"position {given} in a sequence of {count} tensors", where=node.where)
    return given + count if given < 0 else given


def split_to_sequence(r: Reading, node: OnnxNode) -> Sequence[str]:
    """SplitToSequence: parts of one size, the last one what is left, or of given sizes, or single entries."""
    x = r.value(node, 0)
    axis = r.axis(node, x, 0)
    size = r.type(x).shape[axis]
    sizes = (1,) * size
    given = r.optional_const(node, 1)
    if given is not None:
        sizes = _counted(r, node, size) if given.ndim == 0 else r.int_list(node, 1)
    names = [f"{node.outputs[0]}/{i}" for i in range(len(sizes))]
    parts = parts_of(r, replace(node, outputs=tuple(names)), x, axis, sizes)
    if given is None and not node.flag("keepdims", True):
        shape = r.type(x).shape
        alone = Reshape((*shape[:axis], *shape[axis + 1 :]))
        parts = [r.apply(alone, [p], node, f"entry{i}") for i, p in enumerate(parts)]
    return [r.new_sequence(node, parts)]


def _counted(r: Reading, node: OnnxNode, size: int) -> tuple[int, ...]:
    """As many parts of one size as an axis has, and what is left."""
    each = r.whole_number(node, 1)
    if each < 1:
        raise ShapeMismatch(f"parts of size {each}", where=node.where)
    return tuple(min(each, size - start) for start in range(0, size, each))


def concat_from_sequence(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ConcatFromSequence: its tensors joined along an axis, or along a new one."""
    parts = r.sequence(node, 0)
    if not parts:
        raise FormUnsupported("a sequence without tensors, joined", where=node.where)
    axis, new = node.integer("axis"), node.flag("new_axis")
    shape = r.type(parts[0]).shape
    (axis,) = r.axes(node, (axis,), len(shape) + new)
    if new:
        alone = Reshape((*shape[:axis], 1, *shape[axis:]))
        parts = tuple(r.apply(alone, [p], node, f"part{i}") for i, p in enumerate(parts))
    return [joined(r, node, parts, axis)]


def sequence_map(r: Reading, node: OnnxNode) -> Sequence[str]:
    """SequenceMap: its body for each tensor of a sequence, with those at the same place in further ones."""
    body, count = node.graph("body"), len(r.sequence(node, 0))
    names = [text_of(i.name) for i in body.input]
    given = [r.any_value(node, i) for i in range(len(node.inputs))]
    sides = [r.sequences.get(value, (value,) * count) for value in given]
    if len(names) != len(sides) or any(len(side) < count for side in sides):
        raise ShapeMismatch("the inputs do not fit the body, or each other", where=node.where)
    made = [
        inlined(r, node, body, {name: side[i] for name, side in zip(names, sides, strict=True)}, f"/{i}")
        for i in range(count)
    ]
    if any(value in r.sequences for values in made for value in values):
        raise NotATensor.of("what the body gives is a sequence each", node.where)
    return [r.new_sequence(node, [values[i] for values in made]) for i in range(len(body.output))]


TRANSLATORS: Table = {
    ("", "ConcatFromSequence"): concat_from_sequence,
    ("", "SequenceAt"): at,
    ("", "SequenceConstruct"): construct,
    ("", "SequenceEmpty"): construct,
    ("", "SequenceErase"): erase,
    ("", "SequenceInsert"): insert,
    ("", "SequenceLength"): length,
    ("", "SequenceMap"): sequence_map,
    ("", "SplitToSequence"): split_to_sequence,
}
