"""What stands in for samples where there are none: what BatchNormalization knows of a network, and made-up inputs.

Decides: inputs are noise, half of it alike in neighbours, with the mean and the size at which the first
BatchNormalization is given what it knew in training; without one, with mean 0 and deviation 1.  Results of
BatchNormalization are taken as normally distributed, and range over six deviations.
Source: M. Nagel and others, Data-Free Quantization Through Weight Equalization and Bias Correction (arXiv 1906.04721).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode
from codegen.quantizer.live import tensors_held
from codegen.quantizer.scheme import Scheme
from codegen.real.elementwise import Clip, Function
from codegen.real.engine import numbers_of
from codegen.real.normal import BatchNorm
from codegen.records import record

_DEVIATIONS = 6.0
_NEIGHBOURS = 4


@record(eq=False)
class Belief:
    """What is known of a tensor without samples: its range, and the mean of each of its numbers."""

    low: float
    high: float
    mean: Array


def beliefs(graph: RealGraph) -> dict[str, Belief]:
    """What BatchNormalization says of its results, and of those of ReLU and Clip behind it."""
    found: dict[str, Belief] = {}
    for node in graph.nodes:
        normal = _normal(graph, node)
        if normal is not None:
            found[node.outputs[0]] = _cut(graph, node, *normal, (-math.inf, math.inf))
            for reader in graph.readers(node.outputs[0]):
                bounds = _bounds(reader)
                if bounds is not None:
                    found[reader.outputs[0]] = _cut(graph, node, *normal, bounds)
    return found


def _normal(graph: RealGraph, node: RealNode) -> tuple[Array, Array] | None:
    """Mean and deviation of each channel that BatchNormalization gives."""
    if not isinstance(node.op, BatchNorm) or any(graph.values[i].data is None for i in node.inputs[1:3]):
        return None
    scale, offset = (numbers_of(graph.values[i]).astype(np.float64) for i in node.inputs[1:3])
    return offset, np.maximum(np.abs(scale), 1e-12)


def _bounds(node: RealNode) -> tuple[float, float] | None:
    if isinstance(node.op, Clip):
        return node.op.low, node.op.high
    return (0.0, math.inf) if node.op == Function("Relu") else None


def _cut(graph: RealGraph, node: RealNode, mean: Array, deviation: Array, bounds: tuple[float, float]) -> Belief:
    """Of normal numbers cut at both bounds."""
    ends = np.clip([mean - _DEVIATIONS * deviation, mean + _DEVIATIONS * deviation], *bounds)
    shape = graph.type(node.outputs[0]).shape
    along = [1] * len(shape)
    assert isinstance(node.op, BatchNorm), node.op
    along[node.op.channel_axis if len(shape) > 1 else 0] = -1
    middle = np.broadcast_to(_mean(mean, deviation, bounds).reshape(along), shape).astype(np.float32)
    return Belief(float(ends.min()), float(ends.max()), middle)


def _mean(mean: Array, deviation: Array, bounds: tuple[float, float]) -> Array:
    """The mean of min(max(x, low), high), x being normal."""
    low, high = ((b - mean) / deviation for b in bounds)
    total = _below(high) - _below(low)
    slopes = (np.exp(-np.minimum(z * z, 1e4) / 2) / math.sqrt(2 * math.pi) for z in (low, high))
    inner = mean * total + deviation * np.subtract(*slopes)
    ends = [
        0.0 if math.isinf(b) else b * share for b, share in zip(bounds, (_below(low), 1 - _below(high)), strict=True)
    ]
    return np.asarray(inner + ends[0] + ends[1])


def _below(z: Array) -> Array:
    """The share of normal numbers below z deviations."""
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in z])


def made_up(graph: RealGraph, count: int, seed: int = 0) -> tuple[dict[str, Array], bool]:
    """Inputs [count, ...] of a network, and whether BatchNormalization knew their size."""
    rng = np.random.default_rng(seed)
    noise = {name: _noise((count, *graph.type(name).shape), rng) for name in graph.inputs}
    norm = next((n for n in graph.nodes if _normal(graph, n) is not None), None)
    if norm is None:
        return noise, False
    offset, scale = _fitted(graph, norm, noise)
    return {name: (offset + scale * x).astype(np.float32) for name, x in noise.items()}, True


def _noise(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Numbers of deviation 1, of which half the power is common to neighbours along the last axes."""
    alone = rng.normal(0, 1, shape)
    spatial = range(3, len(shape))
    coarse = rng.normal(0, 1, tuple(-(-n // _NEIGHBOURS) if i in spatial else n for i, n in enumerate(shape)))
    for axis in spatial:
        coarse = np.repeat(coarse, _NEIGHBOURS, axis).take(range(shape[axis]), axis)
    return np.asarray((alone + coarse) / math.sqrt(2), np.float32)


def _fitted(graph: RealGraph, norm: RealNode, noise: Mapping[str, Array]) -> tuple[float, float]:
    """Offset and factor with which the noise gives what a BatchNormalization knew."""
    mean, variance = (numbers_of(graph.values[i]).astype(np.float64) for i in norm.inputs[3:5])
    assert isinstance(norm.op, BatchNorm), norm.op
    axis = norm.op.channel_axis + 1 if len(graph.type(norm.inputs[0]).shape) > 1 else 1

    def moments(feeds: dict[str, Array]) -> Iterator[Array]:
        x = tensors_held(graph, Scheme(), feeds, (norm.inputs[0],))[norm.inputs[0]]
        others = tuple(i for i in range(x.ndim) if i != axis)
        yield x.mean(axis=others, dtype=np.float64)
        yield x.var(axis=others, dtype=np.float64)

    zero, _ = moments({n: np.zeros_like(x[:1]) for n, x in noise.items()})
    one, _ = moments({n: np.ones_like(x[:1]) for n, x in noise.items()})
    _, spread = moments(dict(noise))
    slope, alive = one - zero, (spread > 0) & (variance > 0)
    if not alive.any():
        return 0.0, 1.0
    weight = np.where(alive, 1 / np.where(alive, variance, 1.0), 0.0)
    square = float((slope * slope * weight).sum())
    offset = float((slope * (mean - zero) * weight).sum()) / square if square > 0 else 0.0
    return offset, math.exp(float(np.log(variance[alive] / spread[alive]).mean()) / 2)
