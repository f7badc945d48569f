"""Forms of one kernel for all nodes of a graph."""

from __future__ import annotations

from typing import Any

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.kernels.kernel import Kernel


def fitted(graph: Graph, kernel: Kernel[Any]) -> dict[int, Form]:
    """The kernel's form for each node, on a chip without features."""
    forms = {i: kernel.fit(graph.view(node), frozenset()) for i, node in enumerate(graph.nodes)}
    return {i: form for i, form in forms.items() if form is not None}
