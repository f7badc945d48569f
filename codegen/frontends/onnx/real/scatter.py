"""Gathers and scatters by tensors of positions.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table
from codegen.real.scatter import CacheWrite, GatherElements, GatherND, ScatterElements, ScatterND

_REDUCTIONS = ("none", "add", "mul", "max", "min")


def gather_elements(r: Reading, node: OnnxNode) -> Sequence[str]:
    """GatherElements."""
    x, at = r.value(node, 0), r.value(node, 1)
    axis = r.axis(node, x, 0)
    check_positions(r, node, at, r.type(x).shape[axis : axis + 1])
    return [r.apply(GatherElements(axis), [x, at], node)]


def gather_nd(r: Reading, node: OnnxNode) -> Sequence[str]:
    """GatherND."""
    op, x, at = GatherND(node.integer("batch_dims", 0, low=0)), r.value(node, 0), r.value(node, 1)
    made = r.apply(op, [x, at], node)
    check_positions(r, node, at, r.type(x).shape[op.batch :][: r.type(at).shape[-1]])
    return [made]


def scatter_elements(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ScatterElements, and Scatter as it was called before."""
    x = r.value(node, 0)
    op = ScatterElements(r.axis(node, x, 0), node.string("reduction", "none", _REDUCTIONS))  # type: ignore[arg-type]
    check_positions(r, node, r.value(node, 1), r.type(x).shape[op.axis : op.axis + 1])
    return [r.apply(op, [r.value(node, i) for i in range(3)], node)]


def scatter_nd(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ScatterND."""
    op = ScatterND(node.string("reduction", "none", _REDUCTIONS))  # type: ignore[arg-type]
    x, at, updates = (r.value(node, i) for i in range(3))
    made = r.apply(op, [x, at, updates], node)
    check_positions(r, node, at, r.type(x).shape[: r.type(at).shape[-1]])
    return [made]


def tensor_scatter(r: Reading, node: OnnxNode) -> Sequence[str]:
    """TensorScatter: without positions, from the start."""
    cache = r.value(node, 0)
    at = r.optional(node, 2)
    if at is None:
        at = r.constant(f"{node.outputs[0]}:start", np.zeros(r.type(cache).shape[:1], np.int64))
    circular = node.string("mode", "linear", ("linear", "circular")) == "circular"
    return [r.apply(CacheWrite(r.axis(node, cache, -2), circular), [cache, r.value(node, 1), at], node)]


def check_positions(r: Reading, node: OnnxNode, at: str, sizes: Sequence[int]) -> None:
    """LAM-IMPORT-014 where constant positions are outside the axes of these sizes, the last axis one for each."""
    known = r.values[at].data
    if known is None or not known.size or not sizes:
        return
    if (known < -np.array(sizes)).any() or (known >= np.array(sizes)).any():
        spoken = f"an axis of {sizes[0]}" if len(sizes) == 1 else f"axes of {', '.join(map(str, sizes))}"
        raise ShapeMismatch(f"positions outside {spoken}", where=node.where)


TRANSLATORS: Table = {
    ("", "GatherElements"): gather_elements,
    ("", "GatherND"): gather_nd,
    ("", "Scatter"): scatter_elements,
    ("", "ScatterElements"): scatter_elements,
    ("", "ScatterND"): scatter_nd,
    ("", "TensorScatter"): tensor_scatter,
    (MICROSOFT, "GatherND"): gather_nd,
}
