"""Float networks made of quantized ones, for want of files of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from codegen.frontends import read_real, real_bytes
from codegen.ir.real import RealGraph, RealNode, RealType, RealValue
from codegen.quantizer.rewrite.exact import rewritten
from codegen.real.elementwise import Binary
from codegen.real.engine import numbers_of
from codegen.real.product import Gemm
from codegen.real.window import Conv

_SPREAD = 1.5
"""Channels are made larger or smaller by up to 2 to this."""


def dequantized(source: Path, made: Path) -> Path:
    """The real numbers of a quantized TFLite network's weights, as a float ONNX file."""
    graph = read_real(source)
    values = {
        v.name: replace(v, stored=None)
        if v.data is None or v.stored is None
        else RealValue(v.name, RealType(v.data.shape), numbers_of(v))
        for v in graph.values.values()
    }
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_bytes(real_bytes(replace(graph, values=values)))
    return made


def off_its_grid(source: Path, made: Path, seed: int = 0) -> Path:
    """The network with weights that no grid of 8 bits holds.

    Where nothing but sums lies between products, each channel is scaled by a factor that the readers divide by, which
    changes nothing; weights that this does not reach are moved by up to half a step.
    """
    graph = rewritten(read_real(source))
    rng = np.random.default_rng(seed)
    numbers = {v.name: numbers_of(v).astype(np.float64) for v in graph.values.values() if v.data is not None}
    reached: set[str] = set()
    for values in _streams(graph):
        makers = [n for n in graph.nodes if n.outputs[0] in values and isinstance(n.op, Conv)]
        readers = [n for n in graph.nodes if set(n.inputs) & values and isinstance(n.op, Conv)]
        factor = np.exp2(rng.uniform(-_SPREAD, _SPREAD, graph.type(next(iter(values))).shape[1]))
        for node in makers:
            numbers[node.inputs[1]] *= factor[:, None, None, None]
            numbers[node.inputs[2]] *= factor
        for node in readers:
            numbers[node.inputs[1]] /= factor[:, None, None]
            reached.add(node.inputs[1])
    for node in graph.nodes:
        if isinstance(node.op, Conv | Gemm) and node.inputs[1] not in reached:
            weights = numbers[node.inputs[1]]
            along = tuple(range(1, weights.ndim))
            steps = np.abs(weights).max(axis=along, keepdims=True) / 127
            numbers[node.inputs[1]] = weights + rng.uniform(-0.5, 0.5, weights.shape) * steps
    values_now = {
        v.name: v if v.data is None or not v.type.is_real else replace(v, data=numbers[v.name].astype(np.float32))
        for v in graph.values.values()
    }
    made.write_bytes(real_bytes(replace(graph, values=values_now)))
    return made


def _streams(graph: RealGraph) -> list[set[str]]:
    """Values that convolutions make and convolutions read, with what sums make of them."""
    streams: list[set[str]] = []
    for node in graph.nodes:
        if not _is_linear(graph, node):
            continue
        joined = {node.outputs[0], *(node.inputs if isinstance(node.op, Binary) else ())}
        met = [s for s in streams if s & joined]
        streams = [s for s in streams if not s & joined] + [joined.union(*met)]
    return streams


def _is_linear(graph: RealGraph, node: RealNode) -> bool:
    """Whether a convolution, or a sum, has readers of these two kinds only."""
    if not (isinstance(node.op, Conv) or node.op == Binary("Add")) or node.outputs[0] in graph.outputs:
        return False
    return all(isinstance(n.op, Conv) or n.op == Binary("Add") for n in graph.readers(node.outputs[0]))
