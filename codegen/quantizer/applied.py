"""Writes a Scheme into a RealGraph: a Quantize and a Dequantize behind each tensor, integers for each constant.

Decides: names.  What the scheme does not mention stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from codegen.ir.names import free_name
from codegen.ir.real import RealGraph, RealNode, RealType, RealValue, Stored
from codegen.quantizer.scheme import Scheme, Weight
from codegen.real.storage import Dequantize, Quantize


def applied(graph: RealGraph, scheme: Scheme) -> RealGraph:
    """The graph as the scheme has it; constants that nothing reads any more are still there."""
    return _Applying(graph, scheme).whole()


class _Applying:
    def __init__(self, graph: RealGraph, scheme: Scheme) -> None:
        self._graph, self._scheme = graph, scheme
        self._values = dict(graph.values)
        self._named: dict[str, str] = {}
        self._weights: dict[str, list[tuple[str, Weight]]] = {}

    def whole(self) -> RealGraph:
        nodes = [pair for name in self._graph.inputs for pair in self._pair(name, None)]
        for node in self._graph.nodes:
            nodes.append(replace(node, inputs=tuple(self._input(node, i) for i in range(len(node.inputs)))))
            nodes += [pair for name in node.outputs for pair in self._pair(name, node)]
        outputs = tuple(self._named.get(o, o) for o in self._graph.outputs)
        made = replace(self._graph, values=self._values, nodes=tuple(nodes), outputs=outputs)
        return replace(made, faces=self._graph.faces or self._graph.outputs)

    def _input(self, node: RealNode, place: int) -> str:
        """What a node reads: real numbers out of integers, the scheme's integers of a constant, or as ever."""
        name = node.inputs[place]
        weight = self._scheme.weights.get((node.label, place))
        return self._named.get(name, name) if weight is None else self._constant(name, weight)

    def _constant(self, name: str, weight: Weight) -> str:
        """The value of these integers: that which another reader of the constant has, where they are the same."""
        known = self._weights.setdefault(name, [])
        made = next((value for value, other in known if _same(weight, other)), None)
        if made is None:
            bits = weight.stored.bits or 8 * weight.stored.dtype.itemsize
            made = free_name(f"{name}:int{bits}", self._values, ".")
            self._values[made] = RealValue(made, RealType(weight.data.shape), weight.data, weight.stored)
            known.append((made, weight))
        return made

    def _pair(self, name: str, maker: RealNode | None) -> Iterator[RealNode]:
        """Quantize and Dequantize of a tensor."""
        stored = self._scheme.tensors.get(name)
        if stored is None:
            return
        held, real = (
            free_name(f"{name}:{stored.dtype.name}", self._values, "."),
            free_name(f"{name}:real", self._values, "."),
        )
        shape = self._graph.type(name).shape
        self._values[held] = RealValue(held, RealType(shape, stored.dtype))
        self._values[real] = RealValue(real, RealType(shape))
        self._named[name] = real
        shown = self._shown(name, maker)
        yield RealNode(held, Quantize(stored), (name,), (held,), *shown, name)
        yield RealNode(real, Dequantize(stored), (held,), (real,), *shown, name)

    def _shown(self, name: str, maker: RealNode | None) -> tuple[str, str]:
        """The model's node that a pair stands with."""
        node = maker or next(iter(self._graph.readers(name)), None)
        return (node.name, node.op_type) if node else (name, "Input")


def _same(one: Weight, other: Weight) -> bool:
    """Whether two constants are the same integers, and mean the same."""
    return one is other or (
        _said(one.stored) == _said(other.stored)
        and np.array_equal(one.stored.scale, other.stored.scale)
        and np.array_equal(one.stored.zero_point, other.stored.zero_point)
        and np.array_equal(one.data, other.data)
    )


def _said(stored: Stored) -> tuple[object, ...]:
    return stored.dtype, stored.axis, stored.block, stored.bits


def stored_of(graph: RealGraph) -> dict[str, Stored]:
    """How each tensor of a graph is held that has a Quantize of its own."""
    return {node.inputs[0]: node.op.stored for node in graph.nodes if isinstance(node.op, Quantize)}
