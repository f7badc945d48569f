"""Weights that are read into a buffer: which layers are cut into slices, and when what is read.

Decides: that slices take half of the buffer where they can, so that one is read while another computes, and that
reads go around the buffer as in a ring: each begins as soon as the uses that it takes bytes of have ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from codegen.errors import ArenaLimitUnreachable, WeightsBufferTooSmall
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.plan import NodeNeeds, Plan, Storage
from codegen.ir.weights import Cut, WeightsPlan, WeightsUse
from codegen.kernels import KernelTable, cuts, fastest_first, kernel_needs, same_function
from codegen.options import Options
from codegen.planning.apart import Apart, apart
from codegen.records import record
from codegen.target import Target

ALIGN = 16
"""Of each layer's parameters, in the weight section as in the buffer."""


@record
class Buffered:
    """What a network asks of a buffer of so many bytes: the layers to cut, by name, and those that take none of it."""

    bytes: int
    cuts: Mapping[str, Cut]
    apart: Apart

    @property
    def arena_bytes(self) -> int:
        """What the arena holds of weights at most."""
        return self.bytes + sum(self.apart.pinned.values())

    def needs(self, graph: Graph, kernels: Mapping[int, Form]) -> dict[int, NodeNeeds]:
        """What the scheduler must know of each kernel: a layer that is cut reads its input again for each slice."""
        found = kernel_needs(graph, kernels)
        return {i: self._need(graph.nodes[i].name, needs, kernels[i]) for i, needs in found.items()}

    def _need(self, name: str, needs: NodeNeeds, form: Form) -> NodeNeeds:
        cut = self.cuts.get(name)
        if cut is None:
            return replace(needs, params_bytes=0 if name in self.apart else _rounded(form.params_bytes))
        return replace(
            needs,
            whole=True,
            one_run=False,
            most_rows=1,
            in_place=False,
            by_rows=False,
            scratch_bytes=cut.scratch_bytes,
            row_scratch_bytes=None,
            params_bytes=self.bytes + 1,
        )

    def planned(self, plan: Plan, kernels: Mapping[int, Form]) -> Plan:
        """The plan with the buffer at the end of its arena."""
        at = {node.name: i for i, node in enumerate(plan.graph.nodes)}
        cut = {at[name]: cut for name, cut in self.cuts.items()}
        start = _rounded(plan.arena_bytes)
        stay = {at[name]: size for name, size in self.apart.pinned.items()}
        mapped = frozenset(at[name] for name in self.apart.mapped)
        blocks = list(_blocks(plan, kernels, cut, mapped | stay.keys()))
        placed = _placed(blocks, self.bytes)
        size = max((offset + block[2] for block, (offset, _) in zip(blocks, placed, strict=True)), default=0)
        size = max(_rounded(size), _HEADER)
        uses = tuple(
            WeightsUse(group, index, start + offset, taken, after)
            for (group, index, taken), (offset, after) in zip(blocks, placed, strict=True)
        )
        ends = list(accumulate(stay.values(), initial=start + size))
        pinned = dict(zip(stay, ends, strict=False))
        return _grown(plan, ends[-1], WeightsPlan(start, size, cut, uses, pinned, mapped))


_HEADER = 64
"""Bytes of a blob's header, which is read into the buffer too."""


def for_buffer(
    graph: Graph, kernels: Mapping[int, Form], target: Target, options: Options, table: KernelTable
) -> Mapping[int, Form]:
    """The kernels; layers of which even the smallest slice exceeds the buffer get the fastest that has a smaller one.

    One that sums more output channels at a time asks for more weights at a time.
    """
    if not options.weights_buffer or target.dma is not None:
        return kernels
    size, stay = _held(options), _apart(graph, kernels, target, options)
    found = dict(kernels)
    for i, form in kernels.items():
        view = graph.view(graph.nodes[i])
        if view.name in stay or _least(graph, i, form, size) <= size:
            continue
        forms = fastest_first([*table.fitting(view, form.features)], target.cycles)
        least = {number: _least(graph, i, other, size) for number, other in enumerate(forms)}
        found[i] = forms[next((k for k, n in least.items() if n <= size), min(least, key=lambda k: least[k]))]
    return found


def _held(options: Options) -> int:
    """Bytes of weights that the buffer holds."""
    assert options.weights_buffer, "a buffer is asked for"
    return options.weights_buffer - options.weights_buffer % ALIGN


def _apart(graph: Graph, kernels: Mapping[int, Form], target: Target, options: Options) -> Apart:
    sizes = {graph.nodes[i].name: _rounded(form.params_bytes) for i, form in kernels.items() if form.params_bytes}
    return apart(sizes, target, options)


def _least(graph: Graph, index: int, form: Form, size: int) -> int:
    """The fewest bytes of weights that a layer can be run with at a time; as soon as they fit, so many."""
    return min(_rounded(form.params_bytes), _fitting(graph, index, form, size)[1])


