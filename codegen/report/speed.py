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
    found = [layer_cycles(graph.view(graph.nodes[i]), speed) for i in sorted(kernels)]
    known = [cycles for cycles in found if cycles is not None]
    return int(sum(known)) if len(known) == len(found) else None


def layer_cycles(view: NodeView, speed: Speed) -> float | None:
    """Of one layer; None where it computes with real numbers."""
    if DType.F32 in {t.dtype for t in (*view.ins, *view.outs)}:
        return None
    kind, count = kind_and_work(view)
    cost = {
        CONVOLUTION: speed.convolution,
        GROUPED: speed.grouped,
        DENSE: speed.dense,
        ELEMENT: speed.element,
    }
    return count * cost[kind] / _HUNDRED


def kind_and_work(view: NodeView) -> tuple[str, int]:
    """Which kind of layer a node is, and its products, or its elements where it has none."""
    products = view.op.macs(view.ins, view.outs)
    if not products:
        return ELEMENT, max(sum(t.elements for t in view.outs), sum(view.ins[i].elements for i in view.dynamic))
    if facts(view).get("groups", 1) > 1:
        return GROUPED, products
    weights = max((c.size for c in view.consts if c is not None), default=0)
    return (DENSE if weights == products else CONVOLUTION), products
