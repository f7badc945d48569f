"""Upper bounds taken from activations that never reach them: ReLU6 becomes ReLU.

Legal where the samples say so; then equalisation may scale the channels, and the range is the tensor's own.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.ir.real import RealGraph, RealNode
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.extremes import Seen
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.real.elementwise import Clip, Function


def unclip(graph: RealGraph, seen: Seen, *, margin: float = 1.0) -> Rewritten:
    """Take the upper bound from each Clip that starts at zero, where its input was never above bound / margin."""
    draft, left, count = Draft(graph), [], 0
    for node in draft.nodes:
        reached = _reached(node, seen)
        if reached is not None and reached * margin <= 1.0:
            draft.put(replace(node, op=Function("Relu")))
            count += 1
        elif reached is not None:
            left.append(f"{node.where}: it reaches {reached:.3g} times its bound")
    return Rewritten(draft.done(), Record("unclip", count, 1.0, tuple(left)))


def _reached(node: RealNode, seen: Seen) -> float | None:
    """How far the input has been, as a share of the upper bound; None where that is not known."""
    op = node.op
    if not isinstance(op, Clip) or op.low != 0 or not 0 < op.high < float("inf") or node.inputs[0] not in seen:
        return None
    return float(seen[node.inputs[0]].high.max()) / op.high
