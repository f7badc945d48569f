"""How many samples can be at a node together.

Decides: tensors of the float network and of the held one are in memory, and what an operator needs besides.  A network
begins with the samples that fit at its widest place; others follow where the rest of it is narrower.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate

from codegen.ir.real import RealGraph
from codegen.quantizer.live import in_order

_BYTES = 256 << 20
"""Of all samples' tensors, while a network is run on them at once."""
_NETWORKS = 2


def samples_at_once(graph: RealGraph) -> int:
    """How many samples fit everywhere."""
    return _fitting(max(_needs(graph), default=0))


def joins(graph: RealGraph, count: int) -> dict[int, range]:
    """Samples by the number of the node that they are first at: twice as many as before, or all that there are."""
    behind = list(accumulate(reversed(list(_needs(graph))), max))[::-1] or [0]
    found = {0: range(min(count, _fitting(behind[0])))}
    here = found[0].stop
    for index, most in enumerate(behind):
        room = min(count, _fitting(most))
        if room > here and (room == count or room >= 2 * here):
            found[index], here = range(here, room), room
    return found


def _fitting(need: int) -> int:
    return max(1, _BYTES // (_NETWORKS * max(need, 1)))


def _needs(graph: RealGraph) -> Iterator[int]:
    """Bytes of one sample in one network, while each node runs."""
    live = {name: _bytes(graph, name) for name in graph.inputs}
    for node, forgotten in in_order(graph):
        live |= {name: _bytes(graph, name) for name in node.outputs}
        yield sum(live.values()) + _bytes(graph, node.outputs[0])
        for name in forgotten:
            live.pop(name, None)


def _bytes(graph: RealGraph, name: str) -> int:
    return 4 * math.prod(graph.type(name).shape)
