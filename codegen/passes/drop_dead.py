"""drop_dead: nothing is computed that no output depends on."""

from __future__ import annotations

from codegen.ir.graph import Graph
from codegen.passes.contract import graph_pass
from codegen.passes.draft import live_nodes


@graph_pass()
def drop_dead(graph: Graph) -> Graph:
    """Drop nodes whose results nobody reads, and values that nothing reads or writes."""
    result = graph.with_nodes(live_nodes(graph.nodes, set(graph.output_values)))
    same = len(result.nodes) == len(graph.nodes) and len(result.values) == len(graph.values)
    return graph if same else result
