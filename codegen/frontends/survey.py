"""What can be said of a model that cannot be imported: every problem, and as much of its graph as can be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codegen.errors import CompileError
from codegen.frontends.builder import Builder
from codegen.frontends.finish import finish
from codegen.ir.graph import Graph, Interface
from codegen.ir.quant import Quant
from codegen.ir.verify import IrError, verify_graph

STEP = Quant(1 / 16)
"""Of a tensor of which nobody knows the range: -8 .. 8."""
SHARE = Quant(1 / 256, -128)
"""Of a probability."""
SIGNED_SHARE = Quant(1 / 128)
"""Of a hyperbolic tangent."""


@dataclass(frozen=True, slots=True)
class SourceNode:
    """A node of the model itself; `problem` is the id of the reason why it is not read, empty where it is."""

    name: str
    operator: str
    problem: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """A model that is not imported.

    `graph` is what can be read of it: tensors behind nodes that are refused count as inputs; None when there is nothing
    to read.  `is_float`: nothing in the model is quantized, and the graph is what it would become, with made-up ranges.
    """

    graph: Graph | None
    problems: tuple[CompileError, ...]
    is_float: bool
    inputs: tuple[Interface, ...]
    nodes: tuple[SourceNode, ...]


def partial_graph(
    builder: Builder, name: str, inputs: Sequence[Interface], outputs: Sequence[Interface], notes: Sequence[str]
) -> Graph | None:
    """The graph of everything that was written, whether an output needs it or not; None when that is no graph."""
    read = {i for node in builder.nodes for i in node.inputs} | {o.value for o in outputs}
    given = {i.value for i in inputs}
    ends = [o for node in builder.nodes for o in node.outputs if o not in read and o not in given]
    faces = [_face(builder, value) for value in dict.fromkeys(ends)]
    if not builder.nodes or not (outputs or faces):
        return None
    try:
        graph = finish(builder, name, inputs, [*outputs, *faces], notes, drop_quantize=True)
        used = {i for node in graph.nodes for i in node.inputs} | {o.value for o in graph.outputs}
        graph = replace(graph, inputs=tuple(i for i in graph.inputs if i.value in used))
        verify_graph(graph)
    except (CompileError, IrError):
        return None
    return graph


def _face(builder: Builder, value: str) -> Interface:
    kind = builder.type(value)
    return Interface(value, value, kind.shape, kind.dtype.numpy.name)
