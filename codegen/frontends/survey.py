"""What can be said of a model that cannot be imported: every problem, and as much of its graph as can be read."""

from __future__ import annotations

from codegen.errors import CompileError
from codegen.ir.graph import Graph, Interface
from codegen.ir.quant import Quant
from codegen.records import record

STEP = Quant(1 / 16)
"""Of a tensor of which nobody knows the range: -8 .. 8."""
SHARE = Quant(1 / 256, -128)
"""Of a probability."""
SIGNED_SHARE = Quant(1 / 128)
"""Of a hyperbolic tangent."""


@record
class SourceNode:
    """A node of the model itself; `problem` is the id of the reason why it is not read, empty where it is."""

    name: str
    operator: str
    problem: str = ""


@record(eq=False)
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
