"""Graph to Plan: order, groups and addresses.

This planner runs layer by layer: every group is one node, every ring a whole tensor.  Tensors share memory
when their lifetimes do not meet; views and exact in-place operators share by construction.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ir.graph import Graph
from codegen.ir.plan import Group, Plan, Storage
from codegen.ir.shape import row_count
from codegen.schedule.arena import live_bound, pack, round_up
from codegen.schedule.liveness import Lifetime, is_view, lifetimes, storage_roots

TENSOR_ALIGN = 4
SCRATCH_ALIGN = 8


def schedule(graph: Graph, scratch_bytes: Mapping[int, int], *, arena_align: int) -> Plan:
    """Place every tensor, and each node's scratch (bytes by node index), in one arena."""
    roots = storage_roots(graph)
    views = frozenset(i for i, node in enumerate(graph.nodes) if is_view(graph, node))
    blocks = lifetimes(graph, roots)
    scratch = {i: n for i, n in scratch_bytes.items() if n}
    blocks += [Lifetime(_scratch_name(i), round_up(n, SCRATCH_ALIGN), i, i) for i, n in scratch.items()]
    align = SCRATCH_ALIGN if scratch else TENSOR_ALIGN
    offsets, size = pack(blocks, align)
    groups = tuple(Group((i,)) for i in range(len(graph.nodes)) if i not in views)
    return Plan(
        graph=graph,
        groups=groups,
        storage={name: _whole(graph, name, offsets[root]) for name, root in roots.items()},
        scratch={i: offsets[_scratch_name(i)] for i in scratch},
        scratch_bytes=scratch,
        views=views,
        arena_bytes=size,
        arena_align=arena_align,
        lower_bound_bytes=live_bound(blocks, 1),
    )


def _scratch_name(index: int) -> str:
    """A name no tensor has."""
    return f"\0scratch{index}"


def _whole(graph: Graph, name: str, offset: int) -> Storage:
    kind = graph.type(name)
    rows = row_count(kind.shape)
    return Storage(offset=offset, rows=rows, ring=rows, row_bytes=kind.bytes // max(rows, 1))
