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
from codegen.quantizer.asked import Asking
from codegen.quantizer.masked import Row, floors, rows
from codegen.quantizer.places import Constant, Places, Tensor
from codegen.quantizer.ranges import range_of, stored_for
from codegen.quantizer.scheme import Scheme, Weight
from codegen.quantizer.spec import Spec
from codegen.quantizer.statistics import Statistics
from codegen.quantizer.weights import least_scales, quantized, rounded

_BIAS = np.dtype(np.int32)
_WIDE = 16
_ROOM = 2.0
"""Times what samples say of an activation, where integers are wide: others may go further, and it costs one bit."""
_OF_EXTREMES = ("minmax", "moving_average", "fixed")
"""Methods that look at least and greatest numbers only."""


def watched(places: Places, asking: Asking) -> dict[str, Statistics]:
    """What is to see the tensors whose ranges are not known without samples."""
    seen: dict[str, Statistics] = {}
    read = rows(places.graph)
    for tensor in places.tensors:
        if not tensor.like and tensor.bounds is None:
            row = read.get(tensor.name, Row((), np.inf))
            seen[tensor.name] = Statistics(_spec(tensor, asking).bins, row.axes, row.depth)
        elif tensor.tied and tensor.like in seen:
            seen[tensor.name] = seen[tensor.like]
    return seen


def passes(places: Places, asking: Asking) -> int:
    """How often the samples must be seen: twice where a method looks at histograms."""
    return 2 if any(_spec(t, asking).method not in _OF_EXTREMES for t in places.tensors) else 1


def _spec(tensor: Tensor, asking: Asking) -> Spec:
    return asking.spec(tensor.role, layer=tensor.layer, op_type=tensor.op_type, tensor=tensor.name)


def scheme_of(places: Places, seen: Mapping[str, Statistics], asking: Asking) -> Scheme:
    """The integers of everything, from the ranges that were seen."""
    tensors = tensors_of(places, seen, asking)
    return Scheme(tensors, weights_of(places, tensors, asking, least=floors(places, seen)))


def tensors_of(places: Places, seen: Mapping[str, Statistics], asking: Asking) -> dict[str, Stored]:
    """The integers of what the network is given and computes."""
    found: dict[str, Stored] = {}
    least = floors(places, seen)
    for tensor in places.tensors:
        spec = _spec(tensor, asking)
        if spec.keep_float:
            continue
        if tensor.like in found:
            found[tensor.name] = found[tensor.like]
        elif not tensor.like:
            found[tensor.name] = _stored(tensor, seen, spec, least.get(tensor.name, -np.inf))
    return found


def _stored(tensor: Tensor, seen: Mapping[str, Statistics], spec: Spec, least: float) -> Stored:
    if spec.low is not None:
        return stored_for(*range_of(seen.get(tensor.name) or Statistics(), spec), spec)
    if tensor.bounds is None:
        low, high = _widened(tensor, range_of(seen.get(tensor.name) or Statistics(), spec), spec)
        return stored_for(max(low, min(least, 0.0)), high, spec)
    return natural(*tensor.bounds, spec)


def _widened(tensor: Tensor, found: tuple[float, float], spec: Spec) -> tuple[float, float]:
    """The range with room for what samples did not show, where integers are wide enough."""
    if spec.bits < _WIDE:
        return found
    low, high = found
    known = tensor.role == "input" or tensor.reach or tensor.headroom > 1
    room = tensor.headroom if known else _ROOM
    return min(room * low, -tensor.reach), max(room * high, tensor.reach)


def natural(low: float, high: float, spec: Spec) -> Stored:
    """Integers of numbers between 0 or -1, and 1: steps of a power of two, of which 1 itself is one too many."""
    used = spec.bits - (low < 0 or spec.centred) * spec.signed
    zero = 0 if spec.centred or low < 0 else spec.least
    scale = np.array([(high - max(low, 0.0)) / 2.0**used], np.float32)
    return replace(stored_for(low, high, spec), scale=scale, zero_point=np.array([zero], np.int64))


