"""Numbers that lie so far below the greatest of their row that Softmax makes nothing of them: masks of attention.

Decides: how far that is, and which tensors such numbers stand in: what Softmax reads, and what is added to make that of
scores.  They take no room in the integers of either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir.real import RealGraph, RealNode, RealOp
from codegen.quantizer.places import Places
from codegen.quantizer.statistics import Statistics
from codegen.real.elementwise import Binary, Where
from codegen.real.reduce import Softmax
from codegen.records import record

DEPTH = 16.0
"""Below the greatest number of a row: exp(-16) is a tenth of a step of 16 bits, after a thousand of them were added."""
_DEEP = -1e4
"""Far below any score."""
_LOWEST = float(np.finfo(np.float32).min) / 2


@record
class Row:
    """The axes that Softmax adds over, and how far below the greatest number of a row it makes nothing of others."""

    axes: tuple[int, ...]
    depth: float


def rows(graph: RealGraph) -> dict[str, Row]:
    """What Softmax alone reads, by the name of the tensor."""
    found: dict[str, Row | None] = dict.fromkeys(graph.outputs)
    for node in graph.nodes:
        row = _row(node.op)
        for name in node.inputs:
            found[name] = row if found.get(name, row) == row else None
    return {name: row for name, row in found.items() if row is not None}


def _row(op: RealOp) -> Row | None:
    if isinstance(op, Softmax) and not op.log and op.beta > 0:
        return Row(tuple(op.axes), DEPTH / op.beta)
    return None


def floors(places: Places, seen: Mapping[str, Statistics]) -> dict[str, float]:
    """The least number that matters of what is added to scores, tensors and constants, by name."""
    found: dict[str, float] = {}
    made = {name: node for node in places.graph.nodes for name in node.outputs}
    for name in rows(places.graph):
        node, total = made.get(name), seen.get(places.held_as(name))
        if node is None or total is None or node.op != Binary("Add"):
            continue
        for one, other in (node.inputs, node.inputs[::-1]):
            scores = seen.get(places.held_as(other))
            if scores is not None and np.isfinite(total.low - scores.high):
                key = places.held_as(one)
                found[key] = min(found.get(key, np.inf), total.low - scores.high)
    return found


def finite_masks(graph: RealGraph) -> RealGraph:
    """The network without -inf among constants that are added or picked, and none far below all scores before Softmax.

    Softmax makes the same of it, but where a whole row is masked, of which it made no number.
    """
    read, least = rows(graph), dict[str, float]()
    for node in graph.nodes:
        for name in _addends(node):
            lowest = _DEEP if node.outputs[0] in read else _LOWEST
            least[name] = min(least.get(name, lowest), lowest)
    values = dict(graph.values)
    for name, lowest in least.items():
        value = values[name]
        if value.data is not None and value.data.dtype.kind == "f" and (value.data < lowest).any():
            values[name] = replace(value, data=np.maximum(value.data, np.float32(lowest)))
    return replace(graph, values=values)


def _addends(node: RealNode) -> tuple[str, ...]:
    if isinstance(node.op, Where):
        return node.inputs[1:]
    return node.inputs if node.op == Binary("Add") else ()
