"""A float network as a quantizer would leave it: int8, weights per channel, ranges made up.

Decides: which tensors are quantized: all but those that the next node makes part of their maker.  Counts and sizes are
those of the real thing; results are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode, RealType, RealValue, Stored
from codegen.real.elementwise import Binary, Clip, Function, PRelu
from codegen.real.movement import Concat
from codegen.real.normal import BatchNorm
from codegen.real.product import Gemm, MatMul
from codegen.real.reduce import Softmax
from codegen.real.storage import Dequantize, Quantize
from codegen.real.window import Conv, ConvTranspose

_INT8 = np.dtype(np.int8)
_STEP = (1 / 16, 0)
"""Of a tensor of which nobody knows the range: -8 .. 8."""
_SHARE = (1 / 256, -128)
"""Of a probability."""
_SIGNED_SHARE = (1 / 128, 0)
"""Of a hyperbolic tangent."""
_FUNCTIONS = {"Sigmoid": _SHARE, "HardSigmoid": _SHARE, "Tanh": _SIGNED_SHARE}
_PRODUCTS = (Conv, ConvTranspose, Gemm, MatMul)


def rehearsed(graph: RealGraph) -> RealGraph:
    """The graph with every real tensor quantized by made-up scales."""
    return _Rehearsal(graph).whole()


class _Rehearsal:
    def __init__(self, graph: RealGraph) -> None:
        self._graph = graph
        self._values = dict(graph.values)
        self._readers: dict[str, list[RealNode]] = {}
        for node in graph.nodes:
            for name in node.inputs:
                self._readers.setdefault(name, []).append(node)
        self._named: dict[str, str] = {}
        self._open: set[str] = set()

    def whole(self) -> RealGraph:
        nodes = [pair for name in self._graph.inputs for pair in self._pair(name, None)]
        for node in self._graph.nodes:
            self._quantize_constants(node)
            nodes.append(replace(node, inputs=tuple(self._named.get(i, i) for i in node.inputs)))
            self._open.update(name for name in node.outputs if self._is_folded(node, name))
            nodes += [pair for name in node.outputs if name not in self._open for pair in self._pair(name, node)]
        outputs = tuple(self._named.get(o, o) for o in self._graph.outputs)
        return replace(self._graph, values=self._values, nodes=tuple(nodes), outputs=outputs)

    def _pair(self, name: str, maker: RealNode | None) -> Iterator[RealNode]:
        """Quantize and Dequantize of a real tensor."""
        kind = self._graph.type(name)
        if not kind.is_real:
            return
        scale, zero = _range(maker)
        stored = Stored(_INT8, np.array([scale], np.float32), np.array([zero], np.int64))
        reader = maker or next(iter(self._readers.get(name, [])), None)
        shown = (reader.name, reader.op_type) if reader else (name, "Input")
        held, real = f"{name}:int8", f"{name}:real"
        self._values[held] = RealValue(held, RealType(kind.shape, _INT8))
        self._values[real] = RealValue(real, RealType(kind.shape))
        self._named[name] = real
        yield RealNode(held, Quantize(stored), (name,), (held,), *shown, name)
        yield RealNode(real, Dequantize(stored), (held,), (real,), *shown, name)

    def _is_folded(self, node: RealNode, name: str) -> bool:
        """Whether the next node becomes part of this one: an activation, a bias."""
        readers = self._readers.get(name, [])
        if len(readers) != 1 or name in self._graph.outputs or not isinstance(node.op, (*_PRODUCTS, BatchNorm, Binary)):
            return False
        reader = readers[0].op
        if isinstance(reader, Clip) or (isinstance(reader, Function) and reader.name == "Relu"):
            return True
        known = any(self._values[i].data is not None for i in readers[0].inputs)
        is_bias = isinstance(node.op, MatMul) and isinstance(reader, Binary) and reader.kind == "Add" and known
        return is_bias or (isinstance(node.op, _PRODUCTS) and isinstance(reader, BatchNorm))

    def _quantize_constants(self, node: RealNode) -> None:
        if any(i in self._open for i in node.inputs):
            return  # it becomes part of a product that waits for its scale: its constant is a bias or a factor
        for place, axis in _places(node).items():
            value = self._values[node.inputs[place]]
            data = value.data
            if data is not None and value.stored is None and data.dtype.kind == "f" and data.size > 1:
                name = f"{value.name}:int8{'' if axis is None else axis}"
                ints, stored = _as_int8(data, axis if axis is not None and axis < data.ndim else None)
                self._values[name] = RealValue(name, RealType(data.shape), ints, stored)
                self._named[value.name] = name


def _range(maker: RealNode | None) -> tuple[float, int]:
    if maker is None:
        return _STEP
    if isinstance(maker.op, Softmax) and not maker.op.log:
        return _SHARE
    return _FUNCTIONS.get(maker.op.name, _STEP) if isinstance(maker.op, Function) else _STEP


def _places(node: RealNode) -> dict[int, int | None]:
    """Inputs whose constants a quantizer makes integers, and the axis along which their scale varies."""
    match node.op:
        case Conv():
            return {1: 0}
        case ConvTranspose():
            return {1: 1}
        case Gemm() | MatMul():
            return {0: None, 1: None}
        case PRelu():
            return {1: None}
        case Concat():
            return dict.fromkeys(range(len(node.inputs)))
        case Binary(kind="Add" | "Sub" | "Mul"):
            return {0: None, 1: None}
        case _:
            return {}


def _as_int8(data: Array, axis: int | None) -> tuple[Array, Stored]:
    """The constant as a quantizer stores it: symmetric, with one scale per slice of `axis`."""
    array = data.astype(np.float64)
    others = tuple(i for i in range(array.ndim) if i != axis) if axis is not None else None
    largest = np.nan_to_num(np.abs(array).max(axis=others, keepdims=True), nan=1.0, posinf=1.0)
    scale = np.maximum(largest / 127, 1e-6).astype(np.float32)
    ints = np.clip(np.rint(np.nan_to_num(array) / scale), -127, 127).astype(np.int8)
    return ints, Stored(_INT8, scale.reshape(-1), np.zeros(scale.size, np.int64), axis)
