"""From what was asked and what was seen to a Scheme: integers for each tensor, each weight and each bias.

Decides: that a bias has 32 bits at the scale of its product, and that weights get larger steps where a bias would not
fit otherwise; that tensors which only move share their integers.  Leaves ranges and rounding to their files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealNode, Stored
from codegen.quantize.asked import Asking
from codegen.quantize.places import Constant, Places, Tensor
from codegen.quantize.ranges import range_of, stored_for
from codegen.quantize.scheme import Scheme, Weight
from codegen.quantize.spec import Spec
from codegen.quantize.statistics import Statistics
from codegen.quantize.weights import least_scales, quantized

_BIAS = np.dtype(np.int32)


def watched(places: Places, asking: Asking) -> dict[str, Statistics]:
    """What is to see the tensors whose ranges are not known without samples."""
    return {t.name: Statistics(_spec(t, asking).bins) for t in places.tensors if not t.like and t.bounds is None}


def _spec(tensor: Tensor, asking: Asking) -> Spec:
    return asking.spec(tensor.role, layer=tensor.layer, op_type=tensor.op_type, tensor=tensor.name)


def scheme_of(places: Places, seen: Mapping[str, Statistics], asking: Asking) -> Scheme:
    """The integers of everything, from the ranges that were seen."""
    tensors = tensors_of(places, seen, asking)
    return Scheme(tensors, weights_of(places, tensors, asking))


def tensors_of(places: Places, seen: Mapping[str, Statistics], asking: Asking) -> dict[str, Stored]:
    """The integers of what the network is given and computes."""
    found: dict[str, Stored] = {}
    for tensor in places.tensors:
        spec = _spec(tensor, asking)
        if spec.keep_float:
            continue
        if tensor.like in found:
            found[tensor.name] = found[tensor.like]
        elif not tensor.like:
            found[tensor.name] = _stored(tensor, seen, spec)
    return found


def _stored(tensor: Tensor, seen: Mapping[str, Statistics], spec: Spec) -> Stored:
    if tensor.bounds is None:
        return stored_for(*range_of(seen[tensor.name], spec), spec)
    return natural(*tensor.bounds, spec)


def natural(low: float, high: float, spec: Spec) -> Stored:
    """Integers of numbers between 0 or -1, and 1: steps of a power of two, of which 1 itself is one too many."""
    used = spec.bits - (low < 0 or spec.symmetric) * spec.signed
    zero = 0 if spec.symmetric or low < 0 else spec.least
    scale = np.array([(high - max(low, 0.0)) / 2.0**used], np.float32)
    return replace(stored_for(low, high, spec), scale=scale, zero_point=np.array([zero], np.int64))


def weights_of(places: Places, tensors: Mapping[str, Stored], asking: Asking) -> dict[tuple[str, int], Weight]:
    """The integers of the constants; a node whose input stays real keeps its own."""
    nodes = {node.label: node for node in places.graph.nodes}
    made: dict[tuple[str, int], Weight] = {}
    for constant in places.constants:
        node = nodes[constant.label]
        if constant.role == "bias":
            weight = _bias(places, node, constant, tensors, made)
        else:
            spec = asking.spec(constant.role, layer=constant.layer, op_type=constant.op_type, tensor=constant.name)
            weight = None if spec.keep_float else _weight(places, node, constant, tensors, spec)
        if weight is not None:
            made[constant.key] = weight
    return made


def _weight(
    places: Places, node: RealNode, constant: Constant, tensors: Mapping[str, Stored], spec: Spec
) -> Weight | None:
    data = _numbers(places, constant)
    if constant.role == "activation":
        stored = stored_for(float(data.min()), float(data.max()), spec)
        return Weight(_rounded(data, stored), stored)
    x = tensors.get(node.inputs[0]) if constant.place else None
    if constant.place and x is None:
        return None
    bias = _bias_of(places, node)
    floor = 0.0 if x is None or bias is None else least_scales(bias, float(x.scale), None, bias.size)
    fits = constant.axis is not None and np.size(floor) in (1, data.shape[constant.axis])
    return quantized(data, spec, constant.axis, floor=floor if fits else np.max(floor))


def _bias_of(places: Places, node: RealNode) -> Array | None:
    """The numbers of a product's bias, where it has one."""
    found = next((c for c in places.constants if c.label == node.label and c.role == "bias"), None)
    return None if found is None else _numbers(places, found).reshape(-1)


def _bias(
    places: Places,
    node: RealNode,
    constant: Constant,
    tensors: Mapping[str, Stored],
    made: Mapping[tuple[str, int], Weight],
) -> Weight | None:
    """A bias at the scale of its product; None where that is not known."""
    x, weight = tensors.get(node.inputs[0]), made.get((node.label, 1))
    data = _numbers(places, constant)
    if x is None or weight is None or weight.stored.scale.size not in (1, data.size):
        return None
    scale = (x.scale.reshape(-1)[0] * weight.stored.scale.reshape(-1)).astype(np.float32)
    axis = constant.axis if scale.size > 1 else None
    stored = Stored(_BIAS, scale, np.zeros(scale.size, np.int64), axis)
    return Weight(_rounded(data, stored), stored)


def _numbers(places: Places, constant: Constant) -> Array:
    data = places.value(constant).data
    assert data is not None, constant.name
    return data


def _rounded(data: Array, stored: Stored) -> Array:
    """The nearest integers."""
    scale, zero = stored.spread(data.shape)
    steps = np.rint(data.astype(np.float64) / scale.astype(np.float64)) + zero
    return np.asarray(np.clip(steps, stored.low, stored.high).astype(stored.dtype))
