"""What holds which bytes of the arena, and when: tensors, rings and scratch as rectangles of address and time.

Time counts the plan's groups.  Read off a finished Plan, so that a plan made by hand is described the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from codegen.ir.plan import Plan, is_given
from codegen.records import record
from codegen.schedule.planner import view_roots

Kind = Literal["input", "state", "output", "tensor", "ring", "scratch"]


@record
class Resident:
    """`bytes` of the arena from `offset`, held from group `first` to group `last`, both included.

    `layer` is the node that makes it, empty for an input.  `ring` of the tensor's `rows` rows, `row_bytes` each, are
    kept; all three are 0 for scratch.
    """

    name: str
    layer: str
    kind: Kind
    offset: int
    bytes: int
    first: int
    last: int
    rows: int = 0
    ring: int = 0
    row_bytes: int = 0

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.offset + self.bytes

    def alive(self, group: int) -> bool:
        """Whether it holds its bytes while the group runs."""
        return self.first <= group <= self.last

    def overlap(self, other: Resident) -> int:
        """Bytes of the arena that both name as theirs."""
        return max(0, min(self.end, other.end) - max(self.offset, other.offset))


@record
class Peak:
    """The group during which most bytes are in use, how many, and what is there, largest first."""

    group: int
    bytes: int
    live: tuple[Resident, ...]


def residents(plan: Plan) -> tuple[Resident, ...]:
    """Everything that holds memory of the network's, by address; views are part of what they rename."""
    return tuple(sorted((*_tensors(plan), *_scratch(plan)), key=lambda r: (r.offset, r.first, r.name)))


def used_bytes(alive: Iterable[Resident]) -> int:
    """Bytes that at least one of them holds; shared bytes count once."""
    total, reached = 0, 0
    for item in sorted(alive, key=lambda r: r.offset):
        total += max(0, item.end - max(reached, item.offset))
        reached = max(reached, item.end)
    return total


def alive_in(held: Iterable[Resident], groups: int) -> list[list[Resident]]:
    """Those that hold their bytes while each group runs, in their order."""
    found: list[list[Resident]] = [[] for _ in range(groups)]
    for item in held:
        for group in range(max(item.first, 0), min(item.last, groups - 1) + 1):
            found[group].append(item)
    return found


def find_peak(plan: Plan, held: Sequence[Resident] | None = None) -> Peak:
    """The first group during which most bytes are in use."""
    found = residents(plan) if held is None else held
    alive = alive_in(found, len(plan.groups))
    if not alive:
        return Peak(0, used_bytes(found), tuple(found))
    worst = max(range(len(alive)), key=lambda g: (used_bytes(alive[g]), -g))
    live = sorted(alive[worst], key=lambda r: (-r.bytes, r.name))
    return Peak(worst, used_bytes(live), tuple(live))


def group_title(plan: Plan, group: int) -> str:
    """The node of a group of one, else `first .. last`."""
    if not plan.groups:
        return plan.graph.name
    names = [plan.graph.nodes[i].name for i in plan.groups[group].nodes]
    return names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]}"


def _memory(plan: Plan) -> dict[str, str]:
    """The value that owns each value's memory; a state's, where its new content takes the old one's place."""
    roots = view_roots(plan.graph, plan.views)
    homes = {
        roots[state.next]: roots[state.value]
        for state in plan.graph.states
        if plan.storage[state.next].offset == plan.storage[state.value].offset
    }
    return {name: homes.get(root, root) for name, root in roots.items()}


def _tensors(plan: Plan) -> list[Resident]:
    graph, end = plan.graph, max(0, len(plan.groups) - 1)
    at = {node: g for g, group in enumerate(plan.groups) for node in group.nodes}
    roots = _memory(plan)
    inputs = {roots[face.value] for face in graph.inputs}
    states = {roots[state.value] for state in graph.states}
    outputs = {roots[face.value] for face in graph.outputs}
    lasting = {roots[name] for name in graph.output_values} | states
    makers = {name: node.name for node in graph.nodes for name in node.outputs}
    first = dict.fromkeys((roots[value] for value in graph.source_values), 0)
    last: dict[str, int] = {}
    for index, node in enumerate(graph.nodes):
        for name in (*node.inputs, *node.outputs):
            if name in roots and index in at:
                first.setdefault(roots[name], at[index])
                last[roots[name]] = max(last.get(roots[name], 0), at[index])
    found: list[Resident] = []
    for root, born in first.items():
        place = plan.storage[root]
        if place.memory != "arena" or is_given(plan.regions, place.offset):
            continue
        kind: Kind = "ring" if place.ring < place.rows else "tensor"
        kind = "input" if root in inputs else "output" if root in outputs else kind
        kind = "state" if root in states else kind
        stop = end if root in lasting else last.get(root, born)
        span = (place.offset, place.bytes, born, stop)
        found.append(Resident(root, makers.get(root, ""), kind, *span, place.rows, place.ring, place.row_bytes))
    return found


def _scratch(plan: Plan) -> list[Resident]:
    """Scratch areas; nodes of a group that use the same one after another are one area."""
    largest: dict[tuple[int, int], int] = {}
    owners: dict[tuple[int, int], list[str]] = {}
    for group, nodes in enumerate(plan.groups):
        for index in nodes.nodes:
            if index in plan.scratch:
                key = (group, plan.scratch[index])
                largest[key] = max(largest.get(key, 0), plan.scratch_bytes[index])
                owners.setdefault(key, []).append(plan.graph.nodes[index].name)
    found: list[Resident] = []
    for (group, at), size in largest.items():
        first, *others = owners[group, at]
        name = f"scratch of {first}" + (f" and {len(others)} more" if others else "")
        found.append(Resident(name, first, "scratch", at, size, group, group))
    return found
