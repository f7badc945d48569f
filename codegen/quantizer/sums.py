"""What is added to a layer's result behind it, where that is a tensor of the network.

Decides: that nothing but the layer's own bias lies between, so that an error of the other operand is an error of the
layer's result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from codegen.ir.real import RealGraph, RealNode
from codegen.real.elementwise import Binary

_ADD = Binary("Add")


def added_behind(graph: RealGraph, biases: Collection[str]) -> Mapping[str, str]:
    """By the name of an operand of a sum, and of what a bias makes one of, the other operand."""
    readers: dict[str, list[RealNode]] = {}
    for node in graph.nodes:
        for name in node.inputs:
            readers.setdefault(name, []).append(node)
    found: dict[str, str] = {}
    for node in reversed(graph.nodes):
        if node.op != _ADD:
            continue
        for name, other in zip(node.inputs, reversed(node.inputs), strict=True):
            alone = len(readers[name]) == 1 and name not in graph.outputs
            if alone and other in biases and node.outputs[0] in found:
                found[name] = found[node.outputs[0]]
            elif alone and graph.type(name) == graph.type(other) and graph.values[other].data is None:
                found[name] = other
    return found
