"""Operators along one axis, and triangles.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import AttributeBad, ShapeMismatch
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.elementwise import read_dtype
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table
from codegen.real.along import Hardmax, OneHot, ReverseSequence, TopK, Triangle
from codegen.real.cumulative import CumulativeProduct, CumulativeSum
from codegen.real.movement import Gather, Reshape
from codegen.settle.builder import MAX_ELEMENTS


def top_k(r: Reading, node: OnnxNode) -> Sequence[str]:
    """TopK: k is an attribute before operator set 10."""
    x = r.value(node, 0)
    count = node.integer("k") if node.has("k") else r.whole_number(node, 1)
    op = TopK(count, r.axis(node, x, -1), node.flag("largest", True))
    node.flag("sorted", True)
    return r.apply_all(op, [x], node)


def running(r: Reading, node: OnnxNode) -> Sequence[str]:
    """CumSum and CumProd."""
    x = r.value(node, 0)
    (axis,) = r.axes(node, (r.whole_number(node, 1),), r.rank(x))
    kind = CumulativeProduct if node.op_type == "CumProd" else CumulativeSum
    return [r.apply(kind(axis, node.flag("exclusive"), node.flag("reverse")), [x], node)]


def triangle(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Trilu."""
    offset = 0 if r.optional(node, 1) is None else r.whole_number(node, 1)
    return [r.apply(Triangle(node.flag("upper", True), offset), [r.value(node, 0)], node)]


def eye_like(r: Reading, node: OnnxNode) -> Sequence[str]:
    """EyeLike: a constant."""
    kind = r.type(r.value(node, 0))
    if len(kind.shape) != 2:
        raise ShapeMismatch(f"a diagonal of a tensor {list(kind.shape)}", where=node.where)
    dtype = read_dtype(node, "dtype") if node.has("dtype") else kind.dtype
    offset = node.integer("k", 0, low=-MAX_ELEMENTS, high=MAX_ELEMENTS)
    return [r.constant(node.outputs[0], np.eye(*kind.shape, offset, dtype))]


def one_hot(r: Reading, node: OnnxNode) -> Sequence[str]:
    """OneHot."""
    at = r.value(node, 0)
    rank = r.rank(at) + 1
    depth = r.whole_number(node, 1)
    if not 1 <= depth <= MAX_ELEMENTS:
        raise AttributeBad(f"{depth} entries", where=node.where)
    (axis,) = r.axes(node, (node.integer("axis", -1),), rank)
    return [r.apply(OneHot(depth, axis), [at, r.value(node, 2)], node)]


def reverse_sequence(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ReverseSequence."""
    op = ReverseSequence(node.integer("time_axis", 0, low=0, high=1), node.integer("batch_axis", 1, low=0, high=1))
    x, lengths = r.value(node, 0), r.value(node, 1)
    made = r.apply(op, [x, lengths], node)
    known, steps = r.values[lengths].data, r.type(x).shape[op.time]
    if known is not None and ((known < 0) | (known > steps)).any():
        raise ShapeMismatch(f"lengths outside 0 .. {steps}", where=node.where)
    return [made]


def hardmax(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Hardmax: along one axis, before operator set 13 over all axes from that one on."""
    x = r.value(node, 0)
    if r.opset >= 13:
        return [r.apply(Hardmax((r.axis(node, x, -1),)), [x], node)]
    return [r.apply(Hardmax(tuple(range(r.axis(node, x, 1), r.rank(x)))), [x], node)]


def compress(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Compress by a constant condition, which may be shorter than the axis."""
    x = r.value(node, 0)
    places = np.flatnonzero(r.const(node, 1))
    if not node.has("axis"):
        x = r.apply(Reshape((int(np.prod(r.type(x).shape)),)), [x], node, "flat")
    axis = r.axis(node, x, 0) if node.has("axis") else 0
    if places.size and places[-1] >= r.type(x).shape[axis]:
        raise ShapeMismatch(f"a condition longer than an axis of {r.type(x).shape[axis]}", where=node.where)
    at = r.constant(f"{node.outputs[0]}:places", places.astype(np.int64))
    return [r.apply(Gather(axis), [x, at], node)]


TRANSLATORS: Table = {
    ("", "Compress"): compress,
    ("", "CumProd"): running,
    ("", "CumSum"): running,
    ("", "EyeLike"): eye_like,
    ("", "Hardmax"): hardmax,
    ("", "OneHot"): one_hot,
    ("", "ReverseSequence"): reverse_sequence,
    ("", "TopK"): top_k,
    ("", "Trilu"): triangle,
    (MICROSOFT, "Trilu"): triangle,
}
