"""A float network as a quantizer would leave it: int8, weights per channel, ranges made up.

Decides: the scales that are made up.  Counts and sizes are those of the real thing; results are not.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, Stored
from codegen.quantizer.applied import applied
from codegen.quantizer.places import Constant, Places, Tensor
from codegen.quantizer.scheme import Scheme, Weight

_INT8 = np.dtype(np.int8)
_STEP = (1 / 16, 0)
"""Of a tensor of which nobody knows the range: -8 .. 8."""
_BY_BOUNDS = {(0.0, 1.0): (1 / 256, -128), (-1.0, 1.0): (1 / 128, 0)}
_KERNELS = ("Conv", "ConvTranspose")


def rehearsed(graph: RealGraph) -> RealGraph:
    """The graph with every real tensor quantized by made-up scales."""
    places = Places(graph)
    tensors = {t.name: _made_up(t) for t in places.tensors}
    made: dict[tuple[str, int | None], Weight] = {}
    weights = {}
    for constant in places.constants:
        if constant.role != "bias":
            axis = _axis(places, constant)
            data = places.value(constant).data
            assert data is not None, constant.name
            weights[constant.key] = made.setdefault((constant.name, axis), _as_int8(data, axis))
    return applied(graph, Scheme(tensors, weights))


def _made_up(tensor: Tensor) -> Stored:
    scale, zero = _STEP if tensor.bounds is None else _BY_BOUNDS[tensor.bounds]
    return Stored(_INT8, np.array([scale], np.float32), np.array([zero], np.int64))


def _axis(places: Places, constant: Constant) -> int | None:
    """Kernels have a scale per output channel."""
    node = next(n for n in places.graph.nodes if n.label == constant.label)
    return constant.axis if type(node.op).__name__ in _KERNELS else None


def _as_int8(data: Array, axis: int | None) -> Weight:
    """The constant as a quantizer stores it: symmetric, with one scale per slice of `axis`."""
    array = data.astype(np.float64)
    others = tuple(i for i in range(array.ndim) if i != axis) if axis is not None else None
    largest = np.nan_to_num(np.abs(array).max(axis=others, keepdims=True), nan=1.0, posinf=1.0)
    scale = np.maximum(largest / 127, 1e-6).astype(np.float32)
    ints = np.clip(np.rint(np.nan_to_num(array) / scale), -127, 127).astype(np.int8)
    return Weight(ints, Stored(_INT8, scale.reshape(-1), np.zeros(scale.size, np.int64), axis))
