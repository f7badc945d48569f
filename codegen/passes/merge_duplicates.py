"""merge_duplicates: the same reordering of the same tensor is done once."""

from __future__ import annotations

from codegen.ir.graph import Graph
from codegen.ir.op import Op
from codegen.ops.answers import reorders
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft


@graph_pass()
def merge_duplicates(graph: Graph) -> Graph:
    """Let readers of equal Transposes (Reshapes) of one value share the first.

    Importers wrap each operator by itself, so a tensor with three readers is transposed three times.  Other
    operators are left alone: sharing them may keep a tensor alive for longer than computing it again.
    """
    draft = Draft(graph)
    first: dict[tuple[Op, str], str] = {}
    for node in graph.nodes:
        key = (node.op, draft.now(node.inputs[0])) if reorders(node.op) else None
        if key is not None and key in first and draft.can_replace(node.outputs[0], first[key]):
            draft.replace_value(node.outputs[0], first[key])
            continue
        if key is not None:
            first.setdefault(key, node.outputs[0])
        draft.keep(node)
    return draft.finish()
