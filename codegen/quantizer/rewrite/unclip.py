"""Upper bounds taken from activations: ReLU6 becomes ReLU.

The network stays the same where no number reaches a bound, and is another one where some do: whoever asks judges it.
Then equalisation may scale the channels, and the range is the tensor's own.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.ir.real import RealGraph, RealNode
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.real.elementwise import Clip, Function


def unclip(graph: RealGraph) -> Rewritten:
    """Take the upper bound from each Clip that starts at zero."""
    draft, bounded = Draft(graph), [node for node in graph.nodes if _is_bounded(node)]
    for node in bounded:
        draft.put(replace(node, op=Function("Relu")))
    return Rewritten(draft.done(), Record("unclip", len(bounded), 1.0, ()))


def has_bounds(graph: RealGraph) -> bool:
    """Whether there is anything to take."""
    return any(_is_bounded(node) for node in graph.nodes)


def _is_bounded(node: RealNode) -> bool:
    return isinstance(node.op, Clip) and node.op.low == 0 and 0 < node.op.high < float("inf")
