"""drop_taps: a convolution loses the rows and columns of its weights that only ever see padding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ir.shape import Span
from codegen.ops.answers import inner_taps
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft


@graph_pass()
def drop_taps(graph: Graph) -> Graph:
    """Cut constant weights to the taps that some output finds inside the input: 3x3 on a map of one column to 3x1.

    Legal for operators to whose sums padding adds nothing.  Weights that come apart from the network stay as they are.
    """
    draft = Draft(graph)
    for node in graph.nodes:
        found = _inner(graph, node)
        if found is None:
            draft.keep(node)
        else:
            op, rows, columns = found
            x, weights, *others = node.inputs
            draft.rewrite(node, op, (x, _cut(draft, weights, rows, columns), *others))
    return draft.finish()


def _inner(graph: Graph, node: Node) -> tuple[Op, Span, Span] | None:
    if len(node.inputs) < 2:
        return None
    weights = graph.values[node.inputs[1]]
    held = weights.data is not None and not weights.type.sent
    return inner_taps(node.op, graph.type(node.inputs[0])) if held else None


def _cut(draft: Draft, name: str, rows: Span, columns: Span) -> str:
    value = draft.graph.values[name]
    assert value.data is not None, "weights are constant"
    data = np.ascontiguousarray(value.data[:, rows.start : rows.stop, columns.start : columns.stop])
    return draft.value(f"{name}.inner", replace(value.type, shape=data.shape), data=data)
