"""turn_sideways: a network on wide images works on columns, as if the images had been turned.

A row of a wide image is long, and so is every ring of rows; a signal, an image of one row, cannot be streamed by rows
at all.  Convolution and pooling treat both axes alike, so they may as well run on the image with its axes exchanged,
where a row is what was a column.  Whether that pays is the scheduler's affair, hence it is not in `PASSES`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ir.permutation import permute
from codegen.ops import Transpose
from codegen.ops.answers import turned
from codegen.passes.contract import graph_pass
from codegen.passes.draft import Draft

_TURN = (0, 2, 1, 3)
"""Rows and columns of s8[N, H, W, C], and of weights, exchanged."""
_NOTE = "works on columns of its wide images, as if they were turned"
WIDE = 2
"""Times that rows must be longer than columns, all inputs of turned operators together."""


def is_wide(graph: Graph) -> bool:
    """Whether rows are so much longer than columns that it is worth a try."""
    images = [graph.type(node.inputs[0]) for node in graph.nodes if _turned(graph, node) is not None]
    rows = sum(x.bytes // (x.shape[0] * x.shape[1]) for x in images)
    return rows > WIDE * sum(x.bytes // (x.shape[0] * x.shape[2]) for x in images)


@graph_pass()
def turn_sideways(graph: Graph) -> Graph:
    """Let each operator on windows, and each one over whole images, run on the turned image between two Transposes.

    Legal for operators whose result does not depend on which axis comes first: sums of integers are exact in any
    order.  The other passes then let Transposes cancel; those at the border of the network stay.
    """
    draft = Draft(replace(graph, notes=(*graph.notes, _NOTE)))
    for node in graph.nodes:
        op = _turned(graph, node)
        if op is None:
            draft.keep(node)
        else:
            _turn(draft, node, op)
    return draft.finish() if draft.changed else graph


def _turned(graph: Graph, node: Node) -> Op | None:
    """The turned operator; of real numbers there is none, as the order of rows is the order of their sums."""
    return None if graph.type(node.inputs[0]).dtype.is_float else turned(node.op)


def _turn(draft: Draft, node: Node, op: Op) -> None:
    (y,), (x, *constants) = node.outputs, node.inputs
    turned_x = _turned_value(draft, x)
    draft.insert(Transpose(_TURN), [x], turned_x)
    weights = [_turned_constant(draft, name) for name in constants]
    turned_y = _turned_value(draft, y)
    draft.rewrite(node, op, [turned_x, *weights], [turned_y])
    draft.insert(Transpose(_TURN), [turned_y], y)


def _turned_value(draft: Draft, name: str) -> str:
    kind = draft.graph.type(name)
    return draft.value(f"{name}.turned", replace(kind, shape=permute(kind.shape, _TURN)))


def _turned_constant(draft: Draft, name: str) -> str:
    """Weights of windows turned; biases as they are."""
    value = draft.graph.values[name]
    if value.data is None or len(value.type.shape) != len(_TURN):
        return name
    kind = replace(value.type, shape=permute(value.type.shape, _TURN))
    return draft.value(f"{name}.turned", kind, data=np.ascontiguousarray(value.data.transpose(_TURN)))
