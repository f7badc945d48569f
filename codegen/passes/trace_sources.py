"""trace_sources: a tensor that holds a model tensor's numbers says so, in whichever layout it is stored."""

from __future__ import annotations

from dataclasses import replace

from codegen.ir.graph import Graph, Value
from codegen.ir.permutation import Perm, inverse, then
from codegen.ops.answers import permutation
from codegen.passes.contract import graph_pass


@graph_pass()
def trace_sources(graph: Graph) -> Graph:
    """Give each side of a Transpose the other side's `source`, where it has none.

    Run before Transposes are removed: the NHWC result of a convolution then stands for the model's NCHW tensor, and
    can be compared with it after the NCHW twin is gone.  A Reshape that only moves axes of size 1 counts as one.
    """
    values = dict(graph.values)
    for node in (*graph.nodes, *reversed(graph.nodes)):
        perm = permutation(node.op, graph.type(node.inputs[0])) if node.inputs else None
        if perm is not None:
            x, y = node.inputs[0], node.outputs[0]
            _pass_on(values, x, y, perm)
            _pass_on(values, y, x, inverse(perm))
    if all(values[name].source == old.source for name, old in graph.values.items()):
        return graph
    return replace(graph, values=values)


def _pass_on(values: dict[str, Value], giver: str, taker: str, perm: Perm) -> None:
    """When `taker = transpose(giver, perm)`, it is the same tensor of the model, stored otherwise."""
    given = values[giver]
    if given.source and not values[taker].source:
        values[taker] = replace(values[taker], source=given.source, perm=then(given.perm, perm))
