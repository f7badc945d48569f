"""fuse_lut: a table of a table is one table."""

from __future__ import annotations

from dataclasses import replace

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ir.quant import TensorType
from codegen.ops import Clamp, Lut
from codegen.passes.contract import graph_pass
from codegen.passes.draft import fused


@graph_pass()
def fuse_lut(graph: Graph) -> Graph:
    """Compose Lut of Lut, and Lut of Clamp, when nothing else reads the tensor between.

    The merged node writes the second one's value.  Tables that map each value to itself go.
    """
    return fused(graph, _is_idle, _composed)


def _composed(graph: Graph, first: Node) -> tuple[Op, Node] | None:
    """A table or a Clamp on 8 bits with the Lut that alone reads its result, as one table."""
    if not isinstance(first.op, Lut | Clamp) or graph.type(first.inputs[0]).dtype.bytes != 1:
        return None
    second = graph.sole_user(first.outputs[0])
    if second is None or not isinstance(second.op, Lut):
        return None
    between = graph.type(first.outputs[0]).dtype
    middle = _table(first, graph.type(first.inputs[0]))
    what = f"{first.op.what}, {second.op.what}" if isinstance(first.op, Lut) else second.op.what
    return replace(second.op, table=tuple(second.op.table[q - between.low] for q in middle), what=what), second


def _table(node: Node, x: TensorType) -> tuple[int, ...]:
    """What the node makes of every value of its input's type."""
    if isinstance(node.op, Lut):
        return node.op.table
    assert isinstance(node.op, Clamp)
    return tuple(min(max(q, node.op.low), node.op.high) for q in range(x.dtype.low, x.dtype.high + 1))


def _is_idle(graph: Graph, node: Node) -> bool:
    """Whether it is a table that maps each value to itself and keeps its meaning."""
    if not isinstance(node.op, Lut):
        return False
    x, y = graph.type(node.inputs[0]), graph.type(node.outputs[0])
    return x == y and node.op.table == tuple(range(x.dtype.low, x.dtype.high + 1))
