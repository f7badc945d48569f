"""Elements at places that are computed, the best ones, and repeated tensors: the integers that hold them are moved.

Decides: that movement which takes several operators is that of plain numbers (float32/picking.py), of the integers.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.real import RealNode
from codegen.real.along import ReverseSequence
from codegen.real.movement import Pick, Tile
from codegen.real.scatter import GatherElements, GatherND
from codegen.settle.context import Context
from codegen.settle.float32 import moving, picking, reduction
from codegen.settle.move import rewritten
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State


def gather_elements(ctx: Context, node: RealNode, op: GatherElements) -> Sequence[State]:
    """Single elements."""
    return [rewritten(ctx, node, ctx.state(node, 0), lambda w, x: picking.elements_taken(w, x, op.axis))]


def gather_nd(ctx: Context, node: RealNode, op: GatherND) -> Sequence[State]:
    """Slices at positions along several axes."""
    return [rewritten(ctx, node, ctx.state(node, 0), lambda w, x: picking.parts_taken(w, x, op))]


def reverse_sequence(ctx: Context, node: RealNode, op: ReverseSequence) -> Sequence[State]:
    """The first elements of each sequence in reverse."""
    return [rewritten(ctx, node, ctx.state(node, 0), lambda w, x: picking.turned(w, x, op))]


def tile(ctx: Context, node: RealNode, op: Tile) -> Sequence[State]:
    """The tensor behind itself."""
    return [rewritten(ctx, node, ctx.state(node, 0), lambda w, x: moving.tiled(w, x, op.counts))]


def pick(ctx: Context, node: RealNode, op: Pick) -> Sequence[State]:
    """Known places of each axis."""
    return [rewritten(ctx, node, ctx.state(node, 0), lambda w, x: moving.picked(w, x, op))]


RULES: Family = (
    Rule(GatherElements, gather_elements, ("GatherElements",)),
    Rule(GatherND, gather_nd, ("GatherND",)),
    Rule(Pick, pick, ("Resize",)),
    Rule(ReverseSequence, reverse_sequence, ("ReverseSequence",)),
    Rule(Tile, tile, ("Tile",)),
    *reduction.ORDERED,
)
