"""Where the shapes of the page's own pictures stand; the template spells them.

Decides: the graph has a row for each distance from the inputs; a roofline has products for each byte moved to the right
and products for each instruction upwards, both by powers of two.  Everything a picture says stands in a table too.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from codegen.records import record
from codegen.report.pictures import (
    CHART_HEIGHT,
    CHART_WIDTH,
    FOOT,
    HEAD,
    LEFT,
    LETTER,
    RIGHT,
    Box,
    ChartPicture,
    Dot,
    Mark,
)
from codegen.report.table import shape_text
from codegen.verbs.inspection import LayerRow
from codegen.verbs.report.costs import LayerCost, Roof

Place = tuple[float, float]
_BOX, _TALL, _GAP_X, _GAP_Y = 190.0, 50.0, 24.0, 34.0
_ROW = _TALL + _GAP_Y
_BOW = 30.0
"""How far a line goes to the side of the boxes that it passes."""
_ROUND = 8.0
"""Between a group's outline and its boxes."""


@record
class Edge:
    """A tensor on its way between two boxes, as an SVG path; `tensor` is its name, `layer` who reads it."""

    path: str
    says: str
    tensor: str
    layer: str


@record
class GraphPicture:
    """The network as it is compiled; `across` is its width, of all that `view` shows; `groups` are outlines."""

    view: str
    across: float
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    groups: tuple[Box, ...]


def graph_picture(layers: Sequence[LayerRow], inputs: Sequence[str], groups: dict[str, int]) -> GraphPicture:
    """Inputs and layers, each in the row behind the last that it reads; `groups` number the layers' colours."""
    ranks = dict.fromkeys(inputs, 0)
    for layer in layers:
        ranks[layer.output] = 1 + max((ranks[i] for i in layer.inputs if i in ranks), default=0)
    seen: Counter[int] = Counter()
    places: dict[str, Place] = {}
    for name, rank in ranks.items():
        places[name] = (seen[rank] * (_BOX + _GAP_X), rank * _ROW)
        seen[rank] += 1
    boxes = [_source(name, places[name]) for name in inputs]
    boxes += [_layer(layer, index, places[layer.output], groups) for index, layer in enumerate(layers)]
    taken = frozenset(places.values())
    edges = tuple(
        Edge(_curve(places[i], places[layer.output], taken), f"{i} into {layer.name}", i, layer.name)
        for layer in layers
        for i in dict.fromkeys(layer.inputs)
        if i in places
    )
    wide = max(seen.values(), default=1) * (_BOX + _GAP_X) - _GAP_X
    tall = (max(seen, default=0) + 1) * _ROW - _GAP_Y
    outlines = tuple(_outlines({layer.name: places[layer.output] for layer in layers}, groups))
    return GraphPicture(f"-10 -10 {wide + 20 + _BOW} {tall + 20}", wide + 20 + _BOW, tuple(boxes), edges, outlines)


def _outlines(places: Mapping[str, Place], groups: Mapping[str, int]) -> Iterator[Box]:
    """Around each group of several layers."""
    members: defaultdict[int, list[str]] = defaultdict(list)
    for name in places:
        if name in groups:
            members[groups[name]].append(name)
    for index, names in members.items():
        if len(names) > 1:
            left, top = (min(places[n][axis] for n in names) - _ROUND for axis in (0, 1))
            right, foot = (max(places[n][axis] for n in names) + _ROUND for axis in (0, 1))
            yield Box(left, top, right - left + _BOX, foot - top + _TALL, "group", "", f"group {index}")


def _source(name: str, place: Place) -> Box:
    return Box(*place, _BOX, _TALL, "input", _short(name), f"input {name}", "input", tensor=name)


def _layer(layer: LayerRow, index: int, place: Place, groups: dict[str, int]) -> Box:
    kind = "refused" if layer.violation else f"group{groups.get(layer.name, 0) % 2}"
    shape = shape_text(layer.shape)
    group = f", group {groups[layer.name]}" if layer.name in groups else ""
    says = f"{layer.name}: {layer.operator} by {layer.violation or layer.kernel}, {layer.dtype} {shape}{group}"
    return Box(*place, _BOX, _TALL, kind, _short(layer.name), says, _short(f"{layer.operator} {shape}"), index)


