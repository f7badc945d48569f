"""Layers on maps of one column, of which a call makes several rows as one row, in a plan that lets it.

Decides: which layers they are, and how many rows a call makes.  Each has the memory of a plan without them: a layer's
rows lie one behind the other there, its output apart from its input or whole pixels away, and scratch takes a run of
bytes that no tensor holds then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from codegen.ir.form import Form
from codegen.ir.plan import Group, Plan
from codegen.ir.shape import row_count
from codegen.kernels import KernelTable, expected_cycles, has_column, pays, spare_growth
from codegen.schedule import Resident, residents, round_up
from codegen.target import Target


def by_columns(
    plan: Plan, kernels: Mapping[int, Form], target: Target, table: KernelTable, goal: str
) -> tuple[Plan, dict[int, Form]]:
    """The same with forms that take fewer instructions that way, and as many parameters as packing may add.

    Those of longer code save as large a share of cycles as choices of kernels have to, but with goal `speed`.
    """
    layers = [(i, group.nodes[0]) for i, group in enumerate(plan.groups) if _lets(plan, group)]
    if not layers or goal == "size":
        return plan, dict(kernels)
    found, scratch = dict(kernels), {i: (at, plan.scratch_bytes[i]) for i, at in plan.scratch.items()}
    held, spare = residents(plan), spare_growth(plan.graph, kernels, target, table, goal)
    for place, index in layers:
        form, hole = kernels[index], _hole(plan, place, held)
        offered = (
            more
            for more in _offered(plan, index, form, table)
            if more.params_bytes - form.params_bytes <= spare
            and more.scratch_bytes <= len(hole)
            and (goal == "speed" or pays(plan.graph, kernels, index, more, target))
        )
        best = min(offered, key=lambda more: (expected_cycles(more, target.cycles), -more.rows), default=form)
        if best is not form and expected_cycles(best, target.cycles) <= expected_cycles(form, target.cycles):
            found[index], spare = best, spare - (best.params_bytes - form.params_bytes)
            scratch[index] = (hole.start, best.scratch_bytes)
    taken = {i: (at, size) for i, (at, size) in scratch.items() if size}
    places, sizes = ({i: part[k] for i, part in taken.items()} for k in (0, 1))
    return replace(plan, scratch=places, scratch_bytes=sizes), found


def _hole(plan: Plan, place: int, held: Sequence[Resident]) -> range:
    """The most bytes of the arena in one piece that no tensor holds while a group of one layer runs."""
    runs, end = [range(0)], 0
    for item in (r for r in held if r.alive(place) and r.kind != "scratch"):
        runs.append(range(round_up(end, plan.arena_align), min(item.offset, plan.arena_bytes)))
        end = max(end, item.end)
    runs.append(range(round_up(end, plan.arena_align), plan.arena_bytes))
    return max(runs, key=len)


def _lets(plan: Plan, group: Group) -> bool:
    """Whether a group is one layer on a map of one column, and its rows lie as calls of several need them."""
    (index, *others) = group.nodes
    node = plan.graph.nodes[index]
    if others or group.block or not has_column(plan.graph.view(node)):
        return False
    x, y = plan.storage[node.inputs[0]], plan.storage[node.outputs[0]]
    if x.ring < x.rows or y.ring < y.rows or (plan.streamed and group is plan.groups[0]):
        return False
    apart = x.offset + x.bytes <= y.offset or y.offset + y.bytes <= x.offset
    return apart or (x.row_bytes == y.row_bytes and (x.offset - y.offset) % y.row_bytes == 0)


def _offered(plan: Plan, index: int, form: Form, table: KernelTable) -> Iterator[Form]:
    """The forms that make several rows, of which calls of equal numbers make all."""
    view = plan.graph.view(plan.graph.nodes[index])
    height = row_count(view.outs[0].shape)
    for rows in (rows for rows in range(2, height + 1) if height % rows == 0):
        yield from (more for more in table.columns(view, form, rows) if (more.mix is None) == (form.mix is None))
