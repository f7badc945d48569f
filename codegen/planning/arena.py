"""Plans for chips whose kernels work in one memory of addresses: the arena, and slower memories behind it.

Decides: which goal and limit the scheduler gets, and what is tried when the chip's RAM is exceeded.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.errors import ArenaLimitUnreachable
from codegen.ir.plan import Plan
from codegen.kernels import kernel_needs
from codegen.options import Options
from codegen.planning.asked import choose_goal
from codegen.planning.orders import Candidates, Ordered
from codegen.schedule import Scheduler
from codegen.target import Target


def plan_arena(found: Candidates, target: Target, options: Options) -> Plan:
    """The plan that the options ask for; where no limit is given and the chip's RAM would be exceeded, that is it.

    The turned network competes where the smallest plan is asked for, or a limit set.  What does not fit at all goes to
    slower memories, where the chip has them.
    """
    both = [*found.orders, *found.turned]
    goal, limit, ram = choose_goal(options, target), options.arena_limit, target.ram_bytes
    small, several = goal == "memory" or limit is not None, len(target.working) > 1
    scheduler = _scheduler(both if small else found.orders, target, options)
    try:
        first = scheduler.plan(goal, limit)
        if ram is None or first.arena_bytes <= ram or (limit is not None and not several):
            return first
        if found.turned and not small:
            scheduler = _scheduler(both, target, options)
        return scheduler.plan(goal, ram)
    except ArenaLimitUnreachable:
        spread = scheduler.spread(target.working, limit) if several else None
        if spread is None and limit is not None:
            raise
        return spread or scheduler.plan("memory")


def _scheduler(orders: Sequence[Ordered], target: Target, options: Options) -> Scheduler:
    known = [(graph, kernel_needs(graph, kernels)) for graph, kernels in orders]
    return Scheduler(known, arena_align=target.arena_align, stream_input=options.stream_input)
