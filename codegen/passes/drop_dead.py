"""drop_dead: nothing is computed, and nothing kept, that no output depends on."""

from __future__ import annotations

from codegen.ir.graph import Graph
from codegen.passes.contract import graph_pass
from codegen.passes.draft import without_dead


@graph_pass()
def drop_dead(graph: Graph) -> Graph:
    """Drop nodes whose results nobody reads, states that no output feels, and values that nothing reads or writes."""
    result = without_dead(graph, graph.nodes)
    same = len(result.nodes) == len(graph.nodes) and len(result.values) == len(graph.values)
    return graph if same else result
