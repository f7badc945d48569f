"""Pictures, drawn with matplotlib, which only this module knows.  The same record gives the same bytes."""

from __future__ import annotations

import io
import warnings
from typing import Any, Literal

from codegen.errors import ExtraMissing, one_line
from codegen.report.plan import PlanRecord, RingRecord, TensorRecord

_COLORS = {
    "input": "#8fb8de",
    "state": "#c6a9d9",
    "output": "#9fd3a4",
    "tensor": "#d9d9d9",
    "ring": "#f7c873",
    "scratch": "#e6a3a3",
}
_MEANING = {
    "input": "input",
    "state": "state, kept between runs",
    "output": "output",
    "tensor": "tensor, held whole",
    "ring": "ring of rows",
    "scratch": "scratch",
}
_FONT_PT = 7.0
_WIDE_GLYPH = 0.62
"""Width of a letter, in font sizes."""
_LINE_PT = 9.0
_HEIGHTS = (0.5, 0.35, 0.65, 0.2, 0.8, 0.08, 0.92)
"""Where in a rectangle a label may stand, best first."""
_EDGE: Any = {"edgecolor": "#404040", "linewidth": 0.5, "alpha": 0.75}
_LONGEST_TICK = 28
_STYLE: Any = {
    "svg.hashsalt": "lamina",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": _FONT_PT,
}

_Box = tuple[float, float, float, float]
"""Left, low, right and high edge, in points."""


