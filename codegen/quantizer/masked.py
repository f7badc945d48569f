"""Numbers that lie so far below the greatest of their row that Softmax makes nothing of them: masks of attention.

Decides: how far that is, and which tensors such numbers stand in: what Softmax alone reads, and what is added to make
that of scores and is read by nobody else.  They take no room in the integers of either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir.real import RealGraph, RealNode, RealOp
from codegen.quantizer.places import Places
from codegen.quantizer.statistics import Statistics
from codegen.real.elementwise import Binary, Where
from codegen.real.movement import MOVING, Concat, Pad
from codegen.real.reduce import Softmax
from codegen.records import record

DEPTH = 16.0
"""Below the greatest number of a row: exp(-16) is a tenth of a step of 16 bits, after a thousand of them were added."""
_LOWEST = np.finfo(np.float32).min / np.float32(2)
_ADD = Binary("Add")


@record
class Row:
    """The axes that Softmax adds over, and how far below the greatest number of a row it makes nothing of others."""

    axes: tuple[int, ...]
    depth: float


def rows(graph: RealGraph) -> dict[str, Row]:
    """What Softmax alone reads, by the name of the tensor; what is only moved to it has other axes, and is left out."""
    found: dict[str, Row | None] = dict.fromkeys(graph.outputs)
    for node in graph.nodes:
        row = _row(node.op)
        for name in node.inputs:
            found[name] = row if found.get(name, row) == row else None
    moved = {name for node in graph.nodes if isinstance(node.op, MOVING) for name in node.outputs}
    return {name: row for name, row in found.items() if row is not None and name not in moved}


def _row(op: RealOp) -> Row | None:
    if isinstance(op, Softmax) and not op.log and op.beta > 0:
        return Row(tuple(op.axes), DEPTH / op.beta)
    return None


def floors(places: Places, seen: Mapping[str, Statistics]) -> dict[str, float]:
    """The least number that matters of what is added before Softmax, and read there alone, by its own name."""
    alone, found = _unread_besides(places.graph), dict[str, float]()
    held = {t.name: t.like or t.name for t in places.tensors}
    total_of = rows(places.graph)
    for node in places.graph.nodes:
        total = seen.get(held.get(node.outputs[0], "")) if node.op == _ADD and node.outputs[0] in total_of else None
        for one, other in (node.inputs, node.inputs[::-1]) if total is not None else ():
            high = _high(places, seen.get(held.get(other, "")), other)
            key = held.get(one, one)
            if total is not None and one in alone and key in alone and np.isfinite(total.low - high):
                found[key] = min(found.get(key, np.inf), total.low - high)
    several = {t.like for t in places.tensors if t.like and t.name not in alone}
    return {name: least for name, least in found.items() if name not in several}


def _high(places: Places, seen: Statistics | None, name: str) -> float:
    """The greatest number of a tensor or a constant, where it is known."""
    data = places.graph.values[name].data
    return seen.high if seen is not None else float("nan") if data is None else float(data.max())


def finite_masks(graph: RealGraph) -> RealGraph:
    """The network with a number that is as low as none in place of -inf that is added or picked, for Softmax alone.

    Softmax makes the same of it, but where a whole row is masked, of which it made no number.
    """
    alone, values, nodes = _unread_besides(graph), dict(graph.values), list[RealNode]()
    for node in graph.nodes:
        masks = node.outputs[0] in alone and (isinstance(node.op, Where) or node.op == _ADD)
        ins = list(node.inputs)
        for place, name in enumerate(ins) if masks else ():
            data = values[name].data
            if data is not None and data.dtype.kind == "f" and np.isneginf(data).any():
                ins[place] = f"{name}:finite"
                values[ins[place]] = replace(values[name], name=ins[place], data=np.maximum(data, _LOWEST))
        nodes.append(node if tuple(ins) == node.inputs else replace(node, inputs=tuple(ins)))
    return replace(graph, values=values, nodes=tuple(nodes))


def _unread_besides(graph: RealGraph) -> frozenset[str]:
    """Tensors and constants of which Softmax alone makes something: read by it, or added, picked or moved to be."""
    readers: dict[str, list[RealNode]] = defaultdict(list)
    for node in graph.nodes:
        for name in dict.fromkeys(node.inputs):
            readers[name].append(node)
    found = set(rows(graph))
    for node in reversed(graph.nodes):
        for name in node.inputs:
            ways = [r.outputs[0] in found and _hands_on(r, name) for r in readers[name]]
            if all(ways) and name not in graph.outputs:
                found.add(name)
    return frozenset(found)


def _hands_on(node: RealNode, name: str) -> bool:
    if isinstance(node.op, Where):
        return name != node.inputs[0]
    return (
        node.op == _ADD
        or isinstance(node.op, Concat)
        or (isinstance(node.op, (*MOVING, Pad)) and name == node.inputs[0])
    )
