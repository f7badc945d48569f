"""fuse_lut: a table of a table is one table."""

from __future__ import annotations

from dataclasses import replace

from codegen.ir.graph import Graph, Node
from codegen.ir.quant import TensorType
from codegen.ops import Clamp, Lut
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft, joined


@graph_pass()
def fuse_lut(graph: Graph) -> Graph:
    """Compose Lut of Lut, and Lut of Clamp, when nothing else reads the tensor between.

    The merged node writes the second one's value.  Tables that map each value to itself go.
    """
    draft = Draft(graph)
    gone: set[str] = set()
    for node in graph.nodes:
        if node.name in gone or _drop_idle(draft, node):
            continue
        second = _only_lut(graph, node)
        if second is None:
            draft.keep(node)
            continue
        draft.rewrite(joined(node, second), _composed(graph, node, second), node.inputs, second.outputs)
        gone.add(second.name)
    return draft.finish()


def _only_lut(graph: Graph, node: Node) -> Node | None:
    """The Lut that alone reads the node's result, when the node is a table or a Clamp on 8 bits itself."""
    if not isinstance(node.op, Lut | Clamp) or graph.type(node.inputs[0]).dtype.bytes != 1:
        return None
    user = graph.sole_user(node.outputs[0])
    return user if user is not None and isinstance(user.op, Lut) else None


def _composed(graph: Graph, first: Node, second: Node) -> Lut:
    assert isinstance(second.op, Lut)
    between = graph.type(first.outputs[0]).dtype
    middle = _table(first, graph.type(first.inputs[0]))
    what = f"{first.op.what}, {second.op.what}" if isinstance(first.op, Lut) else second.op.what
    return replace(second.op, table=tuple(second.op.table[q - between.low] for q in middle), what=what)


def _table(node: Node, x: TensorType) -> tuple[int, ...]:
    """What the node makes of every value of its input's type."""
    if isinstance(node.op, Lut):
        return node.op.table
    assert isinstance(node.op, Clamp)
    return tuple(min(max(q, node.op.low), node.op.high) for q in range(x.dtype.low, x.dtype.high + 1))


def _drop_idle(draft: Draft, node: Node) -> bool:
    """Drop a table that maps each value to itself and keeps its meaning."""
    if not isinstance(node.op, Lut):
        return False
    x, y = node.inputs[0], node.outputs[0]
    type_ = draft.graph.type(x)
    idle = type_ == draft.graph.type(y) and node.op.table == tuple(range(type_.dtype.low, type_.dtype.high + 1))
    if not idle or not draft.can_replace(y, x):
        return False
    draft.replace_value(y, x)
    return True
