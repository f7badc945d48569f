"""Plan: order, layer groups, rows, rings and offsets.  What the scheduler decides, and nothing of C.

Every tensor is a ring of rows at an offset of the arena: row r lives at
`offset + (r % ring) * row_bytes`.  A tensor that is held whole has `ring == rows`.  A group is run by pulling
rows from its last node; a group of one node is a plain layer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from codegen.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class Storage:
    """Where one tensor lives.  Offsets and sizes in bytes."""

    offset: int
    rows: int
    ring: int
    row_bytes: int

    @property
    def bytes(self) -> int:
        """Bytes that the ring takes."""
        return self.ring * self.row_bytes


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes (indices into the graph's order) that run together, pulled from the last one.

    `block` is the number of output rows the last node advances per step; 0 means all at once, which lets
    kernels that take runs of pixels see the whole tensor in one call.
    """

    nodes: tuple[int, ...]
    block: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A schedule of `graph`: groups in order, storage per tensor, scratch per node.

    `views` are nodes that only rename memory (a reshape of a whole tensor) and need no code.  `lower_bound_bytes`
    is what no placement of the same order can beat.
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

    def __post_init__(self) -> None:
        """Freeze the mappings."""
        for name in ("storage", "scratch", "scratch_bytes"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