def weights_of(
    places: Places,
    tensors: Mapping[str, Stored],
    asking: Asking,
    given: Mapping[tuple[str, int], Weight] | None = None,
    *,
    least: Mapping[str, float],
) -> dict[tuple[str, int], Weight]:
    """The integers of the constants, those that are `given` among them; a node whose input stays real keeps its own.

    `least` are the least numbers that matter of some, by name.
    """
    made: dict[tuple[str, int], Weight] = {}
    for constant in places.constants:
        spec = asking.spec(constant.role, layer=constant.layer, op_type=constant.op_type, tensor=constant.name)
        known = (given or {}).get(constant.key)
        known = known or _masked(places, constant, spec, least)
        weight = known or (None if spec.keep_float else _constant(places, constant, tensors, made, spec))
        if weight is not None:
            made[constant.key] = weight
    return made


def _masked(places: Places, constant: Constant, spec: Spec, least: Mapping[str, float]) -> Weight | None:
    """The integers of a mask that is added; None for any other constant, and where it stays real."""
    if constant.role != "activation" or constant.name not in least or spec.keep_float:
        return None
    data = np.maximum(_numbers(places, constant), np.float32(min(least[constant.name], 0.0)))
    stored = stored_for(float(data.min()), float(data.max()), spec)
    return Weight(_integers(data, stored, spec), stored)


def _constant(
    places: Places,
    constant: Constant,
    tensors: Mapping[str, Stored],
    made: Mapping[tuple[str, int], Weight],
    spec: Spec,
) -> Weight | None:
    """One constant's integers; None where it stays real."""
    if constant.role == "bias":
        return _bias(places, constant, tensors, made, spec)
    data = _numbers(places, constant)
    if constant.role == "activation":
        stored = stored_for(float(data.min()), float(data.max()), spec)
        return Weight(_integers(data, stored, spec), stored)
    node = places.node(constant)
    reads = tensors.get(node.inputs[1 - constant.place])
    if reads is None:
        return None
    if constant.axis is None:
        return quantized(data, spec, None)
    held = tensors.get(places.held_as(node.outputs[0]))
    writes = None if held is None else _scale(held)
    outputs = data.shape[constant.axis]
    floor = least_scales(_sizes(places, node, outputs), _scale(reads), writes, outputs)
    return quantized(data, spec, constant.axis, floor=floor)


def _scale(stored: Stored) -> float:
    return float(stored.scale.reshape(-1)[0])


def _sizes(places: Places, node: RealNode, outputs: int) -> Array | None:
    """How large a product's bias is at each of its outputs, in the largest of its groups; None without one."""
    bias = next((c for c in places.of(node) if c.role == "bias"), None)
    data = None if bias is None else np.abs(_numbers(places, bias).reshape(-1))
    return None if data is None or data.size % outputs else data.reshape(-1, outputs).max(axis=0)


def _bias(
    places: Places,
    constant: Constant,
    tensors: Mapping[str, Stored],
    made: Mapping[tuple[str, int], Weight],
    spec: Spec,
) -> Weight | None:
    """A bias at the scale of its product; None where that is not known."""
    reads, weight = tensors.get(places.node(constant).inputs[0]), made.get((constant.label, 1))
    data = _numbers(places, constant)
    if reads is None or weight is None or weight.stored.block or weight.stored.scale.size not in (1, data.size):
        return None
    scale = (np.float32(_scale(reads)) * weight.stored.scale.reshape(-1)).astype(np.float32)
    axis = constant.axis if scale.size > 1 else None
    stored = Stored(_BIAS, scale, np.zeros(scale.size, np.int64), axis)
    return Weight(_integers(data, stored, spec), stored)


def _numbers(places: Places, constant: Constant) -> Array:
    data = places.value(constant).data
    assert data is not None, constant.name
    return data


def _integers(data: Array, stored: Stored, spec: Spec) -> Array:
    """The nearest integers."""
    scale, zero = stored.spread(data.shape)
    steps = rounded(data.astype(np.float64) / scale.astype(np.float64), spec.rounding) + zero
    return np.asarray(np.clip(steps, stored.low, stored.high).astype(stored.dtype))
