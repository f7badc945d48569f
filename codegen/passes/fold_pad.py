"""fold_pad: a Pad becomes the padding of the window operator that reads it, and no tensor of its own."""

from __future__ import annotations

from dataclasses import replace

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ir.shape import Window
from codegen.ops import Conv2D, MaxPool2D, Pad
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft, joined


@graph_pass()
def fold_pad(graph: Graph) -> Graph:
    """Widen the window's pads by those of a constant Pad on H and W.

    Legal when the Pad adds what the operator pads with (the input's zero point for Conv2D, the lowest value of the type
    for MaxPool2D), nothing else reads the padded tensor, and the operator's limits still hold.
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
    """The constant Pad on H and W that only this window operator reads."""
    if not isinstance(node.op, Conv2D | MaxPool2D) or graph.sole_user(node.inputs[0]) is None:
        return None
    pad = graph.producers.get(node.inputs[0])
    if pad is None or not isinstance(pad.op, Pad) or pad.op.mode != "constant":
        return None
    spatial = not any(pad.op.before[i] or pad.op.after[i] for i in (0, 3))
    return pad if spatial else None


def _widened(graph: Graph, node: Node, pad: Node) -> Op | None:
    assert isinstance(pad.op, Pad)
    assert isinstance(node.op, Conv2D | MaxPool2D)
    ins = [graph.type(name) for name in (*pad.inputs, *node.inputs[1:])]
    neutral = node.op.x_zero_point if isinstance(node.op, Conv2D) else ins[0].dtype.low
    if pad.op.value != neutral:
        return None
    op = replace(node.op, h=_wider(node.op.h, pad.op, 1), w=_wider(node.op.w, pad.op, 2))
    return op if all(limit.holds(op, ins) for limit in op.limits) else None


def _wider(window: Window, pad: Pad, axis: int) -> Window:
    return replace(
        window, pad_before=window.pad_before + pad.before[axis], pad_after=window.pad_after + pad.after[axis]
    )
