"""absorb_movement: a reordering that all its readers can do on the way is not done for itself.

A channel shuffle that only feeds Slices is the usual case: each Slice picks its channels from the unshuffled tensor.
"""

from __future__ import annotations

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ops.answers import is_view
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft
from codegen.passes.movement import LARGEST, MOVEMENT, equal_to, moved_bytes


@graph_pass()
def absorb_movement(graph: Graph) -> Graph:
    """Let several movement operators read what the one before them reads, when each stays one operator and as cheap.

    Only where the tensor that goes is no smaller than the one that lives longer for it.
    """
    draft = Draft(graph)
    absorbed: dict[str, Op] = {}
    for node in graph.nodes:
        if node.name not in absorbed:
            absorbed.update(_absorbed(graph, node))
    for node in graph.nodes:
        if node.name in absorbed:
            draft.rewrite(node, absorbed[node.name], graph.producers[node.inputs[0]].inputs)
        else:
            draft.keep(node)
    return draft.finish()


def _absorbed(graph: Graph, node: Node) -> dict[str, Op]:
    """The readers of the node's result as they read its input; empty when one of them cannot."""
    if not isinstance(node.op, MOVEMENT) or is_view(node.op) or node.outputs[0] in graph.output_values:
        return {}
    x, y = graph.type(node.inputs[0]), graph.type(node.outputs[0])
    users = graph.users[node.outputs[0]]
    if not LARGEST >= y.elements >= x.elements or not all(isinstance(user.op, MOVEMENT) for user in users):
        return {}
    found: dict[str, Op] = {}
    for user in users:
        ops = equal_to(x.shape, (node.op, user.op))
        z = graph.type(user.outputs[0])
        if ops is None or len(ops) != 1 or moved_bytes(ops[0], z) > moved_bytes(user.op, z):
            return {}
        found[user.name] = ops[0]
    return found
