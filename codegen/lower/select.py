"""Which kernel serves which node."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.errors import CompileError, ModelRejected, NoKernel
from codegen.ir.graph import Graph, Node
from codegen.ir.op import NodeView
from codegen.ir.plan import NodeNeeds
from codegen.ir.program import Kernel
from codegen.lower.kernels import KERNELS
from codegen.ops import Reshape


def select_kernels(graph: Graph, isa: str) -> dict[int, Kernel]:
    """Kernel by node index, views left out; raises with every node that has none."""
    chosen: dict[int, Kernel] = {}
    problems: list[CompileError] = []
    for index, node in enumerate(graph.nodes):
        if is_view(graph, node):
            continue
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


def packing_growth(kernel: Kernel, view: NodeView, isa: str) -> int:
    """Bytes by which the kernel's parameters exceed the fewest that a kernel of this level would have for the node."""
    return _packed_bytes(kernel, view) - min(_packed_bytes(k, view) for k in KERNELS if k.accepts(view, isa))


def _packed_bytes(kernel: Kernel, view: NodeView) -> int:
    return sum(field.values.nbytes for field in kernel.params(view))


def is_view(graph: Graph, node: Node) -> bool:
    """Whether the node only renames the memory of a computed tensor, and needs no code."""
    return isinstance(node.op, Reshape) and not graph.values[node.inputs[0]].is_const


def kernel_needs(graph: Graph, kernels: Mapping[int, Kernel]) -> dict[int, NodeNeeds]:
    """What the scheduler must know of each node's kernel, by node index; views have no entry."""
    return {i: _needs(graph.view(graph.nodes[i]), kernel) for i, kernel in kernels.items()}


def _needs(view: NodeView, kernel: Kernel) -> NodeNeeds:
    rules = [view.op.rows(i, view.ins, view.outs) for i in view.dynamic]
    return NodeNeeds(
        whole=kernel.run == "whole",
        one_run=kernel.run == "pixels" and all(rule.is_same for rule in rules),
        keeps=kernel.run == "accumulate",
        scratch_bytes=kernel.scratch(view),
        weights_bytes=sum(c.nbytes for c in view.consts if c is not None),
        macs=view.op.macs(view.ins, view.outs),
        out_elements=view.outs[0].elements,
        most_rows=kernel.most_rows(view) if kernel.run == "rows" else 1,
        row_scratch_bytes=kernel.scratch_by(view, 1),
    )


def _no_kernel(view: NodeView) -> NoKernel:
    types = ", ".join(f"{t.dtype.value}{list(t.shape)}" for t in view.ins)
    return NoKernel(f"{type(view.op).__name__} on {types}", where=view.name)