def plan_picture(plan: PlanRecord, title: str, form: Literal["svg", "png"] = "svg") -> bytes:
    """Memory over time: address upwards, groups to the right, one rectangle per tensor, ring and scratch area.

    LAM-API-002 when matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ExtraMissing("matplotlib", "plot", "it draws the picture of a memory plan") from error
    steps = max(1, len(plan.groups))
    width = min(60.0, max(9.0, 2.0 + 0.3 * steps))
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*missing from font")  # the reader's own fonts have the letter
        figure = Figure(figsize=(width, 7.0), layout="constrained")
        axes = figure.add_subplot()
        _frame(axes, plan, title, steps)
        figure.draw_without_rendering()
        _rectangles(axes, plan)
        _lines(axes, plan, steps)
        _legend(axes, plan)
        out = io.BytesIO()
        metadata: dict[str, None] = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
        figure.savefig(out, format=form, metadata=metadata, dpi=110)
    return out.getvalue()


def _rings(plan: PlanRecord) -> dict[str, RingRecord]:
    return {ring.tensor: ring for group in plan.groups for ring in group.rings}


def _frame(axes: Any, plan: PlanRecord, title: str, steps: int) -> None:
    """Axes, ticks and title; ticks name the groups."""
    top = max((_address(plan, t) + t.bytes for t in plan.tensors), default=1)
    axes.set_xlim(0, steps)
    axes.set_ylim(0, max(top, plan.arena_bytes, 1) * 1.06)
    axes.set_ylabel("bytes: addresses in the arena, and bytes in use")
    axes.set_xlabel("time: groups of layers, in the order they run")
    names = [f"{g.index}  {_short(g.title, _LONGEST_TICK)}" for g in plan.groups]
    upright = steps > 6
    axes.set_xticks([i + 0.5 for i in range(len(names))], names, rotation=90 if upright else 0)
    axes.tick_params(axis="x", length=0)
    axes.set_title(one_line(title, 200), loc="left", fontsize=_FONT_PT + 3)
    axes.spines[["top", "right"]].set_visible(False)


def _rectangles(axes: Any, plan: PlanRecord) -> None:
    """Every tensor, half transparent so that shared bytes show, with as much of its label as there is room for."""
    from matplotlib.patches import Rectangle

    rings = _rings(plan)
    written: list[_Box] = []
    points = 72.0 / axes.figure.dpi
    for t in sorted(plan.tensors, key=lambda t: (-t.bytes, t.first_group, _address(plan, t))):
        steps, address = t.last_group - t.first_group + 1, _address(plan, t)
        corner, end = (t.first_group, address), (t.first_group + steps, address + t.bytes)
        axes.add_patch(Rectangle(corner, steps, t.bytes, facecolor=_COLORS[t.kind], **_EDGE))
        (left, low), (right, high) = axes.transData.transform([corner, end]) * points
        label = _label(_words(t, rings.get(t.tensor)), (left, low, right, high), written)
        if label is not None:
            text, turned, height = label
            at = (t.first_group + steps / 2, address + t.bytes * height)
            axes.text(*at, text, ha="center", va="center", rotation=90 if turned else 0)


def _address(plan: PlanRecord, tensor: TensorRecord) -> int:
    """Where the tensor is drawn: the memories lie one above the other."""
    below = next(k for k, memory in enumerate(plan.memories) if memory.memory == tensor.memory)
    return sum(memory.bytes for memory in plan.memories[:below]) + tensor.offset


def _words(tensor: TensorRecord, ring: RingRecord | None) -> list[str]:
    """The label: who makes it, bytes, rows of a ring."""
    rows = f"{ring.rows_kept} of {ring.rows} rows, " if ring else ""
    if ring and ring.within:
        rows = f"in the rows of {one_line(ring.within, 80)}, "
    name = "scratch" if tensor.kind == "scratch" else tensor.layer or tensor.tensor
    return [one_line(name, 80), f"{rows}{tensor.bytes} B"]


def _label(words: list[str], box: _Box, written: list[_Box]) -> tuple[str, bool, float] | None:
    """The longest label that fits into the box and beside those written, whether it is turned, and at which height."""
    left, low, right, high = box
    first, second = words
    for text in (f"{first}\n{second}", f"{first}  {second}", first):
        rows = text.split("\n")
        long, tall = max(map(len, rows)) * _FONT_PT * _WIDE_GLYPH, len(rows) * _LINE_PT
        for turned, width, height in ((False, long, tall), (True, tall, long)):
            for place in _HEIGHTS if width <= right - left else ():
                x, y = (left + right) / 2, low + (high - low) * place
                own = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
                if low <= own[1] and own[3] <= high and not any(_meet(own, other) for other in written):
                    written.append(own)
                    return text, turned, place
    return None


def _meet(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _lines(axes: Any, plan: PlanRecord, steps: int) -> None:
    """The arena's size, the bound, the bytes in use over time, and the peak."""
    axes.axhline(plan.arena_bytes, color="#b02020", linewidth=1.2, label=f"arena, {plan.arena_bytes} B")
    bound = f"lower bound, {plan.lower_bound_bytes} B"
    axes.axhline(plan.lower_bound_bytes, color="#b02020", linewidth=1.0, linestyle=(0, (4, 3)), label=bound)
    top = plan.arena_bytes
    for memory in plan.memories[1:]:
        top += memory.bytes
        axes.axhline(top, color="#7a3f9f", linewidth=1.2, label=f"{memory.memory} above it, {memory.bytes} B")
    used = [g.live_bytes for g in plan.groups]
    if used:
        axes.stairs(used, range(steps + 1), baseline=None, color="#1f3f9f", linewidth=1.2, label="bytes in use")
        peak = f"peak, {plan.peak.live_bytes} B in group {plan.peak.group}"
        axes.plot([plan.peak.group + 0.5], [plan.peak.live_bytes], "v", color="#1f3f9f", markersize=6, label=peak)


def _legend(axes: Any, plan: PlanRecord) -> None:
    """Lines, and the colours that occur, beside the picture."""
    from matplotlib.patches import Patch

    kinds = [k for k in _COLORS if any(t.kind == k for t in plan.tensors)]
    patches = [Patch(facecolor=_COLORS[k], **_EDGE, label=_MEANING[k]) for k in kinds]
    handles, _ = axes.get_legend_handles_labels()
    axes.figure.legend(handles=[*handles, *patches], loc="outside lower left", ncols=4, frameon=False)


def _short(text: str, longest: int) -> str:
    """The text on one line, its middle left out when it is long."""
    text = one_line(text, len(text) + 1)
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half]}…{text[-half:]}"
