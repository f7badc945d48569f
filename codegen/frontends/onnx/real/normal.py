"""Normalisations.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.errors import FormUnsupported
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading
from codegen.real.normal import BatchNorm


def batch_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """BatchNormalization outside training."""
    if node.flag("training_mode") or any(node.outputs[1:]):
        raise FormUnsupported("BatchNormalization in training", where=node.where)
    inputs = [r.value(node, i) for i in range(5)]
    return [r.apply(BatchNorm(node.real("epsilon", 1e-5)), inputs, node)]
