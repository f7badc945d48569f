"""Operators that give back one of their inputs, left out: integers of their own would round it once more.

Masks that mask nothing and casts to the type that a tensor has come with the functions that exporters write for an
operator; a network of real numbers is the same without them.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.real import RealGraph, RealNode
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.real.elementwise import Binary, Cast, Where
from codegen.real.movement import Expand, Reshape, Tile, Transpose

_IDLE_WITH = {"Add": 0.0, "Sub": 0.0, "Mul": 1.0, "Div": 1.0}
_ONE_WAY = ("Sub", "Div")
"""Only the second operand of these can be one that does nothing."""


def drop_idle(graph: RealGraph) -> Rewritten:
    """The network without operators that do nothing."""
    draft, count = Draft(graph), 0
    for label in [node.label for node in draft.nodes]:
        node = draft.node(label)
        kept = _kept(draft, node)
        if kept is not None and draft.is_inner(node.outputs[0]) and _alike(draft, node, kept):
            draft.bypass(node, kept)
            count += 1
    return Rewritten(draft.done(), Record("idle", count))


def _alike(draft: Draft, node: RealNode, kept: str) -> bool:
    value = draft.values[kept]
    return value.stored is None and value.type == draft.values[node.outputs[0]].type


def _kept(draft: Draft, node: RealNode) -> str | None:
    """The input that the result is, element by element, where both have one type."""
    match node.op:
        case Cast() if node.op.rounds(draft.values[node.inputs[0]].type.dtype):
            return None
        case Cast() | Expand() | Reshape() | Tile():
            return node.inputs[0]
        case Transpose(perm):
            return node.inputs[0] if perm == tuple(sorted(perm)) else None
        case Where():
            condition = draft.values[node.inputs[0]].data
            known = condition is not None and condition.size > 0 and bool((condition == condition.flat[0]).all())
            return node.inputs[1 if condition.flat[0] else 2] if condition is not None and known else None
        case Binary(kind) if kind in _IDLE_WITH:
            return _operand(draft, node, kind)
        case _:
            return None


def _operand(draft: Draft, node: RealNode, kind: str) -> str | None:
    """The operand beside a constant that changes nothing."""
    for at, name in enumerate(node.inputs):
        constant = draft.constant(name)
        if constant is not None and constant.size and bool(np.all(constant == _IDLE_WITH[kind])):
            return None if at == 0 and kind in _ONE_WAY else node.inputs[1 - at]
    return None
