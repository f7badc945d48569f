"""A memory plan as text."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.report.plan import GroupRecord, PlanRecord, RingRecord
from codegen.report.table import text_pairs, text_table


def plan_text(plan: PlanRecord) -> str:
    """Sizes and traffic, groups, slices, rings, what shares memory, bytes over time, the peak, and the other plans."""
    parts = [f"memory plan\n{text_pairs(_totals(plan))}", _memories(plan), _groups(plan), _slices(plan)]
    parts += [_rings(plan), _shared(plan), _tensors(plan), _peak(plan), _front(plan)]
    return "\n\n".join(part for part in parts if part)


def group_summary(plan: PlanRecord) -> str:
    """The groups in a few words."""
    largest = plan.largest_group
    count = f"{len(plan.groups)} group{'s' if len(plan.groups) != 1 else ''}"
    if largest is None or len(largest.nodes) == 1:
        return count
    return f"{count}, the largest of {len(largest.nodes)} layers ({largest.title})"


def _totals(plan: PlanRecord) -> list[tuple[str, object]]:
    gap = f"{plan.gap_bytes} B above it" if plan.gap_bytes else "met"
    again = plan.weights_read_bytes / plan.weights_bytes if plan.weights_bytes else 1.0
    return [
        ("arena", f"{plan.arena_bytes} B"),
        ("lower bound", f"{plan.lower_bound_bytes} B for these groups, {gap}"),
        ("groups", group_summary(plan)),
        ("input", _input(plan)),
        ("kernel calls", plan.kernel_calls),
        ("weights read", f"{plan.weights_read_bytes} B, {again:.1f} times their {plan.weights_bytes} B"),
        ("activations", f"{plan.read_bytes} B read, {plan.written_bytes} B written"),
        *([("recomputed", f"{plan.recomputed_macs} multiply-accumulates, in strips")] if plan.recomputed_macs else []),
        *_cores(plan),
        *(
            []
            if plan.bank_conflicts is None
            else [("bank conflicts", f"in {plan.bank_conflicts} of {plan.kernel_calls} kernel calls")]
        ),
    ]


def _input(plan: PlanRecord) -> str:
    if plan.streamed:
        return f"{plan.streamed}, pushed row by row"
    return f"{plan.outside}, where the caller has it" if plan.outside else "held whole"


def _cores(plan: PlanRecord) -> list[tuple[str, object]]:
    if not plan.slices:
        return []
    again, macs = (sum(getattr(s, name) for s in plan.slices) for name in ("recomputed_macs", "macs"))
    share = 100 * again / max(1, macs - again)
    return [("cores", max(len(s.rows) for s in plan.slices)), ("recomputed MACs", f"{again}, {share:.1f} % more")]


def _memories(plan: PlanRecord) -> str:
    """Working memories, where there are several."""
    rows = [(m.memory, m.bytes, m.lower_bound_bytes, m.cost, m.moved_bytes) for m in plan.memories]
    headers = ["memory", "bytes", "lower bound", "a byte costs", "read and written B"]
    return f"memories\n{text_table(headers, rows)}" if len(rows) > 1 else ""


def _groups(plan: PlanRecord) -> str:
    headers = ["group", "layers", "", "live B", "calls", "weights B", "weights read B", "read B", "written B"]
    rows = [_group_row(g) for g in plan.groups]
    if any(g.stack_bytes is not None for g in plan.groups):
        headers, rows = [*headers, "stack B"], [(*row, g.stack_bytes) for row, g in zip(rows, plan.groups, strict=True)]
    return f"groups\n{text_table(headers, rows)}"


def _group_row(g: GroupRecord) -> tuple[object, ...]:
    sizes = (g.live_bytes, g.kernel_calls, g.weights_bytes, g.weights_read_bytes, g.read_bytes, g.written_bytes)
    return (g.index, len(g.nodes), g.title + (", last row first" if g.backwards else ""), *sizes)


def _slices(plan: PlanRecord) -> str:
    rows = [
        (
            s.group,
            s.title,
            len(s.rows),
            " ".join(f"{first}-{stop - 1}" if stop > first else "-" for first, stop in s.rows),
            s.macs,
            s.recomputed_macs,
            f"{100 * s.recomputed_macs / max(1, s.macs - s.recomputed_macs):.1f} %",
        )
        for s in plan.slices
    ]
    headers = ["group", "", "cores", "output rows of each core", "MACs", "made twice", ""]
    return f"slices\n{text_table(headers, rows)}" if rows else ""


def _rings(plan: PlanRecord) -> str:
    headers = ["group", "made by", "rows kept", "of", "row B", "bytes", "tensor"]
    makers = {t.tensor: t.layer for t in plan.tensors}
    rows = [
        (g.index, r.layer or "(input)", r.rows_kept, r.rows, r.row_bytes, _place(r, makers), r.tensor)
        for g in plan.groups
        for r in g.rings
    ]
    return f"rings\n{text_table(headers, rows)}" if rows else ""


def _place(ring: RingRecord, makers: Mapping[str, str]) -> int | str:
    """The bytes that it takes, or in whose rows it lies."""
    return f"in {makers[ring.within]}'s" if ring.within else ring.bytes


def _shared(plan: PlanRecord) -> str:
    rows = [(g.index, s.dying, s.output, s.bytes) for g in plan.groups for s in g.shared]
    if not rows:
        return ""
    return f"shared down to the row\n{text_table(['group', 'dying', 'made over it', 'bytes in common'], rows, keep=4)}"


def _tensors(plan: PlanRecord) -> str:
    ordered = sorted(plan.tensors, key=lambda t: (t.first_group, t.offset, t.tensor))
    several = len(plan.memories) > 1
    rows = [
        (t.first_group, t.last_group, *([t.memory] if several else []), t.offset, t.bytes, t.kind, t.layer, t.tensor)
        for t in ordered
    ]
    headers = ["from", "to", *(["memory"] if several else []), "offset", "bytes", "kind", "made by", "tensor"]
    return f"memory over time, in groups\n{text_table(headers, rows)}"


def _peak(plan: PlanRecord) -> str:
    peak = plan.peak
    live = text_pairs([(t.tensor, f"{t.bytes} B") for t in peak.live])
    where = f"most is in use in group {peak.group} ({peak.title})"
    return f"{where}, {peak.live_bytes} B, shared bytes counted once:\n{live}"


def _front(plan: PlanRecord) -> str:
    if not plan.front:
        return ""
    again = ["recomputed MACs"] if any(p.recomputed_macs for p in plan.front) else []
    rows = [
        (p.peak_bytes, p.time, p.groups, *(p.recomputed_macs for _ in again), "<- this plan" if p.chosen else "")
        for p in plan.front
    ]
    table = text_table(["live B", "time", "groups", *again, ""], rows)
    also = ", or in memory and in what is made again" if again else ""
    return f"plans that no other one beats in both memory and time{also}\n{table}"
