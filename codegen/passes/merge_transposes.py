"""merge_transposes: of several reorderings in a row one is left, or none.

Only Transpose and Reshape, by their attributes; chains with Slice or Gather are `fold_movement`'s.
"""

from __future__ import annotations

from codegen.ir.graph import Graph, Node
from codegen.ir.permutation import moves_nothing, permute
from codegen.ops import Reshape, Transpose
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft


@graph_pass()
def merge_transposes(graph: Graph) -> Graph:
    """Compose Transpose of Transpose and Reshape of Reshape; drop identities.

    A Transpose that only moves axes of size 1 becomes a Reshape, which is a view.  When others read the first of
    two Transposes, they merge only into a view: else the first's input would have to live longer.
    """
    draft = Draft(graph)
    for node in graph.nodes:
        if not (isinstance(node.op, Transpose | Reshape) and _merge(draft, node)):
            draft.keep(node)
    return draft.finish()


def _merge(draft: Draft, node: Node) -> bool:
    x, y = node.inputs[0], node.outputs[0]
    before = draft.graph.producers.get(x)
    if _is_identity(draft.graph, node) and draft.can_replace(y, x):
        draft.replace_value(y, x)
    elif isinstance(node.op, Transpose) and moves_nothing(draft.graph.type(x).shape, node.op.perm):
        draft.rewrite(node, Reshape(draft.graph.type(y).shape), [x])
    elif before is None:
        return False
    elif isinstance(node.op, Transpose) and isinstance(before.op, Transpose):
        perm = permute(before.op.perm, node.op.perm)
        if not (draft.graph.sole_user(x) or moves_nothing(draft.graph.type(before.inputs[0]).shape, perm)):
            return False
        if perm == tuple(range(len(perm))) and draft.can_replace(y, before.inputs[0]):
            draft.replace_value(y, before.inputs[0])
        else:
            draft.rewrite(node, Transpose(perm), before.inputs)
    elif isinstance(node.op, Reshape) and isinstance(before.op, Reshape):
        draft.rewrite(node, node.op, before.inputs)
    else:
        return False
    return True


def _is_identity(graph: Graph, node: Node) -> bool:
    if isinstance(node.op, Transpose):
        return node.op.perm == tuple(range(len(node.op.perm)))
    return graph.type(node.inputs[0]).shape == graph.type(node.outputs[0]).shape
