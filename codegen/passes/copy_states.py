"""copy_states: what is read after a run does not lie in memory that the run's end changes.

A Reshape only renames its input's memory, and a state's memory takes its new content when the run ends: an output that
is a state under another shape, or a state that becomes what another one was, is therefore copied.
"""

from __future__ import annotations

from codegen.ir.graph import Graph, Node
from codegen.ops import Broadcast
from codegen.ops.answers import is_view
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft


@graph_pass()
def copy_states(graph: Graph) -> Graph:
    """Put a copy before each Reshape by which a state's memory would be an output, or another state's new content."""
    draft = Draft(graph)
    for node in graph.nodes:
        if not (set(node.outputs) & graph.output_values and _renames_state(graph, node)):
            draft.keep(node)
            continue
        kind = graph.type(node.inputs[0])
        copy = draft.value(f"{node.outputs[0]}.copy", kind)
        draft.insert(Broadcast(kind.shape), node.inputs, copy, node.source)
        draft.rewrite(node, node.op, (copy,))
    return draft.finish()


def _renames_state(graph: Graph, node: Node) -> bool:
    """Whether the node is the last of Reshapes that begin with a state."""
    before: Node | None = node
    while before is not None and is_view(before.op):
        if before.inputs[0] in graph.source_values:
            return any(before.inputs[0] == state.value for state in graph.states)
        before = graph.producers.get(before.inputs[0])
    return False