def buffered(graph: Graph, kernels: Mapping[int, Form], target: Target, options: Options) -> Iterator[Buffered]:
    """How the weights may go through the buffer that is asked for.

    First with all layers cut that take more than half of it, so that the next weights are read while a layer runs, then
    with those alone that it cannot hold.

    Raises:
        WeightsBufferTooSmall: LAM-SCHEDULE-306, with the least bytes that would do.
        OptionBad: LAM-IMPORT-030, as `apart`.
    """
    size, stay = _held(options), _apart(graph, kernels, target, options)
    at = {graph.nodes[i].name: i for i in kernels}
    found: dict[str, Cut] = {}
    missing: list[tuple[int, str]] = []
    for i, form in kernels.items():
        if _rounded(form.params_bytes) <= size // 2:
            continue
        name = graph.nodes[i].name
        if name in stay:
            continue
        cut, least = _fitting(graph, i, form, size)
        if cut is not None:
            found[name] = cut
        elif least > size:
            missing.append((least, name))
    if missing:
        least, name = max(missing)
        said = f"needs {least} B of weights at a time, the buffer has {options.weights_buffer} B"
        raise WeightsBufferTooSmall(
            said, where=f"layer {name}", hint=f"--weights-buffer {least} is the least that works"
        )
    yield Buffered(size, found, stay)
    asked = {name: cut for name, cut in found.items() if _rounded(kernels[at[name]].params_bytes) > size}
    if len(asked) < len(found):
        yield Buffered(size, asked, stay)


def _fitting(graph: Graph, index: int, form: Form, size: int) -> tuple[Cut | None, int]:
    """The largest slices within half of the buffer, else within all of it; and the least bytes that would do.

    None for a layer that stays whole: it fits, and has no smaller slices.
    """
    view = graph.view(graph.nodes[index])
    fits: Cut | None = None
    least = _rounded(form.params_bytes)
    for cut in cuts(view, form):
        taken = _rounded(cut.bytes)
        if taken >= least or not same_function(view, form, cut):
            continue
        least = taken
        if taken <= size // 2:
            return cut, least
        if taken <= size and fits is None:
            fits = cut
    return (fits if _rounded(form.params_bytes) > size else None), least


def _rounded(size: int) -> int:
    return -(-size // ALIGN) * ALIGN


def _blocks(
    plan: Plan, kernels: Mapping[int, Form], cut: Mapping[int, Cut], stay: Collection[int]
) -> Iterator[tuple[int, int, int]]:
    """Group, slice and bytes of each use."""
    for g, group in enumerate(plan.groups):
        if group.nodes[0] in cut:
            found = cut[group.nodes[0]]
            yield from ((g, index, found.bytes) for index in range(found.count))
        else:
            sizes = [kernels[i].params_bytes for i in group.nodes if i not in stay]
            taken = sum(map(_rounded, sizes))
            if taken:
                yield g, 0, taken


def _placed(blocks: Sequence[tuple[int, int, int]], size: int) -> list[tuple[int, int]]:
    """Place in the buffer, and the use at whose begin the read may begin, of each block: one behind the other."""
    found: list[tuple[int, int]] = []
    free_after = np.zeros(size // ALIGN, np.int64)
    position = earliest = 0
    for number, (_, _, taken) in enumerate(blocks):
        width = _rounded(taken)
        offset = position if position + width <= size else 0
        place = slice(offset // ALIGN, (offset + width) // ALIGN)
        earliest = max(earliest, int(free_after[place].max()))
        free_after[place] = number + 1
        found.append((offset, earliest))
        position = offset + width
    return found


def _grown(plan: Plan, arena_bytes: int, weights: WeightsPlan) -> Plan:
    """The plan with a larger arena; what lies behind the arena moves."""
    gap = -(-(arena_bytes - plan.arena_bytes) // plan.arena_align) * plan.arena_align
    first = plan.regions[0].start if plan.regions else 1 << 62

    def moved(offset: int) -> int:
        return offset + gap if offset >= first else offset

    def place(at: Storage) -> Storage:
        return replace(at, offset=moved(at.offset))

    return replace(
        plan,
        arena_bytes=arena_bytes,
        lower_bound_bytes=plan.lower_bound_bytes + arena_bytes - plan.arena_bytes,
        storage={name: place(at) for name, at in plan.storage.items()},
        scratch={node: moved(offset) for node, offset in plan.scratch.items()},
        regions=tuple(replace(r, start=moved(r.start)) for r in plan.regions),
        weights=weights,
    )


def without_buffer(options: Options, target: Target, size: int) -> tuple[Options, int | None]:
    """The limit of the arena, and the chip's RAM, less the buffer."""
    ram = target.ram_bytes
    limit = options.arena_limit
    if limit is not None and limit <= size:
        raise ArenaLimitUnreachable(f"the limit is {limit} B, the weights buffer alone {size} B", where="arena")
    smaller = options if limit is None else replace(options, arena_limit=limit - size)
    return smaller, None if ram is None else max(0, ram - size)
