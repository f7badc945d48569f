"""Where the shapes of the page's pictures stand; the template spells them.

Decides: memory over time has an address upwards and a group of layers in each column; the graph has a row for each
distance from the inputs.  Everything a picture says stands in a table of the page too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from codegen.report.plan import PlanRecord, TensorRecord
from codegen.report.table import shape_text
from codegen.verbs.inspection import LayerRow

_WIDTH, _HEIGHT = 960.0, 380.0
_BOX, _TALL, _GAP_X, _GAP_Y = 190.0, 50.0, 24.0, 34.0
_LEAST_COLUMN = 16.0
"""Width of a column from which on every group has its number."""
_LETTER = 6.2
"""Width of a letter of a label, in units of the pictures."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: its kind colours it, `label` stands in it, `says` is its tooltip, `row` the table row it is of."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    label: str
    says: str
    under: str = ""
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """A tensor on its way between two boxes, as an SVG path."""

    path: str
    says: str


@dataclass(frozen=True, slots=True)
class Tick:
    """The number of a group, and where it stands."""

    x: float
    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """The network as it is compiled; `across` is its width, of all that `view` shows."""

    view: str
    across: float
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]


def memory_picture(plan: PlanRecord) -> MemoryPicture:
    """Every tensor, ring and scratch area of the arena, in the order in which the larger ones lie behind."""
    held = [t for t in plan.tensors if t.memory == plan.memories[0].memory]
    top = max([plan.arena_bytes, 1, *(t.offset + t.bytes for t in held)])
    column = _WIDTH / max(1, len(plan.groups))
    scale = _HEIGHT / top
    rows = {id(t): index for index, t in enumerate(plan.tensors)}
    boxes = tuple(
        _held(t, column, scale, rows[id(t)]) for t in sorted(held, key=lambda t: (-t.bytes, t.first_group, t.offset))
    )
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


def _held(tensor: TensorRecord, column: float, scale: float, row: int) -> Box:
    groups = tensor.last_group - tensor.first_group + 1
    name = "scratch" if tensor.kind == "scratch" else tensor.layer or tensor.tensor
    width, height = groups * column, tensor.bytes * scale
    room = int(width / _LETTER)
    label = name if height >= 12 and len(name) <= room else ""
    says = (
        f"{tensor.kind} {tensor.tensor or name}: {tensor.bytes} B at {tensor.offset}, "
        f"groups {tensor.first_group} to {tensor.last_group}"
    )
    x, y = tensor.first_group * column, (tensor.offset + tensor.bytes) * -scale + _HEIGHT
    return Box(x, y, width, height, tensor.kind, label, says, row=row)


def graph_picture(layers: Sequence[LayerRow], inputs: Sequence[str], groups: dict[str, int]) -> GraphPicture:
    """Inputs and layers, each in the row behind the last that it reads; `groups` number the layers' colours."""
    ranks = dict.fromkeys(inputs, 0)
    for layer in layers:
        ranks[layer.output] = 1 + max((ranks[i] for i in layer.inputs if i in ranks), default=0)
    seen: Counter[int] = Counter()
    places: dict[str, tuple[float, float]] = {}
    for name, rank in ranks.items():
        places[name] = (seen[rank] * (_BOX + _GAP_X), rank * (_TALL + _GAP_Y))
        seen[rank] += 1
    boxes = [_source(name, places[name]) for name in inputs]
    boxes += [_layer(layer, index, places[layer.output], groups) for index, layer in enumerate(layers)]
    edges = tuple(
        Edge(_curve(places[i], places[layer.output]), f"{i} into {layer.name}")
        for layer in layers
        for i in dict.fromkeys(layer.inputs)
        if i in places
    )
    wide = max(seen.values(), default=1) * (_BOX + _GAP_X) - _GAP_X
    tall = (max(seen, default=0) + 1) * (_TALL + _GAP_Y) - _GAP_Y
    return GraphPicture(f"-4 -4 {wide + 8} {tall + 8}", wide + 8, tuple(boxes), edges)


def _source(name: str, place: tuple[float, float]) -> Box:
    return Box(*place, _BOX, _TALL, "input", _short(name), f"input {name}", "input")


def _layer(layer: LayerRow, index: int, place: tuple[float, float], groups: dict[str, int]) -> Box:
    kind = "refused" if layer.violation else f"group{groups.get(layer.name, 0) % 2}"
    shape = shape_text(layer.shape)
    group = f", group {groups[layer.name]}" if layer.name in groups else ""
    says = f"{layer.name}: {layer.operator} by {layer.violation or layer.kernel}, {layer.dtype} {shape}{group}"
    return Box(*place, _BOX, _TALL, kind, _short(layer.name), says, _short(f"{layer.operator} {shape}"), index)


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    x0, y0, x1, y1 = start[0] + _BOX / 2, start[1] + _TALL, end[0] + _BOX / 2, end[1]
    middle = (y0 + y1) / 2
    return f"M{x0:.0f} {y0:.0f}C{x0:.0f} {middle:.0f} {x1:.0f} {middle:.0f} {x1:.0f} {y1:.0f}"


def _short(text: str) -> str:
    """The text, its middle left out where a box has no room for it."""
    most = int(_BOX / (_LETTER + 0.6))
    return text if len(text) <= most else f"{text[: most // 2 - 1]}…{text[-(most // 2) :]}"
