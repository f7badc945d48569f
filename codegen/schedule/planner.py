"""Labels to Plans: addresses for every tensor, ring and scratch, and the choice of one point of the front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.ir.graph import Graph
from codegen.ir.plan import FrontPoint, Group, Plan, Region, Storage
from codegen.records import record
from codegen.schedule.arena import TRIES, Packing, pack
from codegen.schedule.blocks import BEFORE, Block, BlockKind, Key, round_up, tensor
from codegen.schedule.cost import SCRATCH_READS, calls_alone
from codegen.schedule.groups import Candidate, Grouping, Label
from codegen.schedule.spread import Load, place_in, spread
from codegen.target import Memory

TENSOR_ALIGN = 4
SCRATCH_ALIGN = 8
_INPUT = "input"
"""What memory is called that the caller's input lies in, unless one of the chip's is."""
BALANCED = 1.15
"""`balanced` takes the fastest plan within this many times the smallest arena."""


@record
class Placed:
    """One label with its real addresses; `packing` has the bytes and the bound of the arena, `regions` those beside it.

    `extra` is what bytes moved cost in slower memories, beyond those of the fastest.
    """

    grouping: Grouping
    label: Label
    groups: tuple[Candidate, ...]
    packing: Packing[Key]
    regions: tuple[Region, ...] = ()
    extra: int = 0


class Placer:
    """Addresses for the labels of one order; what was searched once is not searched again."""

    def __init__(self, grouping: Grouping) -> None:
        """Nothing is placed yet."""
        self.grouping = grouping
        self._known: dict[int, tuple[Placed, int]] = {}

    def place(self, label: Label, *, enough: int = 0, tries: int = TRIES) -> Placed:
        """Pack all memory of one label: each group is one step of time.

        Args:
            label: one of the grouping's.
            enough: an arena in bytes that is good enough, with which the search ends.
            tries: how long to search.
        """
        best, tried = self._known.get(id(label), (None, -1))
        if best is not None and (tried >= tries or best.packing.bytes <= max(enough, best.packing.bound)):
            return best
        groups = label.groups()
        blocks, shares = _blocks(self.grouping, groups)
        packing = pack(blocks, shares, _align(blocks), enough=enough, tries=tries)
        if best is None or packing.bytes < best.packing.bytes:
            best = Placed(self.grouping, label, groups, packing)
        self._known[id(label)] = (best, tries if packing.bytes > enough else tried)
        return best

    def least_extra(self, label: Label, memories: Sequence[Memory], limits: Sequence[int]) -> int | None:
        """What `spread_out` will give as `extra` at least, told without addresses; None where it will find none."""
        found = spread(self._load(label), memories, limits)
        return None if found is None else found.cost

    def spread_out(
        self, label: Label, memories: Sequence[Memory], limits: Sequence[int], arena_align: int
    ) -> Placed | None:
        """Pack a label into several memories, the fastest first, within so many bytes of each, or None."""
        load = self._load(label)
        found = place_in(load, memories, limits, TRIES)
        if found is None or not found[1][0].offsets:
            return None
        option, (packing, *others) = found
        offsets, end = dict(packing.offsets), packing.bytes
        regions: list[Region] = []
        for memory, part in zip(memories[1:], others, strict=True):
            if part.offsets:
                start = round_up(end, arena_align)
                regions.append(Region(memory.symbol, start, part.bytes, part.bound, memory.cost))
                offsets |= {name: start + offset for name, offset in part.offsets.items()}
                end = regions[-1].stop
        packing = Packing(offsets, packing.bytes, packing.bound)
        return Placed(self.grouping, label, label.groups(), packing, tuple(regions), option.cost)

    def _load(self, label: Label) -> Load:
        groups = label.groups()
        blocks, shares = _blocks(self.grouping, groups)
        homes, moved = _homes(groups), dict[Key, int]()
        for root, size in self.grouping.moved.items():
            key = tensor(self.grouping.roots[homes.get(root, root)])
            moved[key] = moved.get(key, 0) + size
        moved |= _scratch_moved(self.grouping, groups)
        return Load(blocks, shares, _align(blocks), moved)


def _align(blocks: Sequence[Block[Key]]) -> int:
    return SCRATCH_ALIGN if any(b.name.kind is not BlockKind.TENSOR for b in blocks) else TENSOR_ALIGN


def _blocks(grouping: Grouping, groups: Sequence[Candidate]) -> tuple[list[Block[Key]], dict[tuple[Key, Key], int]]:
    roots, homes = grouping.roots, _homes(groups)
    at = {i: g for g, c in enumerate(groups, 1) for i in range(c.start, c.stop)}
    shares: dict[tuple[Key, Key], int] = {}
    blocks: list[Block[Key]] = []
    rings = {roots[v]: n for c in groups for v, n in c.flow.rings.items()}
    for root, born in grouping.born.items():
        if root in homes:
            continue
        start = BEFORE if born is None else at[born]
        last = grouping.last.get(root, born)
        stop = at.get(last or 0, len(groups) + 1)
        size = rings[root] * grouping.rows.row_bytes[root] if root in rings else grouping.size[root]
        blocks.append(Block(tensor(root), size, start, stop))
    for g, candidate in enumerate(groups):
        for pair in candidate.shared:
            dying, output = tensor(roots[pair.dying]), tensor(roots[pair.output])
            shares[output, dying] = pair.below
            if pair.above is not None:
                shares[dying, output] = pair.above
        blocks += _scratch_blocks(grouping, candidate, g)
    return blocks, shares


def _homes(groups: Sequence[Candidate]) -> dict[str, str]:
    """By tensor that lies in another one's rows, that one."""
    return {value: home for candidate in groups for value, home in candidate.flow.homes.items()}


