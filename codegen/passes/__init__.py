"""Passes: rewrites Graph -> Graph, one per file, each to the bit.

`PASSES` is the order; `simplify` runs them until nothing changes.  Each leaves a graph that computes the same
integers at its outputs, and at every tensor that is still there.
"""

from __future__ import annotations

from codegen.ir.graph import Graph
from codegen.passes.absorb_movement import absorb_movement
from codegen.passes.contract import GraphPass
from codegen.passes.copy_states import copy_states
from codegen.passes.cut_strips import Part, cut_strips, strips_of
from codegen.passes.drop_dead import drop_dead
from codegen.passes.drop_taps import drop_taps
from codegen.passes.fold_constants import fold_constants
from codegen.passes.fold_movement import fold_movement
from codegen.passes.fold_pad import fold_pad
from codegen.passes.fuse_clamp import fuse_clamp
from codegen.passes.fuse_lut import fuse_lut
from codegen.passes.go_by_lines import go_by_lines, lines_of
from codegen.passes.merge_duplicates import merge_duplicates
from codegen.passes.merge_transposes import merge_transposes
from codegen.passes.permute_dense import permute_dense
from codegen.passes.place_transposes import place_transposes
from codegen.passes.settle_channels import settle_channels
from codegen.passes.sink_reshapes import sink_reshapes
from codegen.passes.split_strides import split_strides
from codegen.passes.trace_sources import trace_sources
from codegen.passes.turn_sideways import is_wide, turn_sideways

PASSES: tuple[GraphPass, ...] = (
    drop_dead,
    fold_constants,
    trace_sources,
    merge_duplicates,
    merge_transposes,
    fold_movement,
    absorb_movement,
    sink_reshapes,
    place_transposes,
    permute_dense,
    fold_pad,
    drop_taps,
    fuse_clamp,
    fuse_lut,
    split_strides,
    settle_channels,
    copy_states,
)

_ROUNDS = 1000
"""A bound that only a bug reaches: every pass removes nodes or bytes, or moves Reshapes towards the outputs."""


def simplify(graph: Graph) -> Graph:
    """Run the passes, in order and over again, until none finds anything to do."""
    for _ in range(_ROUNDS):
        before = graph
        for run in PASSES:
            graph = run(graph)
        if graph is before:
            return graph
    raise AssertionError("the passes undo each other")


__all__ = [
    "PASSES",
    "Part",
    "cut_strips",
    "go_by_lines",
    "is_wide",
    "lines_of",
    "simplify",
    "strips_of",
    "turn_sideways",
]
