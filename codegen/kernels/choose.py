"""Which kernel serves which node, and what its packed parameters may take.

Fast kernels fill channels and taps of their weights.  By default the parameters of a network grow by 2 % at most over
the least ones that kernels of the level have: the layers that would gain least per added byte get their tightest kernel
instead.  A target that says `weights.expand` has no such limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from codegen.errors import CompileError, ModelRejected, NoKernel
from codegen.ir.graph import Graph, Node
from codegen.ir.op import NodeView
from codegen.ir.plan import NodeNeeds
from codegen.ir.program import Kernel
from codegen.kernels.table import KERNELS
from codegen.ops import Reshape
from codegen.target import Target

MOST_GROWTH = Fraction(2, 100)
"""By how much packing may increase the parameters of a network."""


def choose_kernels(graph: Graph, target: Target) -> dict[int, Kernel]:
    """Kernel by node index, views left out: the fastest ones whose parameters grow by no more than the target allows.

    Raises with every node that has none.
    """
    fastest = select_kernels(graph, target.isa)
    return fastest if target.weights.expand else _within_growth(graph, fastest, target.isa)


def select_kernels(graph: Graph, isa: str) -> dict[int, Kernel]:
    """The fastest kernel by node index, views left out; raises with every node that has none."""
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
    return _packed_bytes(kernel, view) - _packed_bytes(_tightest(view, isa), view)


def _within_growth(graph: Graph, fastest: Mapping[int, Kernel], isa: str) -> dict[int, Kernel]:
    """The kernels, with the tightest one for layers that the growth allowed is not left for.

    It is given out by falling work per added byte; of equal layers the first by name comes first, so that the order of
    nodes does not matter.
    """
    views = {i: graph.view(graph.nodes[i]) for i in fastest}
    tight = {i: _tightest(view, isa) for i, view in views.items()}
    least = {i: _packed_bytes(tight[i], view) for i, view in views.items()}
    added = {i: _packed_bytes(fastest[i], view) - least[i] for i, view in views.items()}
    growing = [i for i, more in added.items() if more > 0]
    left = int(MOST_GROWTH * sum(least.values()))
    chosen = dict(fastest)
    for i in sorted(growing, key=lambda i: (Fraction(-_work(views[i]), added[i]), views[i].name)):
        if added[i] <= left:
            left -= added[i]
        else:
            chosen[i] = tight[i]
    return chosen


def _tightest(view: NodeView, isa: str) -> Kernel:
    """Of the kernels that accept the node, the one with the least parameters; the first of several."""
    return min((k for k in KERNELS if k.accepts(view, isa)), key=lambda k: _packed_bytes(k, view))


def _packed_bytes(kernel: Kernel, view: NodeView) -> int:
    return sum(field.values.nbytes for field in kernel.params(view))


def _work(view: NodeView) -> int:
    """What a fast kernel is fast at: products, or elements where there are none."""
    return view.op.macs(view.ins, view.outs) or sum(kind.elements for kind in (*view.ins, *view.outs))


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