def _scratch_blocks(grouping: Grouping, candidate: Candidate, group: int) -> list[Block[Key]]:
    """One block that the group's nodes take turns in, and one for each that keeps its own."""
    sizes: dict[Key, int] = {}
    for i, size in grouping.scratch_sizes(candidate.start, candidate.stop).items():
        key = _scratch_key(grouping, i, group)
        sizes[key] = max(size, sizes.get(key, 0))
    kept_last = sorted(sizes.items(), key=lambda item: item[0].kind is BlockKind.KEPT)
    return [Block(key, size, group + 1, group + 1) for key, size in kept_last]


def _scratch_key(grouping: Grouping, node: int, step: int) -> Key:
    """The block of a node's scratch: those of a group take turns in one, but for what is kept between calls."""
    return Key(BlockKind.KEPT, str(node)) if grouping.needs[node].keeps else Key(BlockKind.SHARED, str(step))


def _scratch_moved(grouping: Grouping, groups: Sequence[Candidate]) -> dict[Key, int]:
    """Bytes moved by block of scratch: each call of a kernel writes it and reads it again and again."""
    found: dict[Key, int] = {}
    for step, candidate in enumerate(groups):
        for i in range(candidate.start, candidate.stop):
            if i in grouping.needs:
                key, needs = _scratch_key(grouping, i, step), grouping.needs[i]
                alone = candidate.stop - candidate.start == 1
                times = calls_alone(needs, grouping.rows.nodes[i].steps) if alone else grouping.rows.nodes[i].steps
                size = needs.scratch(candidate.stop - candidate.start)
                found[key] = found.get(key, 0) + (1 + SCRATCH_READS) * size * times
    return found


def to_plan(placed: Placed, front: Sequence[FrontPoint], arena_align: int) -> Plan:
    """The Plan of a placed label."""
    grouping = placed.grouping
    offsets, regions = dict(placed.packing.offsets), placed.regions
    if grouping.outside:
        region = _outside(grouping, placed, arena_align)
        regions, offsets[tensor(grouping.outside)] = (*regions, region), region.start
    groups = [c for c in placed.groups if c.start in grouping.needs]
    scratch: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for step, candidate in enumerate(placed.groups):
        for i, size in grouping.scratch_sizes(candidate.start, candidate.stop).items():
            sizes[i] = size
            scratch[i] = offsets[_scratch_key(grouping, i, step)]
    return Plan(
        graph=grouping.graph,
        groups=tuple(_group(grouping, c, offsets) for c in groups),
        storage=_storage(grouping, placed.groups, offsets),
        scratch=scratch,
        scratch_bytes=sizes,
        views=frozenset(i for i in range(len(grouping.graph.nodes)) if i not in grouping.needs),
        arena_bytes=max(placed.packing.bytes, 1 if grouping.outside else 0),  # no C has an array of nothing
        arena_align=arena_align,
        lower_bound_bytes=placed.packing.bound,
        streamed=grouping.streamed,
        front=tuple(front),
        regions=regions,
        in_place=frozenset(i for i, needs in grouping.needs.items() if needs.in_place),
    )


def _outside(grouping: Grouping, placed: Placed, arena_align: int) -> Region:
    """Where the input lies that the caller holds: behind all other memory."""
    size = grouping.graph.type(grouping.outside).bytes
    end = placed.regions[-1].stop if placed.regions else max(1, placed.packing.bytes)
    name = f"{_INPUT}_outside" if any(region.memory == _INPUT for region in placed.regions) else _INPUT
    return Region(name, round_up(end, arena_align), size, size, 1, given=True)


def _group(grouping: Grouping, candidate: Candidate, offsets: Mapping[Key, int]) -> Group:
    members = tuple(range(candidate.start, candidate.stop))
    alone, roots = len(members) == 1, grouping.roots
    backwards = False
    for pair in candidate.shared:
        above = offsets[tensor(roots[pair.output])] - offsets[tensor(roots[pair.dying])]
        backwards |= -pair.below < above < grouping.size[roots[pair.dying]]
    return Group(members, 0 if alone else 1, candidate.flow.pulls, backwards)


def _storage(grouping: Grouping, groups: Sequence[Candidate], offsets: Mapping[Key, int]) -> dict[str, Storage]:
    rings = {v: n for c in groups for v, n in c.flow.rings.items()}
    homes, found = _homes(groups), dict[str, Storage]()
    for name, root in grouping.roots.items():
        rows, home = grouping.rows.height[name], homes.get(name, name)
        offset = offsets[tensor(grouping.roots[home] if name in homes else root)]
        found[name] = Storage(offset, rows, rings.get(home, rows), grouping.rows.row_bytes[name])
    return found


def view_roots(graph: Graph, views: frozenset[int]) -> dict[str, str]:
    """The value that owns each computed value's memory."""
    roots = {v.name: v.name for v in graph.values.values() if not v.is_const}
    for i in sorted(views):
        node = graph.nodes[i]
        roots[node.outputs[0]] = roots[node.inputs[0]]
    return roots
