"""Gathers and scatters by tensors of positions.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.real.scatter import CacheWrite, GatherElements, GatherND, ScatterElements, ScatterND

_REDUCTIONS = ("none", "add", "mul", "max", "min")


def gather_elements(r: Reading, node: OnnxNode) -> Sequence[str]:
    """GatherElements."""
    x = r.value(node, 0)
    return [r.apply(GatherElements(r.axis(node, x, 0)), [x, r.value(node, 1)], node)]


def gather_nd(r: Reading, node: OnnxNode) -> Sequence[str]:
    """GatherND."""
    op = GatherND(node.integer("batch_dims", 0, low=0))
    return [r.apply(op, [r.value(node, 0), r.value(node, 1)], node)]


def scatter_elements(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ScatterElements, and Scatter as it was called before."""
    x = r.value(node, 0)
    op = ScatterElements(r.axis(node, x, 0), node.string("reduction", "none", _REDUCTIONS))  # type: ignore[arg-type]
    return [r.apply(op, [r.value(node, i) for i in range(3)], node)]


def scatter_nd(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ScatterND."""
    op = ScatterND(node.string("reduction", "none", _REDUCTIONS))  # type: ignore[arg-type]
    return [r.apply(op, [r.value(node, i) for i in range(3)], node)]


def tensor_scatter(r: Reading, node: OnnxNode) -> Sequence[str]:
    """TensorScatter: without positions, from the start."""
    cache = r.value(node, 0)
    at = r.optional(node, 2)
    if at is None:
        at = r.constant(f"{node.outputs[0]}:start", np.zeros(r.type(cache).shape[:1], np.int64))
    circular = node.string("mode", "linear", ("linear", "circular")) == "circular"
    return [r.apply(CacheWrite(r.axis(node, cache, -2), circular), [cache, r.value(node, 1), at], node)]


TRANSLATORS: Table = {
    ("", "GatherElements"): gather_elements,
    ("", "GatherND"): gather_nd,
    ("", "Scatter"): scatter_elements,
    ("", "ScatterElements"): scatter_elements,
    ("", "ScatterND"): scatter_nd,
    ("", "TensorScatter"): tensor_scatter,
}
