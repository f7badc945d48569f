"""Weights that are sent apart from the code: other ones of the same layers have to fit what is compiled now.

Decides: that kernels are told so of every layer's weights where they are a file, or come through a buffer.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.ir.graph import Graph
from codegen.ops import Conv2D, Dense
from codegen.options import Options


def sent(graph: Graph, options: Options) -> Graph:
    """The graph whose weights say that they are sent, if they are."""
    if options.weights != "blob" and not options.weights_buffer:
        return graph
    weights = {node.inputs[1] for node in graph.nodes if isinstance(node.op, Conv2D | Dense)}
    values = {n: replace(v, type=replace(v.type, sent=True)) for n, v in graph.values.items() if n in weights}
    return replace(graph, values={**graph.values, **values})
