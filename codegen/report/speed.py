"""About how many cycles an inference takes, before anything is built, by what the core's file says of its layers.

Decides: which kind of layer a node is.  Leaves to the core's file what each kind costs, and to `lamina profile` counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.op import NodeView
from codegen.ir.quant import DType
from codegen.ops.facts import facts
from codegen.target import Speed

CONVOLUTION, GROUPED, DENSE, ELEMENT = "convolution", "grouped", "dense", "element"
_HUNDRED = 100


def estimated_cycles(graph: Graph, kernels: Mapping[int, Form], speed: Speed) -> int | None:
    """Of one run; None where layers compute with real numbers, of which the file says nothing."""
    views = [graph.view(graph.nodes[i]) for i in sorted(kernels)]
    if any(DType.F32 in {t.dtype for t in (*view.ins, *view.outs)} for view in views):
        return None
    work = [kind_and_work(view) for view in views]
    cost = {
        CONVOLUTION: speed.convolution,
        GROUPED: speed.grouped,
        DENSE: speed.dense,
        ELEMENT: speed.element,
    }
    return sum(count * cost[kind] for kind, count in work) // _HUNDRED


def kind_and_work(view: NodeView) -> tuple[str, int]:
    """Which kind of layer a node is, and its products, or its elements where it has none."""
    products = view.op.macs(view.ins, view.outs)
    if not products:
        return ELEMENT, max(sum(t.elements for t in view.outs), sum(view.ins[i].elements for i in view.dynamic))
    if facts(view).get("groups", 1) > 1:
        return GROUPED, products
    weights = max((c.size for c in view.consts if c is not None), default=0)
    return (DENSE if weights == products else CONVOLUTION), products
