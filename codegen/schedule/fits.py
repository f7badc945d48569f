"""Whether a plan fits the chip; the refusal that says by how much it does not, and why."""

from __future__ import annotations

from codegen.errors import ArenaTooSmall, FlashTooSmall
from codegen.ir.plan import Plan
from codegen.target import Target


def check_fits(plan: Plan, weights_bytes: int, target: Target) -> None:
    """LAM-SCHEDULE-301 when the arena exceeds the chip's RAM, LAM-SCHEDULE-302 when the weights exceed its flash."""
    ram, flash = target.ram_bytes, target.flash_bytes
    if ram is not None and plan.arena_bytes > ram:
        peak, live = peak_node(plan)
        tensors = ", ".join(f"{name} {size} B" for name, size in live)
        needs = f"needs {plan.arena_bytes} B of working memory, {target.name} has {ram} B"
        raise ArenaTooSmall(f"{needs}; most is live at {peak}: {tensors}", where=plan.graph.name)
    if flash is not None and weights_bytes > flash:
        raise FlashTooSmall(
            f"needs {weights_bytes} B for weights, {target.name} has {flash} B of flash", where=plan.graph.name
        )


def peak_node(plan: Plan) -> tuple[str, list[tuple[str, int]]]:
    """The node at which most bytes are live, and what is live there, largest first."""
    graph = plan.graph
    first: dict[str, int] = {i.value: 0 for i in graph.inputs}
    last: dict[str, int] = {}
    for step, node in enumerate(graph.nodes):
        for name in node.outputs:
            first.setdefault(name, step)
        for name in (*node.inputs, *node.outputs):
            last[name] = step
    for name in graph.output_values:
        last[name] = len(graph.nodes)

    def live(step: int) -> list[tuple[str, int]]:
        names = [n for n in first if first[n] <= step <= last.get(n, step)]
        by_place = {plan.storage[n].offset: (n, plan.storage[n].bytes) for n in names}
        return sorted(by_place.values(), key=lambda item: (-item[1], item[0]))

    steps = range(len(graph.nodes))
    worst = max(steps, key=lambda s: sum(size for _, size in live(s)), default=0)
    return (graph.nodes[worst].name if graph.nodes else graph.name), live(worst)
