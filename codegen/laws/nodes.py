"""Laws tried on the nodes of a network, before C is run that believes what their operators say.

Decides: that operators of plug-ins alone are asked, on some rows, for the house's own keep the laws in its tests.
"""

from __future__ import annotations

from functools import cached_property

from codegen.errors import LawBroken, PluginFault
from codegen.ir.graph import Graph, Node
from codegen.ir.quant import TensorType
from codegen.laws.operators import reads_its_rows, types_are_said
from codegen.ops import OPS
from codegen.ops.case import Case
from codegen.python_files import guarded
from codegen.records import record

_ROWS = 16
"""Output rows that are tried of a node."""


@record(eq=False, slots=False)
class NodeCase(Case):
    """A node of a network as a case, with the types that it has there."""

    kinds: tuple[TensorType, ...] = ()

    @cached_property
    def types(self) -> tuple[TensorType, ...]:
        """Types of the inputs."""
        return self.kinds


def check_nodes(graph: Graph) -> None:
    """Return when the nodes of plug-ins keep the laws of types and of slices; LAM-PLUGIN-009 otherwise."""
    for node in graph.nodes:
        if type(node.op) not in OPS:
            _check_node(graph, node)


def _check_node(graph: Graph, node: Node) -> None:
    """A golden that does not take numbers drawn at random proves nothing, and is told when it is run."""
    kinds = tuple(graph.type(name) for name in node.inputs)
    data = [graph.values[name].data for name in node.inputs]
    ins = tuple(kind if array is None else array for kind, array in zip(kinds, data, strict=True))
    case = NodeCase(node.name, node.op, ins, kinds=kinds)
    try:
        with guarded(PluginFault):
            types_are_said(case)
            reads_its_rows(case, _ROWS)
    except PluginFault:
        return
    except LawBroken as broken:
        where = f"node '{node.name}' ({type(node.op).__name__})"
        raise LawBroken(broken.found, where=where, hint="run `lamina plugin test` on its plug-in") from None
