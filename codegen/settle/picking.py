"""Elements at places that are computed, the best ones, and repeated tensors: the integers that hold them are moved.

Decides: that movement which takes several operators is that of plain numbers (float32/picking.py), of the integers; and
that the order of numbers is that of their integers.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.real import RealNode
from codegen.real.along import ReverseSequence
from codegen.real.along import TopK as RealTopK
from codegen.real.movement import Pick, Tile
from codegen.real.scatter import GatherElements, GatherND
from codegen.settle.context import Context
from codegen.settle.float32 import moving, picking, reduction
from codegen.settle.float32.writer import Writer
from codegen.settle.move import rewritten
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Int, Real, State
from codegen.settle.tables import exact, is_strictly_increasing


def gather_elements(ctx: Context, node: RealNode, op: GatherElements) -> Sequence[State]:
    """Single elements."""
    return [rewritten(ctx, node, ctx.state(node, 0), lambda w, x: picking.elements_taken(w, x, op.axis))]


def gather_nd(ctx: Context, node: RealNode, op: GatherND) -> Sequence[State]:
    """Slices at positions along several axes."""
    return [rewritten(ctx, node, ctx.state(node, 0), lambda w, x: picking.parts_taken(w, x, op.batch))]


def reverse_sequence(ctx: Context, node: RealNode, op: ReverseSequence) -> Sequence[State]:
    """The first elements of each sequence in reverse."""
    return [rewritten(ctx, node, ctx.state(node, 0), lambda w, x: picking.turned(w, x, op))]


def tile(ctx: Context, node: RealNode, op: Tile) -> Sequence[State]:
    """The tensor behind itself."""
    return [rewritten(ctx, node, ctx.state(node, 0), lambda w, x: moving.tiled(w, x, op.counts))]


def pick(ctx: Context, node: RealNode, op: Pick) -> Sequence[State]:
    """Known places of each axis."""
    return [rewritten(ctx, node, ctx.state(node, 0), lambda w, x: moving.picked(w, x, op))]


def top_k(ctx: Context, node: RealNode, op: RealTopK) -> Sequence[State]:
    """The best numbers of an axis, and their places."""
    state = ctx.state(node, 0)
    if isinstance(state, Int) or not op.count:
        raise ctx.real_only(node)
    x = state if isinstance(state, Real) and is_strictly_increasing(ctx, state) else exact(ctx, node, 0)
    w, at = Writer(ctx, node), len(ctx.shape(x)) - 1
    moved = w.moved(x.value, op.axis, at)
    best, places = (f(w, moved, op.count, op.largest) for f in (reduction.best, reduction.best_places))
    best, places = w.moved(best, at, op.axis), w.moved(places, at, op.axis)
    for value, name in zip((best, places), node.outputs, strict=False):
        ctx.builder.rename_source(value, name)
    found: list[State] = [Real(best, x.quant, x.function, x.trail), Int(places, "int64")]
    return found[: len(node.outputs)]


RULES: Family = (
    Rule(GatherElements, gather_elements, ("GatherElements",)),
    Rule(GatherND, gather_nd, ("GatherND",)),
    Rule(Pick, pick),
    Rule(RealTopK, top_k, ("TopK",)),
    Rule(ReverseSequence, reverse_sequence, ("ReverseSequence",)),
    Rule(Tile, tile, ("Tile",)),
)
