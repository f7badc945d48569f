"""Which kernel serves which node."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.errors import CompileError, ModelRejected, NoKernel
from codegen.ir.graph import Graph
from codegen.ir.op import NodeView
from codegen.ir.program import Kernel
from codegen.lower.kernels import KERNELS


def select_kernels(graph: Graph, isa: str) -> dict[int, Kernel]:
    """Kernel by node index; raises with every node that has none."""
    chosen: dict[int, Kernel] = {}
    problems: list[CompileError] = []
    for index, node in enumerate(graph.nodes):
        view = graph.view(node)
        kernel = find_kernel(view, isa)
        if kernel is None:
            problems.append(_no_kernel(view))
        else:
            chosen[index] = kernel
    if problems:
        raise ModelRejected(problems)
    return chosen


def find_kernel(view: NodeView, isa: str) -> Kernel | None:
    """The first kernel of the table that accepts the node."""
    return next((k for k in KERNELS if k.accepts(view, isa)), None)


def scratch_sizes(graph: Graph, kernels: Mapping[int, Kernel]) -> dict[int, int]:
    """Bytes of scratch by node index."""
    return {i: k.scratch(graph.view(graph.nodes[i])) for i, k in kernels.items()}


def _no_kernel(view: NodeView) -> NoKernel:
    types = ", ".join(f"{t.dtype.value}{list(t.shape)}" for t in view.ins)
    return NoKernel(f"{type(view.op).__name__} on {types}", where=view.name)
