"""The rewrites that every network gets: those that change nothing and take numbers away that would need integers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial

from codegen.ir.real import RealGraph
from codegen.quantizer.masked import finite_masks
from codegen.quantizer.rewrite.carry import carry_factors
from codegen.quantizer.rewrite.fold import fold_affine
from codegen.quantizer.rewrite.hoist import hoist_affine
from codegen.quantizer.rewrite.idle import drop_idle
from codegen.quantizer.rewrite.normal import join_norms
from codegen.quantizer.rewrite.recurrence import spell_recurrences
from codegen.quantizer.rewrite.spelling import respell
from codegen.quantizer.rewrite.turn import join_turns

_SAID: Mapping[str, str] = {
    "idle": "operators that do nothing were left out",
    "spell recurrences": "recurrences became products and functions, step by step",
    "turn": "Transposes met and went",
    "join norms": "normalizations spelled in several operators became one",
    "respell": "functions spelled in several operators became one",
    "fold": "factors and offsets became part of the products beside them",
    "hoist": "factors and offsets moved in front of a Resize or a Concat",
    "carry": "factors of moved tensors became part of the products that these come from",
}

_REWRITES = (
    *(join_turns, join_norms, respell),
    *(fold_affine, hoist_affine, carry_factors, fold_affine),
)


def rewritten(graph: RealGraph, kept: Collection[str] = ()) -> RealGraph:
    """The network with functions in one piece and BatchNormalization inside its products; notes say what was done.

    Recurrences among the nodes and tensors that are `kept` real stay one operator.
    """
    notes = []
    graph = finite_masks(graph)
    for rewrite in (drop_idle, partial(spell_recurrences, kept=kept), *_REWRITES):
        made = rewrite(graph)
        if made.record.pairs:
            graph = made.graph
            notes.append(f"{made.record.pairs} {_SAID[made.record.name]}")
    return replace(graph.live(), notes=(*graph.notes, *notes))
