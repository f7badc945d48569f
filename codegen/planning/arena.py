"""Plans for chips whose kernels work in one memory of addresses: the arena, and slower memories behind it.

Decides: which goal and limit the scheduler gets, and what is tried when the chip's RAM is exceeded.  Of layers cut for
a weights buffer, those that fit it as a whole are cut where that costs no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from codegen.errors import ArenaLimitUnreachable, WeightsBufferTooSmall
from codegen.ir.plan import Plan
from codegen.kernels import kernel_needs
from codegen.options import LEAST_BUFFER, Goal, Options
from codegen.planning.asked import choose_goal
from codegen.planning.orders import Candidates, Ordered
from codegen.planning.weights import ALIGN, Buffered, buffered, without_buffer
from codegen.schedule import Flows, Scheduler
from codegen.target import Target

_EIGHTHS = (6, 4, 3, 2)
"""Of the buffer, tried where the smallest plan is asked for or the chip's RAM exceeded: a smaller one may do."""


def plan_arena(found: Candidates, target: Target, options: Options, flows: Flows | None = None) -> Plan:
    """The plan that the options ask for; where no limit is given and the chip's RAM would be exceeded, that is it.

    What takes less memory and more time competes where the smallest plan is asked for, or a limit set.  What does not
    fit at all goes to slower memories, where the chip has them.
    """
    if not options.weights_buffer or not any(form.params_bytes for form in found.orders[0][1].values()):
        return _planned(found, target, options, target.ram_bytes, flows=flows)
    tried, refusals = _tried(found, target, options, options.weights_buffer)
    least = min((plan.arena_bytes for plan in tried), default=None)
    if choose_goal(options, target) == "memory" or least is None or least > (target.ram_bytes or least):
        for size in (options.weights_buffer * part // 8 for part in _EIGHTHS):
            with suppress(WeightsBufferTooSmall):
                tried += _tried(found, target, options, size)[0] if size >= LEAST_BUFFER else []
    if not tried:
        raise refusals[-1]
    return min(tried, key=lambda plan: plan.arena_bytes)


def _tried(
    found: Candidates, target: Target, options: Options, size: int
) -> tuple[list[Plan], list[ArenaLimitUnreachable]]:
    """Plans whose weights go through a buffer of that size, and why there is none."""
    plans: list[Plan] = []
    refusals: list[ArenaLimitUnreachable] = []
    for buffer in buffered(*found.orders[0], target, replace(options, weights_buffer=size)):
        try:
            plans.append(_through(buffer, found, target, options))
        except ArenaLimitUnreachable as error:
            said = f"beside {buffer.arena_bytes} B of weights {error.found}"
            hint = "raise --arena-limit, or lower --weights-buffer"
            refusals.append(ArenaLimitUnreachable(said, where=error.where, hint=hint))
    return plans, refusals


def _through(buffer: Buffered, found: Candidates, target: Target, options: Options) -> Plan:
    """The plan whose weights go through a buffer, which is part of the arena."""
    smaller, ram = without_buffer(options, target, buffer.arena_bytes)
    plan = _planned(Candidates(found.orders), target, smaller, ram, buffer)
    return buffer.planned(plan, next(kernels for graph, kernels in found.orders if graph is plan.graph))


def _planned(
    found: Candidates,
    target: Target,
    options: Options,
    ram: int | None,
    buffer: Buffered | None = None,
    flows: Flows | None = None,
) -> Plan:
    goal, limit = choose_goal(options, target), options.arena_limit
    orders, several = _competing(found, goal, limit), len(target.working) > 1
    scheduler = _scheduler(orders, target, options, buffer, flows)
    try:
        first = scheduler.plan(goal, limit)
        if ram is None or first.arena_bytes <= ram or (limit is not None and not several):
            return first
        if len(found.all) > len(orders):
            scheduler = _scheduler(found.all, target, options, buffer, flows)
        return scheduler.plan(goal, ram)
    except ArenaLimitUnreachable:
        spread = scheduler.spread(target.working, limit) if several else None
        if spread is None and limit is not None:
            raise
        return spread or scheduler.plan("memory")


def _competing(found: Candidates, goal: Goal, limit: int | None) -> Sequence[Ordered]:
    """The orders that are tried first: those that take longer for less memory where that is asked for."""
    if goal == "memory" or limit is not None:
        return found.all
    return found.balanced if goal == "balanced" else found.orders


def _scheduler(
    orders: Sequence[Ordered], target: Target, options: Options, buffer: Buffered | None, flows: Flows | None
) -> Scheduler:
    asked = buffer.needs if buffer else kernel_needs
    known = [(graph, asked(graph, kernels)) for graph, kernels in orders]
    return Scheduler(
        known,
        arena_align=max(target.arena_align, ALIGN) if buffer else target.arena_align,
        stream_input=options.stream_input,
        input_outside=options.input_outside,
        weights_buffer=buffer.bytes if buffer else None,
        flows=flows,
    )