def _curve(start: Place, end: Place, taken: Collection[Place]) -> str:
    """From box to box behind none of those in between: down a column that is free there, or beside the first one's."""
    between = [y * _ROW for y in range(round(start[1] / _ROW) + 1, round(end[1] / _ROW))]
    if start[0] == end[0] and between:
        x, y0, y1 = start[0] + _BOX, start[1] + _TALL / 2, end[1] + _TALL / 2
        return f"M{x:.0f} {y0:.0f}C{x + _BOW:.0f} {y0:.0f} {x + _BOW:.0f} {y1:.0f} {x:.0f} {y1:.0f}"
    x0, y0, x1, y1 = start[0] + _BOX / 2, start[1] + _TALL, end[0] + _BOX / 2, end[1]
    if not between:
        return f"M{x0:.0f} {y0:.0f}{_bend(x0, y0, x1, y1)}"
    free = next((x for x in (start[0], end[0]) if not any((x, y) in taken for y in between)), None)
    x = start[0] + _BOX + _GAP_X / 2 if free is None else free + _BOX / 2
    first, last = between[0], between[-1] + _TALL
    return f"M{x0:.0f} {y0:.0f}{_bend(x0, y0, x, first)}L{x:.0f} {last:.0f}{_bend(x, last, x1, y1)}"


def _bend(x0: float, y0: float, x1: float, y1: float) -> str:
    middle = (y0 + y1) / 2
    return f"C{x0:.0f} {middle:.0f} {x1:.0f} {middle:.0f} {x1:.0f} {y1:.0f}"


def _short(text: str) -> str:
    """The text, its middle left out where a box has no room for it."""
    most = int(_BOX / (LETTER + 0.6))
    return text if len(text) <= most else f"{text[: most // 2 - 1]}…{text[-(most // 2) :]}"


def roof_picture(roof: Roof) -> ChartPicture | None:
    """Layers with products under their core's limits; None where there is none."""
    known = [(i, c) for i, c in enumerate(roof.layers) if c.macs and c.intensity and c.spent]
    if not known:
        return None
    ridge = roof.products / roof.bytes
    xs = _powers([ridge, *(c.intensity or 0.0 for _, c in known)])
    ys = _powers([roof.products, *(c.macs / (c.spent or 1) for _, c in known)])

    def place(x: float, y: float) -> tuple[float, float]:
        right, foot = CHART_WIDTH - LEFT - RIGHT, CHART_HEIGHT - HEAD - FOOT
        return LEFT + right * _part(x, xs), HEAD + foot * (1 - _part(y, ys))

    low, high = 2.0 ** xs[0], 2.0 ** xs[-1]
    start = max(low, 2.0 ** ys[0] / roof.bytes)
    roofline = [place(start, start * roof.bytes), place(ridge, roof.products), place(high, roof.products)]
    return ChartPicture(
        dots=tuple(
            Dot(*place(c.intensity or 1.0, c.macs / (c.spent or 1)), _kind(c), _cost_says(c, roof), i) for i, c in known
        ),
        across=tuple(Mark(place(2.0**p, 1)[0], _power(p)) for p in xs),
        up=tuple(Mark(place(1, 2.0**p)[1], _power(p)) for p in ys),
        lines=(("roof", " ".join(f"{x:.1f},{y:.1f}" for x, y in roofline)),),
    )


def _powers(numbers: Sequence[float]) -> range:
    """Powers of two from below the least to above the greatest."""
    return range(math.floor(math.log2(min(numbers))) - 1, math.ceil(math.log2(max(numbers))) + 2)


def _part(number: float, powers: range) -> float:
    return (math.log2(number) - powers[0]) / (powers[-1] - powers[0])


def _power(power: int) -> str:
    return str(2**power) if power >= 0 else f"1/{2**-power}"


def _kind(cost: LayerCost) -> str:
    return "dense" if cost.operator in ("Dense", "MatMul") else "convolution"


def _cost_says(cost: LayerCost, roof: Roof) -> str:
    unit = "instructions" if roof.counted else "cycles, estimated"
    spent, macs = cost.spent or 0, cost.macs
    return f"{cost.layer}: {spent / macs:.2f} {unit}, for a product; {cost.intensity:.2g} products for a byte moved"
