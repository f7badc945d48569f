"""fuse_clamp: a Clamp or FloatClip (Relu, Relu6, Clip) becomes the output bounds of the operator that feeds it."""

from __future__ import annotations

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ops import Clamp
from codegen.ops.answers import clamped
from codegen.ops.float32 import FloatClip
from codegen.passes.contract import graph_pass
from codegen.passes.draft import fused


@graph_pass()
def fuse_clamp(graph: Graph) -> Graph:
    """Clamp where the number is made.

    Legal when nothing else reads the unclamped tensor and it is no network output; both have one Quant, as Clamp
    changes none.  The merged node writes the Clamp's value; the unclamped tensor is no longer a tensor.  A Clamp
    that spans its whole type goes.
    """
    return fused(graph, _is_idle, _bounded)


def _bounds(clamp: Clamp | FloatClip) -> tuple[float, float]:
    return (clamp.least, clamp.most) if isinstance(clamp, FloatClip) else (clamp.low, clamp.high)


def _bounded(graph: Graph, node: Node) -> tuple[Op, Node] | None:
    """The operator with the bounds of the Clamp that alone reads its result."""
    user = graph.sole_user(node.outputs[0]) if len(node.outputs) == 1 else None
    if user is None or not isinstance(user.op, Clamp | FloatClip):
        return None
    op = clamped(node.op, *_bounds(user.op))
    return None if op is None else (op, user)


def _is_idle(graph: Graph, node: Node) -> bool:
    """Whether it is a Clamp whose bounds its type cannot pass."""
    if not isinstance(node.op, Clamp):
        return False
    dtype = graph.type(node.inputs[0]).dtype
    return not dtype.is_float and node.op.low <= dtype.low and node.op.high >= dtype.high
