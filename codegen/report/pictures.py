"""Where the shapes of pictures of a plan stand: memory over time, and the plans to choose from.

Decides: memory over time has an address upwards and a group of layers in each column; plans have time to the right and
memory upwards.  Whoever spells them (a page, a notebook) says the same in a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.ir.plan import FrontPoint
from codegen.records import record
from codegen.report.columns import size_text
from codegen.report.plan import PlanRecord, TensorRecord

_WIDTH, _HEIGHT = 960.0, 380.0
_LEAST_COLUMN = 22.0
"""Width of a column from which on every group has its number."""
LETTER, _LINE = 6.2, 12.0
"""Width of a letter of a label, and height of a line, in units of the pictures."""
CHART_WIDTH, CHART_HEIGHT = 720.0, 320.0
LEFT, RIGHT, FOOT, HEAD = 74.0, 24.0, 46.0, 24.0
_STEPS = 4


@record
class Box:
    """A rectangle: its kind colours it, `label` stands in it, `says` is its tooltip, `row` the table row it is of.

    `tensor` is the one that it stands for.
    """

    x: float
    y: float
    width: float
    height: float
    kind: str
    label: str
    says: str
    under: str = ""
    row: int | None = None
    tensor: str = ""


@record
class Tick:
    """The number of a group, and where it stands."""

    x: float
    group: int


@record(kw_only=True)
class MemoryPicture:
    """Memory over time.  `used` are the points of the line of bytes in use, `limit` and `bound` heights of lines.

    `peak` is where the column of most bytes begins; ticks stand at height `foot`.
    """

    view: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    used: str
    limit: float
    bound: float
    column: float
    peak: float
    ticks: tuple[Tick, ...]
    foot: float


@record
class Dot:
    """A point of a chart: what it says, and the number of what it stands for."""

    x: float
    y: float
    kind: str
    says: str
    index: int


@record
class Mark:
    """A number beside an axis."""

    at: float
    label: str


@record(kw_only=True)
class ChartPicture:
    """Points between axes: `across` are marks below, `up` beside; `lines` are points of lines, by their kind.

    The axes reach from `left` to `right` and from `head` to `foot`; marks stand at `under` and `beside`, what they
    count in the `middle` at `lowest`, and at `top`.
    """

    width: float = CHART_WIDTH
    height: float = CHART_HEIGHT
    left: float = LEFT
    right: float = CHART_WIDTH - RIGHT
    head: float = HEAD
    foot: float = CHART_HEIGHT - FOOT
    under: float = CHART_HEIGHT - FOOT + 16
    beside: float = LEFT - 6
    middle: float = (LEFT + CHART_WIDTH - RIGHT) / 2
    lowest: float = CHART_HEIGHT - 10
    top: float = HEAD - 10
    dots: tuple[Dot, ...]
    across: tuple[Mark, ...]
    up: tuple[Mark, ...]
    lines: tuple[tuple[str, str], ...]


def memory_picture(plan: PlanRecord) -> MemoryPicture:
    """Every tensor, ring and scratch area of the arena, in the order in which the larger ones lie behind."""
    held = [t for t in plan.tensors if t.memory == plan.memories[0].memory]
    top = max([plan.arena_bytes, 1, *(t.offset + t.bytes for t in held)])
    column = _WIDTH / max(1, len(plan.groups))
    scale = _HEIGHT / top
    rows = {id(t): index for index, t in enumerate(plan.tensors)}
    ordered = sorted(held, key=lambda t: (-t.bytes, t.first_group, t.offset))
    boxes = _legible([_held(t, column, scale, rows[id(t)]) for t in ordered])
    heights = [(g.index, _HEIGHT - g.live_bytes * scale) for g in plan.groups]
    used = " ".join(f"{i * column:.1f},{y:.1f} {(i + 1) * column:.1f},{y:.1f}" for i, y in heights)
    limit, bound = (_HEIGHT - size * scale for size in (plan.arena_bytes, plan.lower_bound_bytes))
    every = 1 if column > _LEAST_COLUMN else 10
    return MemoryPicture(
        view=f"-2 -2 {_WIDTH + 4} {_HEIGHT + 22}",
        width=_WIDTH,
        height=_HEIGHT,
        boxes=boxes,
        used=used,
        limit=limit,
        bound=bound,
        column=column,
        peak=plan.peak.group * column,
        ticks=tuple(Tick((g.index + 0.5) * column, g.index) for g in plan.groups if g.index % every == 0),
        foot=_HEIGHT + 14,
    )


def _legible(boxes: Sequence[Box]) -> tuple[Box, ...]:
    """Of labels that would lie over each other only that of the box in front."""
    kept: list[Box] = []
    found: list[Box] = []
    for box in reversed(boxes):
        hidden = any(
            abs(box.y - other.y) < _LINE
            and box.x < other.x + LETTER * len(other.label)
            and other.x < box.x + LETTER * len(box.label)
            for other in kept
        )
        if box.label and not hidden:
            kept.append(box)
        found.append(replace(box, label="") if hidden else box)
    return tuple(reversed(found))


def _held(tensor: TensorRecord, column: float, scale: float, row: int) -> Box:
    groups = tensor.last_group - tensor.first_group + 1
    name = "scratch" if tensor.kind == "scratch" else tensor.layer or tensor.tensor
    width, height = groups * column, tensor.bytes * scale
    room = int(width / LETTER)
    label = name if height >= _LINE and len(name) <= room else ""
    says = (
        f"{tensor.kind} {tensor.tensor or name}: {tensor.bytes} B at {tensor.offset}, "
        f"groups {tensor.first_group} to {tensor.last_group}"
    )
    x, y = tensor.first_group * column, (tensor.offset + tensor.bytes) * -scale + _HEIGHT
    return Box(x, y, width, height, tensor.kind, label, says, row=row)


def front_picture(front: Sequence[FrontPoint]) -> ChartPicture:
    """Each plan by its time, as percent above the fastest one's, and its memory."""
    least = min(f.time for f in front)
    more = [100 * (f.time / least - 1) if least else 0.0 for f in front]
    widest, most = max(max(more), 1e-9), max(f.peak_bytes for f in front)
    right, foot = CHART_WIDTH - LEFT - RIGHT, CHART_HEIGHT - HEAD - FOOT

    def place(x: float, size: float) -> tuple[float, float]:
        return LEFT + 10 + (right - 20) * x / widest, HEAD + foot * (1 - size / most)

    dots = tuple(
        Dot(*place(x, f.peak_bytes), "taken" if f.chosen else "other", _plan_says(f, x), index)
        for index, (f, x) in enumerate(zip(front, more, strict=True))
    )
    path = " ".join(f"{d.x:.1f},{d.y:.1f}" for d in sorted(dots, key=lambda d: d.x))
    return ChartPicture(
        dots=dots,
        across=tuple(
            Mark(place(widest * i / _STEPS, 0)[0], f"+{widest * i / _STEPS:.2g} %") for i in range(_STEPS + 1)
        ),
        up=tuple(Mark(place(0, most * i / _STEPS)[1], size_text(most * i // _STEPS)) for i in range(_STEPS + 1)),
        lines=(("front", path),),
    )


def _plan_says(point: FrontPoint, more: float) -> str:
    taken = ", this one is taken" if point.chosen else ""
    return f"{size_text(point.peak_bytes)}, time +{more:.2g} %, {point.groups} groups{taken}"
