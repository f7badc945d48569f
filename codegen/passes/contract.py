"""The contract of a pass: what holds before it, what holds after it, checked every time it runs.

Decides nothing about graphs.  A pass is a pure function Graph -> Graph that returns its argument itself when it
finds nothing to do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from codegen.ir.graph import Graph
from codegen.ir.verify import verify_graph

GraphPass = Callable[[Graph], Graph]
Condition = Callable[[Graph], bool]


@functools.lru_cache(maxsize=1)
def well_formed(graph: Graph) -> bool:
    """Whether the graph meets the invariants of its form; `verify_graph` raises what it finds.

    A Graph is immutable: what the last pass left checked is not checked again before the next one.
    """
    verify_graph(graph)
    return True


def same_interface(before: Graph, after: Graph) -> bool:
    """Whether user-visible inputs and outputs are the same: names, order, types (the values may be others).

    States that nothing depends on may go; the others begin as before.
    """
    states = {(s.name, before.type(s.value), id(s.initial)) for s in before.states}
    kept = {(s.name, after.type(s.value), id(s.initial)) for s in after.states}
    return _ports(before) == _ports(after) and kept <= states


def graph_pass(
    *, requires: Condition = well_formed, ensures: Condition = well_formed
) -> Callable[[GraphPass], GraphPass]:
    """Wrap a rewrite with its contract: a violation is a bug of ours, so it is an assertion."""

    def decorate(rewrite: GraphPass) -> GraphPass:
        @functools.wraps(rewrite)
        def checked(graph: Graph) -> Graph:
            name = getattr(rewrite, "__name__", "pass")
            assert requires(graph), f"{name}: the graph does not meet the requirement {requires}"
            result = rewrite(graph)
            if result is graph:
                return graph
            assert ensures(result), f"{name}: the result does not meet the promise {ensures}"
            assert same_interface(graph, result), f"{name}: the interface changed"
            return result

        return checked

    return decorate


def _ports(graph: Graph) -> tuple[object, ...]:
    return tuple(
        (p.name, p.model_shape, p.model_dtype, p.perm, graph.type(p.value)) for p in (*graph.inputs, *graph.outputs)
    )
