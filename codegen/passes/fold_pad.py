"""fold_pad: a Pad becomes the padding of the window operator that reads it, and no tensor of its own."""

from __future__ import annotations

from dataclasses import replace

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ops import Pad
from codegen.ops.answers import padded
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft, joined


@graph_pass()
def fold_pad(graph: Graph) -> Graph:
    """Widen the window's pads by those of a constant Pad on H and W.

    Legal when the Pad adds what the operator pads with (the input's zero point for Conv2D, zeros for FloatConv2D, the
    lowest value of the type for MaxPool2D), nothing else reads the padded tensor, and the operator's limits still hold.
    """
    draft = Draft(graph)
    for node in graph.nodes:
        pad = _pad_before(graph, node)
        op = None if pad is None else _widened(graph, node, pad)
        if pad is None or op is None:
            draft.keep(node)
        else:
            merged = replace(joined(pad, node), name=node.name, outputs=node.outputs)
            draft.rewrite(merged, op, (*pad.inputs, *node.inputs[1:]))
    return draft.finish()


def _pad_before(graph: Graph, node: Node) -> Node | None:
    """The constant Pad on H and W that only this node reads."""
    pad = graph.producers.get(node.inputs[0]) if node.inputs else None
    if pad is None or not isinstance(pad.op, Pad) or graph.sole_user(node.inputs[0]) is None:
        return None
    spatial = len(pad.op.before) == 4 and not any(pad.op.before[i] or pad.op.after[i] for i in (0, 3))
    return pad if spatial and pad.op.mode == "constant" else None


def _widened(graph: Graph, node: Node, pad: Node) -> Op | None:
    assert isinstance(pad.op, Pad)
    ins = [graph.type(name) for name in (*pad.inputs, *node.inputs[1:])]
    rows, columns = ((pad.op.before[axis], pad.op.after[axis]) for axis in (1, 2))
    consts = [graph.values[name].data for name in node.inputs]
    op = padded(node.op, rows, columns, pad.op.value, ins[0], consts)
    return op if op is not None and all(limit.holds(op, ins) for limit in op.limits) else None
