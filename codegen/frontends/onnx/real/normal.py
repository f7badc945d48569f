"""Normalisations.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import AttributeBad, TrainingForm
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.ir.real import FLOAT32
from codegen.real.elementwise import Binary
from codegen.real.movement import Reshape, Transpose
from codegen.real.normal import BatchNorm, InstanceNorm, LayerNorm, LocalResponseNorm, LpNorm

_FACTORS_BY_CHANNEL = 21
"""Operator set since which GroupNormalization has a factor for each channel, before for each group."""
_NO_FACTORS = {"ones": np.ones, "zeros": np.zeros}


def batch_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """BatchNormalization outside training."""
    if node.flag("training_mode") or any(node.outputs[1:]):
        raise TrainingForm.of("BatchNormalization in training", node.where)
    inputs = [r.value(node, i) for i in range(5)]
    return [r.apply(BatchNorm(node.real("epsilon", 1e-5)), inputs, node)]


def instance_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """InstanceNormalization."""
    return [r.apply(InstanceNorm(_epsilon(node)), [r.value(node, i) for i in range(3)], node)]


def layer_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """LayerNormalization in float32 whose mean and deviation nobody asks for; nothing otherwise."""
    x = r.value(node, 0)
    if any(node.outputs[1:]) or r.type(x).dtype != FLOAT32 or node.integer("stash_type", 1) != 1:
        return ()
    return [r.apply(LayerNorm(r.axis(node, x, -1), _epsilon(node)), r.given(node, 2), node)]


def rms_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """RMSNormalization in float32; nothing otherwise."""
    x = r.value(node, 0)
    if r.type(x).dtype != FLOAT32 or node.integer("stash_type", 1) != 1:
        return ()
    return [r.apply(LayerNorm(r.axis(node, x, -1), _epsilon(node), centred=False), [x, r.value(node, 1)], node)]


def mean_variance_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """MeanVarianceNormalization in float32: that of the axes that it names, which stand last then; nothing otherwise.

    ONNX adds 1e-9 to the deviation; a variance with its square has that root where it is 0, and elsewhere nothing of it
    is left in float32 either.
    """
    x = r.value(node, 0)
    rank = r.rank(x)
    axes = sorted(r.axes(node, node.integers("axes") if node.has("axes") else (0, 2, 3), rank))
    kept = [i for i in range(rank) if i not in axes]
    if not axes or r.type(x).dtype != FLOAT32:
        return ()
    perm = (*kept, *axes)
    turned = x if perm == tuple(range(rank)) else r.apply(Transpose(perm), [x], node, "last")
    one = r.constant(f"{node.name}:one", np.ones(1, np.float32))
    normal = r.apply(LayerNorm(len(kept), 1e-18), [turned, one], node, "" if turned == x else "normal")
    back = tuple(int(i) for i in np.argsort(perm))
    return [normal if turned == x else r.apply(Transpose(back), [normal], node)]


def group_normalization(r: Reading, node: OnnxNode) -> Sequence[str]:
    """GroupNormalization in float32 with factors for each channel, as an instance's; nothing otherwise."""
    x, scale, bias = (r.value(node, i) for i in range(3))
    shape = r.type(x).shape
    groups = node.integer("num_groups", low=1, high=1 << 20)
    alike = len(shape) > 2 and {r.type(scale).shape, r.type(bias).shape} == {shape[1:2]} and not shape[1] % groups
    if not alike or r.opset < _FACTORS_BY_CHANNEL or r.type(x).dtype != FLOAT32:
        return ()
    ones, zeros = (r.constant(f"{node.name}:{word}", f(groups, np.float32)) for word, f in _NO_FACTORS.items())
    grouped = r.apply(Reshape((shape[0], groups, math.prod(shape[1:]) // groups)), [x], node)
    normal = r.apply(InstanceNorm(_epsilon(node)), [grouped, ones, zeros], node)
    along = Reshape((shape[1], *(1,) * (len(shape) - 2)))
    scaled = r.apply(Binary("Mul"), [r.apply(Reshape(shape), [normal], node), r.apply(along, [scale], node)], node)
    return [r.apply(Binary("Add"), [scaled, r.apply(along, [bias], node)], node)]


def _epsilon(node: OnnxNode) -> float:
    """What is added to a variance that the network computes, which may be 0: below 0 there would be no root."""
    epsilon = node.real("epsilon", 1e-5)
    if epsilon < 0:
        raise AttributeBad(f"attribute epsilon is {epsilon:g}", where=node.where)
    return epsilon


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
    ("", "GroupNormalization"): group_normalization,
    ("", "InstanceNormalization"): instance_normalization,
    ("", "LRN"): local_response_normalization,
    ("", "LayerNormalization"): layer_normalization,
    ("", "LpNormalization"): lp_normalization,
    ("", "MeanVarianceNormalization"): mean_variance_normalization,
    ("", "RMSNormalization"): rms_normalization,
}
