"""Whether a plan fits, and the refusals that say by how much it does not, where, and what would help."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.errors import ArenaLimitUnreachable, ArenaTooSmall, CompileError, FlashTooSmall
from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.schedule.live import Resident, find_peak, group_title, used_bytes
from codegen.target import Target

_NAMED = 6
"""Tensors at the peak that a refusal names."""
_HEAVIEST = 3
"""Layers that a refusal of weights names."""


def misfits(plan: Plan, weights_bytes: int, target: Target) -> tuple[CompileError, ...]:
    """LAM-SCHEDULE-301 when the arena exceeds the chip's RAM, LAM-SCHEDULE-302 when the weights exceed its flash."""
    ram, flash = target.ram_bytes, target.flash_bytes
    found: list[CompileError] = []
    if ram is not None and plan.arena_bytes > ram:
        found.append(_exceeds_ram(plan, ram, target))
    if flash is not None and weights_bytes > flash:
        needs = f"needs {weights_bytes} B for weights, {target.name} has {flash} B of flash"
        found.append(
            FlashTooSmall(
                f"{needs}, {weights_bytes - flash} B too few; {_largest_weights(plan.graph)}",
                where=plan.graph.name,
                hint=_ways_to_shrink(target),
            )
        )
    return tuple(found)


def _exceeds_ram(plan: Plan, ram: int, target: Target) -> ArenaTooSmall:
    missing = plan.arena_bytes - ram
    needs = f"needs {plan.arena_bytes} B of working memory, {target.name} has {ram} B, {missing} B too few"
    if len(target.working) > 1:
        sizes = ", ".join(f"{m.bytes or 'any'} B of {m.name}" for m in target.working)
        needs = f"needs {plan.arena_bytes} B of working memory, and no way was found to spread it over {sizes}"
    hint = _ways_out(plan, missing, f"choose a target with {plan.arena_bytes} B of RAM")
    return ArenaTooSmall(f"{needs}; {_at_peak(plan)}", where=plan.graph.name, hint=hint)


def weights_notes(weights_bytes: int, target: Target) -> tuple[str, ...]:
    """What a user must know of a weight blob, which lies wherever the firmware puts it."""
    flash = target.flash_bytes
    if flash is None or weights_bytes <= flash:
        return ()
    return (f"weights.bin has {weights_bytes} B, {target.name} {flash} B of flash: put it into external memory",)


def _largest_weights(graph: Graph) -> str:
    """The layers with the most trained bytes."""
    held = {name: 0 if value.data is None else int(value.data.nbytes) for name, value in graph.values.items()}
    sizes = {node.name: sum(held[i] for i in node.inputs) for node in graph.nodes}
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:_HEAVIEST]
    return f"most is in {', '.join(f'{name} {sizes[name]} B' for name in largest)}"


def _ways_to_shrink(target: Target) -> str:
    """A blob in other memory, tighter packing where the target packs loosely, another network."""
    ways = ["put the weights into external flash with --weights blob (read in place, no part of the image)"]
    if target.weights.expand:
        ways.append("leave `expand` out of the target's [weights], for a tighter packing")
    ways.append("choose a target with more flash")
    return f"{', '.join(ways)}, or train these layers with fewer channels"


def limit_unreachable(smallest: Plan, limit: int) -> ArenaLimitUnreachable:
    """LAM-SCHEDULE-303 for a limit below the smallest plan that was found: its size, its peak, and what would help."""
    missing = smallest.arena_bytes - limit
    said = f"the limit is {limit} B; the smallest arena found is {smallest.arena_bytes} B, {missing} B more"
    hint = _ways_out(smallest, missing, f"raise --arena-limit to {smallest.arena_bytes}")
    return ArenaLimitUnreachable(f"{said}; {_at_peak(smallest)}", where=smallest.graph.name, hint=hint)


def _at_peak(plan: Plan) -> str:
    """The group at the peak, and what lies there, largest first; shared bytes count once, and all are the arena's."""
    peak = find_peak(plan)
    named = [_share(r, peak.live[:k]) for k, r in enumerate(peak.live[:_NAMED])]
    if len(peak.live) > _NAMED:
        rest = peak.bytes - used_bytes(peak.live[:_NAMED])
        named.append(f"{len(peak.live) - _NAMED} more {rest} B")
    idle = plan.arena_bytes - peak.bytes
    gaps = f"; {idle} B lie idle then" if idle > 0 else ""
    return f"most is in use at {group_title(plan, peak.group)}, {peak.bytes} B: {', '.join(named)}{gaps}"


def _share(item: Resident, before: Sequence[Resident]) -> str:
    """What an item adds to those before it, and how many bytes it shares with them."""
    own = used_bytes([*before, item]) - used_bytes(before)
    shared = f" (and {item.bytes - own} B shared with those before)" if own < item.bytes else ""
    return f"{item.name} {own} B{shared}"


def _ways_out(plan: Plan, missing: int, first: str) -> str:
    """`first`, layers that take none of a weights buffer, streaming of an input at the peak, a smaller network."""
    ways = [first]
    if plan.weights is not None:
        ways.append("pin or map weights of layers around it (--pin, --map), so that more run together")
    peak = find_peak(plan)
    freed = peak.bytes - used_bytes([r for r in peak.live if r.kind != "input"])
    if freed and not plan.streamed and plan.scratchpad is None and len(plan.graph.inputs) == 1:
        enough = "" if freed >= missing else ", not enough alone"
        way = "stream the input with --stream-input, or leave it where it is with --input-outside"
        ways.append(f"{way} (it has {freed} B of its own at the peak{enough})")
    return f"{', '.join(ways)}, or lower the input's resolution"
