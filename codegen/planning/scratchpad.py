"""Plans for chips whose kernels touch only the scratchpad, which a DMA fills.

Decides: that the plan of fewest cycles is taken, and that a limit of the arena is only checked.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.errors import InputNotOutside, OptionBad, ScratchpadTooSmall, StateNotOnTarget, StreamImpossible
from codegen.ir.plan import Plan
from codegen.ir.scratchpad import Engine
from codegen.kernels import kernel_needs, params_needs
from codegen.options import Options
from codegen.planning.orders import Candidates, Ordered
from codegen.schedule import limit_unreachable
from codegen.schedule.scratchpad import schedule_cores
from codegen.target import Target


def plan_scratchpad(found: Candidates, target: Target, options: Options) -> Plan:
    """The plan of fewest cycles; the turned network is tried where the other one does not fit.

    Raises:
        StateNotOnTarget: LAM-TARGET-009.
        StreamImpossible: LAM-SCHEDULE-304.
        InputNotOutside: LAM-SCHEDULE-307.
        OptionBad: LAM-IMPORT-030, for a weights buffer.
        ScratchpadTooSmall: LAM-SCHEDULE-305, of the last order tried.
        ArenaLimitUnreachable: LAM-SCHEDULE-303.
    """
    graph = found.orders[0][0]
    if graph.states:
        raise StateNotOnTarget(f"{target.name} has a scratchpad, beside which no state is kept", where=graph.name)
    if options.stream_input:
        raise StreamImpossible("its input comes by DMA from an arena that holds it whole", where=target.name)
    if options.input_outside:
        raise InputNotOutside("its input comes by DMA from an arena that holds it whole", where=target.name)
    if options.weights_buffer:
        hint = f"{target.name} has a scratchpad, into which its DMA moves the weights"
        raise OptionBad(f"{options.weights_buffer}", where="weights_buffer", hint=hint)
    best = _quickest(found.orders, found.turned, target)
    if options.arena_limit is not None and best.arena_bytes > options.arena_limit:
        raise limit_unreachable(best, options.arena_limit)
    return best


def _quickest(orders: Sequence[Ordered], otherwise: Sequence[Ordered], target: Target) -> Plan:
    """The plan of fewest cycles, of `otherwise` where no order of the first ones fits."""
    plans: list[Plan] = []
    refusal: ScratchpadTooSmall | None = None
    for order in orders:
        try:
            plans.append(_schedule(order, target))
        except ScratchpadTooSmall as error:
            refusal = error
    if plans:
        return min(plans, key=_cycles)
    if otherwise:
        return _quickest(otherwise, (), target)
    assert refusal is not None, "there is an order"
    raise refusal


def _cycles(plan: Plan) -> int:
    assert plan.scratchpad is not None, "the plan is one of the scratchpad"
    return plan.scratchpad.estimate.cycles


def _schedule(order: Ordered, target: Target) -> Plan:
    graph, kernels = order
    assert target.dma is not None, "the chip has a scratchpad"
    return schedule_cores(
        graph,
        kernel_needs(graph, kernels, tiled=True),
        params_needs(graph, kernels),
        Engine(target.dma.bytes_per_cycle, target.dma.latency_cycles, target.dma.macs_per_cycle),
        scratchpad_bytes=target.scratchpad_bytes,
        arena_align=target.arena_align,
        cores=target.dma.cores,
        banks=target.scratchpad_banks,
    )
