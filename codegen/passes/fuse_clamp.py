"""fuse_clamp: a Clamp or FloatClip (Relu, Relu6, Clip) becomes the output bounds of the operator that feeds it."""

from __future__ import annotations

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ops import Clamp
from codegen.ops.answers import clamped
from codegen.ops.float32 import FloatClip
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft, joined


@graph_pass()
def fuse_clamp(graph: Graph) -> Graph:
    """Clamp where the number is made.

    Legal when nothing else reads the unclamped tensor and it is no network output; both have one Quant, as Clamp
    changes none.  The merged node writes the Clamp's value; the unclamped tensor is no longer a tensor.  A Clamp
    that spans its whole type goes.
    """
    draft = Draft(graph)
    gone: set[str] = set()
    for node in graph.nodes:
        if node.name in gone or _drop_idle(draft, node):
            continue
        clamp = _only_clamp(graph, node)
        op = None if clamp is None else clamped(node.op, *_bounds(clamp.op))
        if clamp is None or op is None:
            draft.keep(node)
            continue
        draft.rewrite(joined(node, clamp), op, node.inputs, clamp.outputs)
        gone.add(clamp.name)
    return draft.finish()


def _bounds(clamp: Op) -> tuple[float, float]:
    if isinstance(clamp, FloatClip):
        return clamp.least, clamp.most
    assert isinstance(clamp, Clamp)
    return clamp.low, clamp.high


def _only_clamp(graph: Graph, node: Node) -> Node | None:
    """The Clamp that alone reads the node's result."""
    user = graph.sole_user(node.outputs[0]) if len(node.outputs) == 1 else None
    return user if user is not None and isinstance(user.op, Clamp | FloatClip) else None


def _drop_idle(draft: Draft, node: Node) -> bool:
    """Drop a Clamp whose bounds its type cannot pass."""
    if not isinstance(node.op, Clamp):
        return False
    x, y = node.inputs[0], node.outputs[0]
    dtype = draft.graph.type(x).dtype
    if dtype.is_float or node.op.low > dtype.low or node.op.high < dtype.high or not draft.can_replace(y, x):
        return False
    draft.replace_value(y, x)
    return True
