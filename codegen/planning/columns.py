"""Layers on maps of one column, of which a call makes several rows as one row, in a plan that lets it.

Decides: which layers they are, and how many rows a call makes.  Each has the memory of a plan without them: a layer's
rows lie one behind the other there, its output apart from its input or whole pixels away, and scratch takes bytes of
the arena that are idle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from codegen.ir.form import Form
from codegen.ir.plan import Group, Plan
from codegen.ir.shape import row_count
from codegen.kernels import KernelTable, estimated_cycles, has_column, pays, spare_growth
from codegen.schedule import residents, used_bytes
from codegen.target import Cycles, Target


def by_columns(
    plan: Plan, kernels: Mapping[int, Form], target: Target, table: KernelTable, goal: str
) -> dict[int, Form]:
    """Forms by node index that take fewer instructions that way, as many parameters as packing may add.

    Those of longer code save as large a share of cycles as choices of kernels have to, but with goal `speed`.
    """
    places = [(i, group.nodes[0]) for i, group in enumerate(plan.groups) if lets(plan, group)]
    if not places or goal == "size":
        return {}
    found: dict[int, Form] = {}
    held, spare = residents(plan), spare_growth(plan.graph, kernels, target, table, goal)
    for place, index in places:
        form, idle = kernels[index], plan.arena_bytes - used_bytes(r for r in held if r.alive(place))
        offered = (
            more
            for more in _offered(plan, index, form, table)
            if more.params_bytes - form.params_bytes <= spare
            and more.scratch_bytes - form.scratch_bytes <= idle
            and (goal == "speed" or pays(plan.graph, kernels, index, more, target))
        )
        best = min(offered, key=lambda more: (_cycles(more, target.cycles), -more.rows), default=form)
        if best is not form and _cycles(best, target.cycles) <= _cycles(form, target.cycles):
            found[index], spare = best, spare - (best.params_bytes - form.params_bytes)
    return found


def lets(plan: Plan, group: Group) -> bool:
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


def _cycles(form: Form, cycles: Cycles | None) -> float:
    """What a row takes, of kernels that say that."""
    return estimated_cycles(form.mix, cycles) if form.mix is not None else 0.0
