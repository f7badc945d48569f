"""Kernels that take more scratch and fewer instructions, of the layers beside which a plan's arena has bytes to spare.

Decides: which layers they are, and which have no use for a copy of their inputs.  The arena grows for none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.ir.form import Form
from codegen.ir.images import of_batch
from codegen.ir.plan import Plan
from codegen.kernels import KernelTable, spare_growth
from codegen.schedule import residents, used_bytes
from codegen.target import Target


def copying_nothing(plan: Plan, kernels: Mapping[int, Form], plain: Mapping[str, Form]) -> dict[int, Form]:
    """The `plain` forms, by name of the node, of layers that copy their input although the output lies beside it."""
    found: dict[int, Form] = {}
    for i in (i for i, form in kernels.items() if form.copies):
        node = plan.graph.nodes[i]
        x, y = plan.storage[node.inputs[0]], plan.storage[node.outputs[0]]
        if x.offset + x.bytes <= y.offset or y.offset + y.bytes <= x.offset:
            found[i] = plain[node.name]
    return found


def roomier(plan: Plan, kernels: Mapping[int, Form], target: Target, table: KernelTable, goal: str) -> dict[int, Form]:
    """Forms by node index, of layers whose group leaves as many bytes of the arena idle as they take more.

    Their parameters stay within what packing may add to those of the network.  A layer that every image of a batch has
    gets one for all of them, so that they go on sharing it.
    """
    views = {i: plan.graph.view(plan.graph.nodes[i]) for i in kernels}
    larger = {i: more for i, form in kernels.items() if (more := table.roomier(views[i], form))}
    offered = {i: more for i, more in larger.items() if more.in_place or not kernels[i].in_place}
    if not offered:
        return {}
    spare = spare_growth(plan.graph, kernels, target, table, goal)
    return _where_idle(plan, kernels, {i: [more] for i, more in offered.items()}, spare, plan.arena_bytes)


def given_back(
    plan: Plan, kernels: Mapping[int, Form], faster: Mapping[Form, Sequence[Form]], most: int
) -> dict[int, Form]:
    """The first of the forms that are `faster` than a layer's, of layers beside which `most` bytes have room."""
    offered: dict[int, Sequence[Form]] = {}
    for i, form in kernels.items():
        more = [f for f in faster.get(form, ()) if f.in_place or not form.in_place]
        offered |= {i: more} if more else {}
    grown = sum(max(0, *(f.params_bytes - kernels[i].params_bytes for f in more)) for i, more in offered.items())
    return _where_idle(plan, kernels, offered, grown, most)


def _where_idle(
    plan: Plan, kernels: Mapping[int, Form], offered: Mapping[int, Sequence[Form]], spare: int, most: int
) -> dict[int, Form]:
    """Of forms that are offered the first whose bytes the group leaves idle, of `most`.

    Parameters grow by `spare` at most.
    """
    found: dict[int, Form] = {}
    held = residents(plan)
    for place, group in enumerate(plan.groups):
        idle = most - used_bytes(r for r in held if r.alive(place))
        for index in (index for index in group.nodes if index in offered):
            form = kernels[index]
            for more in offered[index]:
                grown, scratch = more.params_bytes - form.params_bytes, more.scratch_bytes - form.scratch_bytes
                if grown <= spare and scratch <= idle:
                    found[index] = more
                    spare, idle = spare - grown, idle - scratch
                    break
    layers = {i: of_batch(plan.graph.nodes[i].outputs[0]) for i in offered}
    split = {layers[i] for i in offered if i not in found}
    return {i: form for i, form in found.items() if layers[i] not in split}
