"""fold_constants: what does not depend on the network's input is computed at compile time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.graph import Graph, Node
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft


@graph_pass()
def fold_constants(graph: Graph) -> Graph:
    """Replace a node whose inputs are all constants by its golden result.

    Constants live in flash, so this always frees working memory.  Not for network outputs, which need a node
    that writes them.
    """
    draft = Draft(graph)
    for node in graph.nodes:
        if not _fold(draft, node):
            draft.keep(node)
    return draft.finish()


def _fold(draft: Draft, node: Node) -> bool:
    data = [draft.values[i].data for i in node.inputs]
    known = [d for d in data if d is not None]
    if len(known) != len(data) or draft.graph.output_values.intersection(node.outputs):
        return False
    for name, result in zip(node.outputs, node.op.golden(known), strict=True):
        draft.values[name] = replace(draft.values[name], data=np.asarray(result, order="C"))
    draft.changed = True
    return True
