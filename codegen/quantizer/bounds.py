"""Between which numbers a layer's result goes on to the integers that hold it.

Decides: bounds are those of activations that become part of the layer, and the ends of the integers.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from codegen.ir.real import RealGraph, RealNode, Stored
from codegen.quantizer.scheme import Scheme
from codegen.real.elementwise import Binary, Clip, Function


class Bounds:
    """Those of one network; `biases` are the constants that a node behind a product may add."""

    def __init__(self, graph: RealGraph, scheme: Scheme, biases: Collection[str]) -> None:
        self._tensors, self._biases = scheme.tensors, biases
        self._readers: dict[str, list[RealNode]] = {}
        for node in graph.nodes:
            for name in set(node.inputs):
                self._readers.setdefault(name, []).append(node)

    def of(self, name: str) -> tuple[float, float]:
        """The least and the greatest number of a result that get through."""
        low, high = -np.inf, np.inf
        while name not in self._tensors and len(self._readers.get(name, ())) == 1:
            (node,) = self._readers[name]
            through = self._let_through(node)
            if through is None:
                return low, high
            low, high, name = max(low, through[0]), min(high, through[1]), node.outputs[0]
        stored = self._tensors.get(name)
        if stored is None:
            return low, high
        return max(low, _end(stored, stored.low)), min(high, _end(stored, stored.high))

    def _let_through(self, node: RealNode) -> tuple[float, float] | None:
        """What an activation or the sum with a bias lets through; None for other operators."""
        if isinstance(node.op, Clip):
            return node.op.low, node.op.high
        if node.op == Function("Relu"):
            return 0.0, np.inf
        adds = node.op == Binary("Add") and any(name in self._biases for name in node.inputs)
        return (-np.inf, np.inf) if adds else None


def _end(stored: Stored, integer: int) -> float:
    return float(stored.scale.reshape(-1)[0]) * (integer - int(stored.zero_point.reshape(-1)[0]))
