"""Normalisations.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.errors import FormUnsupported
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.real.normal import BatchNorm, InstanceNorm, LocalResponseNorm, LpNorm


def batch_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """BatchNormalization outside training."""
    if node.flag("training_mode") or any(node.outputs[1:]):
        raise FormUnsupported("BatchNormalization in training", where=node.where)
    inputs = [r.value(node, i) for i in range(5)]
    return [r.apply(BatchNorm(node.real("epsilon", 1e-5)), inputs, node)]


def instance_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """InstanceNormalization."""
    return [r.apply(InstanceNorm(node.real("epsilon", 1e-5)), [r.value(node, i) for i in range(3)], node)]


def local_response_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """LRN."""
    size = node.integer("size", low=1, high=1 << 20)
    op = LocalResponseNorm(size, node.real("alpha", 1e-4), node.real("beta", 0.75), node.real("bias", 1.0))
    return [r.apply(op, [r.value(node, 0)], node)]


def lp_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """LpNormalization."""
    x = r.value(node, 0)
    return [r.apply(LpNorm(r.axis(node, x, -1), node.integer("p", 2, low=1, high=2)), [x], node)]


TRANSLATORS: Table = {
    ("", "BatchNormalization"): batch_normalization,
    ("", "InstanceNormalization"): instance_normalization,
    ("", "LRN"): local_response_normalization,
    ("", "LpNormalization"): lp_normalization,
}
