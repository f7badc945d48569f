"""Plan: order, layer groups, rows, rings and offsets.  What the scheduler decides, and nothing of C.

Every tensor is a ring of rows at an offset of the arena: row r lives at
`offset + (r % ring) * row_bytes`.  A tensor that is held whole has `ring == rows`.  A group is run by pulling
rows from its last node; a group of one node is a plain layer.

Where a chip has several working memories, their offsets are one space: those of the arena, in the fastest one, come
first, and those of each `Region` behind all before it.  An input that its caller holds is such a region too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from codegen.ir.graph import Graph
from codegen.ir.scratchpad import ScratchpadPlan
from codegen.ir.weights import WeightsPlan
from codegen.records import record

ARENA = "arena"
"""What the working memory in the fastest memory is called where there are others."""


@record(kw_only=True)
class NodeNeeds:
    """What a node's kernel needs: how it runs, bytes of scratch (alone), bytes of weights, multiply-accumulates.

    `one_run`: alone, its whole output is one call on a run of pixels.  `keeps` means that the scratch holds its
    contents between calls.  `most_rows`: alone, one call makes up to that many output rows.
    `row_scratch_bytes` is the scratch of a node in a group, which makes one row per call.  `params_bytes` are those of
    the weights buffer that its parameters take.  `in_place`: its output may lie over its input, row over row (Form).
    `by_rows`: alone, each call makes some rows, of which it has read all before.  `copied_bytes` of inputs are copied.
    """

    whole: bool
    one_run: bool
    keeps: bool
    scratch_bytes: int
    weights_bytes: int
    macs: int
    out_elements: int
    most_rows: int = 1
    row_scratch_bytes: int | None = None
    params_bytes: int = 0
    in_place: bool = False
    by_rows: bool = False
    copied_bytes: int = 0

    def scratch(self, members: int) -> int:
        """Bytes of scratch in a group of so many nodes."""
        return self.scratch_bytes if members == 1 or self.row_scratch_bytes is None else self.row_scratch_bytes


@record
class Storage:
    """Where one tensor lives, in bytes: in the arena, or, inside a group on a chip that has one, in the scratchpad."""

    offset: int
    rows: int
    ring: int
    row_bytes: int
    memory: Literal["arena", "scratchpad"] = "arena"

    @property
    def bytes(self) -> int:
        """Bytes that the ring takes."""
        return self.ring * self.row_bytes


@record
class Region:
    """Working memory beside the arena, in a slower memory of the chip: offsets from `start` on, `bytes` of them.

    No placement of what lies there can beat `lower_bound_bytes`.  `cost` is that of a byte read or written, beside 1.
    `given`: it is the caller's, holds the network's input, and is only read.
    """

    memory: str
    start: int
    bytes: int
    lower_bound_bytes: int
    cost: int
    given: bool = False

    @property
    def stop(self) -> int:
        """The first offset behind it."""
        return self.start + self.bytes


def is_given(regions: Sequence[Region], offset: int) -> bool:
    """Whether an offset lies in memory that is the caller's."""
    region = region_at(regions, offset)
    return region is not None and region.given


def region_at(regions: Sequence[Region], offset: int) -> Region | None:
    """The region that an offset lies in; None where that is the arena."""
    return next((r for r in reversed(regions) if offset >= r.start), None)


def place_of(regions: Sequence[Region], offset: int) -> tuple[str, int]:
    """The memory that an offset lies in, ARENA or a region's, and the offset counted from where that begins."""
    region = region_at(regions, offset)
    return (region.memory, offset - region.start) if region else (ARENA, offset)


@record
class Group:
    """Nodes (indices into the graph's order) that run together, pulled from the last one.

    `block` is the number of output rows the last node advances per step; 0 means all at once, which lets
    kernels that take runs of pixels see the whole tensor in one call.  `pulls` is the order in which rows are asked
    of the nodes whose outputs leave the group: (node, rows it has afterwards); empty means the last node, all rows.
    A plain layer that runs `backwards` makes its last rows first: its output then lies behind the input that it grows
    over, not before it.
    """

    nodes: tuple[int, ...]
    block: int = 0
    pulls: tuple[tuple[int, int], ...] = ()
    backwards: bool = False


@record
class FrontPoint:
    """One Pareto-optimal plan: peak live bytes, time in the cost model's units, groups, and whether it was chosen.

    `fused` are its groups of more than one layer, by the layers' names; `recomputed_macs` are made more than once.
    """

    peak_bytes: int
    time: float
    groups: int
    chosen: bool = False
    fused: tuple[tuple[str, ...], ...] = ()
    recomputed_macs: int = 0


@record(eq=False)
class Plan:
    """A schedule of `graph`: groups in order, storage per tensor, scratch per node.

    `views` are nodes that only rename memory (a reshape of a whole tensor) and need no code.  `lower_bound_bytes`
    is what no placement of the same groups can beat.  `streamed` names the input whose rows are pushed one by one.
    `front` holds the plans to choose from, `regions` working memory beside the arena.  `scratchpad` is set on a
    chip that has one: kernels work in it, and the arena holds what is in global memory.  `weights` is set where the
    parameters come through a buffer.  The kernels of `in_place` nodes may write over what they read.  Of the graph's
    multiply-accumulates `recomputed_macs` are made more than once, in strips that overlap.
    """

    graph: Graph
    groups: tuple[Group, ...]
    storage: Mapping[str, Storage]
    scratch: Mapping[int, int]
    scratch_bytes: Mapping[int, int]
    views: frozenset[int]
    arena_bytes: int
    arena_align: int
    lower_bound_bytes: int
    streamed: str = ""
    front: tuple[FrontPoint, ...] = ()
    regions: tuple[Region, ...] = ()
    scratchpad: ScratchpadPlan | None = None
    weights: WeightsPlan | None = None
    in_place: frozenset[int] = frozenset()
    recomputed_macs: int = 0

    def __post_init__(self) -> None:
        """Freeze the mappings."""
        for name in ("storage", "scratch", "scratch_bytes"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
