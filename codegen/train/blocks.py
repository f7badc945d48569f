"""The parts of a network that are reconstructed one after the other: its layers, or its blocks.

Decides: a layer is an operator with what becomes part of it (a bias, an activation); a block ends at a tensor through
which everything passes, so that what goes around some layers and is added behind them is in one block with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.ir.real import RealGraph, RealNode
from codegen.quantizer.places import Places
from codegen.records import record


@record
class Part:
    """Nodes by their labels, the tensors from before that they read, those that they give, and their weights."""

    nodes: tuple[str, ...]
    reads: tuple[str, ...]
    gives: tuple[str, ...]
    weights: tuple[tuple[str, int], ...]


def layers_of(graph: RealGraph, places: Places) -> list[Part]:
    """Each layer by itself, in an order in which they can run."""
    return [_part(graph, places, layer) for layer in _layers(graph, places)]


def blocks_of(graph: RealGraph, places: Places) -> list[Part]:
    """Layers up to each tensor that is all of what the rest of the network reads."""
    found: list[Part] = []
    block: list[RealNode] = []
    layers = list(_layers(graph, places))
    for at, layer in enumerate(layers):
        block += layer
        later = {name for other in layers[at + 1 :] for node in other for name in node.inputs}
        known = (*graph.inputs, *(o for other in layers[: at + 1] for node in other for o in node.outputs))
        if len(later.intersection(known)) < 2:
            found.append(_part(graph, places, block))
            block = []
    return [*found, _part(graph, places, block)] if block else found


def _layers(graph: RealGraph, places: Places) -> Iterator[list[RealNode]]:
    """Each node that is part of no other, with those that are part of it."""
    taken: set[str] = set()
    for node in graph.nodes:
        layer = [node]
        while layer[-1].outputs[0] in places.folded:
            layer.append(graph.readers(layer[-1].outputs[0])[0])
        if node.label not in taken:
            taken.update(n.label for n in layer)
            yield layer


def _part(graph: RealGraph, places: Places, nodes: Sequence[RealNode]) -> Part:
    made = {o for node in nodes for o in node.outputs}
    inside = {node.label for node in nodes}
    known = {name for name, value in graph.values.items() if value.data is not None}
    reads = dict.fromkeys(i for node in nodes for i in node.inputs if i not in made and i not in known)
    outside = {i for node in graph.nodes if node.label not in inside for i in node.inputs} | set(graph.outputs)
    weights = tuple(c.key for node in nodes for c in places.of(node) if c.role == "weights")
    gives = dict.fromkeys(o for node in nodes for o in node.outputs if o in outside)
    return Part(tuple(node.label for node in nodes), tuple(reads), tuple(gives), weights)
