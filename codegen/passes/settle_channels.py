"""settle_channels: an output channel that is the same for every input loses its weights.

Training kills channels; quantization then gives them a scale next to nothing, and with it a bias near the end of int32
and the longest shift there is.  One such channel would keep the whole layer from the fast forms of requantization.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from codegen.ir.graph import Graph, Node
from codegen.ir.quant import Array, Requant
from codegen.ops.accumulator import channel_ends
from codegen.ops.answers import is_weighted_sum
from codegen.ops.requantize import scaled
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft

_INT32 = np.iinfo(np.int32)
_HALF = 1 << 30
"""The multiplier of one half (of one quarter of the sum, with the shift of mode `single` below)."""
_FORMS = {"single": (33, 8), "tflite": (-1, 4)}
"""By mode, with that multiplier: the shift, and the sum of the output 1 above the zero point, whatever the rounding."""


@graph_pass()
def settle_channels(graph: Graph) -> Graph:
    """Zero weights, and a bias and a factor that give the one value, for channels that have only one.

    Legal when the least and the greatest sum of the channel requantize alike, for requantization is monotone.
    """
    draft = Draft(graph)
    for node in graph.nodes:
        settled = _settled(graph, node)
        if settled is None:
            draft.keep(node)
            continue
        requant, weights, bias = settled
        op: Any = node.op
        names = [
            draft.value(name, graph.type(name), data=data)
            for name, data in zip(node.inputs[1:], (weights, bias), strict=True)
        ]
        draft.rewrite(node, replace(op, requant=requant), (node.inputs[0], *names))
    return draft.finish()


def _settled(graph: Graph, node: Node) -> tuple[Requant, Array, Array] | None:
    """Requantization, weights and bias of the node with its constant channels settled; None when nothing changes."""
    op: Any = node.op
    if not is_weighted_sum(op) or op.requant is None or op.requant.mode not in _FORMS:
        return None
    requant: Requant = op.requant
    weights, bias = (graph.values[name].data for name in node.inputs[1:3])
    if weights is None or bias is None or not requant.per_channel or max(requant.multiplier) < 1 << 15:
        return None
    ends = channel_ends(weights, bias, op.x_zero_point, graph.type(node.inputs[0]).dtype)
    fits = (ends >= _INT32.min).all(axis=0) & (ends <= _INT32.max).all(axis=0)
    if requant.mode == "tflite":
        fits &= np.array(requant.shift) <= 0
    results = scaled(requant, np.where(fits, ends, 0))
    shift, unit = _FORMS[requant.mode]
    rows = weights.reshape(len(weights), -1)
    constant = fits & (results[0] == results[1])
    multipliers = np.where(constant, _HALF, requant.multiplier)
    shifts = np.where(constant, shift, requant.shift)
    settled = np.where(constant[:, None], 0, rows).astype(weights.dtype).reshape(weights.shape)
    sums = np.where(constant, unit * (results[0] - requant.zero_point), bias).astype(bias.dtype)
    new = replace(requant, multiplier=tuple(multipliers.tolist()), shift=tuple(shifts.tolist()))
    if new == requant and np.array_equal(settled, weights) and np.array_equal(sums, bias):
        return None
    return new, settled, sums
