"""A `[postprocess]` table for the outputs of a network, as settled numbers.

Decides: which outputs are what, where their numbers lie, and how much room there is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import PostprocessMisfit, PostprocessValueBad
from codegen.golden.interface import PortSpec
from codegen.ir.postprocess import (
    Boxes,
    Level,
    Numbers,
    PostProgram,
    Ranking,
    Source,
    Transcript,
    WakeWords,
)
from codegen.ir.quant import Array, DType
from codegen.postprocess.config import Table
from codegen.postprocess.places import Grid, Picture, cells, grids, is_usual, picture_of, rows_of, strides
from codegen.postprocess.rejecting import with_bars
from codegen.records import record

_CANDIDATES, _MOST = 1000, 100
_MOST_NUMBERS = 1 << 30
_TYPES = (DType.S8, DType.U8, DType.S16, DType.F32)
_REAL = ("float32", "int8", "uint8", "int16")
_CORNERS = 4
_BINS = 64
"""Numbers of a box of YOLOv8 before they are summed."""


@record(eq=False)
class Given:
    """What a decoder has to go by: the table, the outputs in its order and which ones they are, the picture, priors."""

    table: Table
    ports: tuple[PortSpec, ...]
    places: tuple[int, ...]
    picture: Picture | None
    priors: Array | None

    def misfit(self, found: str) -> PostprocessMisfit:
        """The refusal, from what was found."""
        return PostprocessMisfit(found, where=f"{self.table.file}, postprocess ({self.table.decode})")

    @property
    def shapes(self) -> str:
        """For a message."""
        return ", ".join(f"{p.name} {list(p.model_shape)}" for p in self.ports)

    @property
    def sides(self) -> Picture:
        """Of the picture."""
        if self.picture is None:
            raise self.misfit("the network's input is no picture: say size = [height, width]")
        return self.picture

    def grid(self, place: int, anchors: int = 1, count: int = 0) -> Grid:
        """The cells of an output: `count` where that is known, else of a usual stride where there are two readings."""
        port = self.ports[place]
        found = grids(port, self.places[place], anchors, self.sides)
        if not found:
            height, width = self.sides
            wanted = f"a grid of a picture of {height} x {width} with {anchors} boxes a cell"
            raise self.misfit(f"output {port.name} {list(port.model_shape)} is not {wanted}")
        known = {end: grid for end, grid in found.items() if grid.rows * grid.columns == count}
        return self._settled(place, known or found, lambda grid: is_usual(grid, self.sides))

    def listed(self, place: int, known: int, counts: Sequence[int]) -> Grid:
        """The boxes of an output that has them in a row: one of `counts`, with more than `known` numbers each."""
        every = rows_of(self.ports[place], self.places[place])
        if not every:
            raise self.misfit(f"{self.shapes}: not [1, boxes, numbers] or [1, numbers, boxes]")
        if self.table.boxes:
            return every[self.table.boxes]
        found = {end: grid for end, grid in every.items() if grid.channels > known}
        if not found:
            raise self.misfit(f"{self.shapes}: more than {known} numbers are needed for a box")
        return self._settled(place, found, lambda grid: grid.columns in counts)

    def _settled(self, place: int, found: Mapping[str, Grid], likely: Callable[[Grid], bool]) -> Grid:
        """The only reading of an output, or that of the table, or the only likely one."""
        told = [grid for end, grid in found.items() if end == self.table.boxes]
        for readings in (found.values(), told, filter(likely, found.values())):
            if len(alone := set(readings)) == 1:
                return alone.pop()
        port, ways = self.ports[place], " or ".join(f"{g.rows * g.columns} of {g.channels}" for g in found.values())
        said = f"output {port.name} {list(port.model_shape)} may be boxes of so many numbers each in two ways, {ways}"
        raise self.misfit(f'{said}: say boxes = "first" or "last"')

    def rest(self, found: Grid, known: int) -> int:
        """Labels of a cell that has so many numbers besides."""
        if found.channels <= known:
            raise self.misfit(f"{self.shapes}: {found.channels} numbers for a box, and more than {known} are needed")
        return found.channels - known


def post_program(
    table: Table, inputs: Sequence[PortSpec], outputs: Sequence[PortSpec], priors: Array | None = None
) -> PostProgram:
    """What the firmware and golden do with the outputs of a network.

    Raises:
        PostprocessMisfit: LAM-POSTPROCESS-002.
        PostprocessValueBad: LAM-POSTPROCESS-001, a score that none can have, priors that are no boxes.
    """
    given = _given(table, inputs, outputs, priors)
    task = _TASKS[table.decode](given)
    _check_least(table, task)
    numbers, least, room = tuple(map(_numbers, outputs)), float(np.float32(table.least)), _room(task)
    if isinstance(task, Boxes):
        room = min(table.candidates or _CANDIDATES, room)
        task = with_bars(replace(task, candidates=room), numbers, least)
    return PostProgram(
        decode=table.decode,
        outputs=numbers,
        most=min(table.most or _MOST, room),
        least=least,
        task=task,
        said=table.said,
    )


def _check_least(table: Table, task: Boxes | Ranking | WakeWords | Transcript) -> None:
    """Scores behind an activation are 1 at most."""
    ranking = task.ranking if isinstance(task, WakeWords) else task
    shares = not isinstance(ranking, Transcript) and ranking.activation != "none"
    if shares and np.float32(table.least) >= 1:
        found = f"{table.least!r} is not below 1, and no score is above that"
        raise PostprocessValueBad(found, where=f"{table.file}, postprocess.least")


def _given(table: Table, inputs: Sequence[PortSpec], outputs: Sequence[PortSpec], priors: Array | None) -> Given:
    names = [port.name for port in outputs]
    chosen = table.outputs or tuple(names)
    unknown = next((name for name in chosen if name not in names), None)
    places = tuple(names.index(name) for name in chosen if name in names)
    ports = tuple(outputs[place] for place in places)
    given = Given(table, ports, places, table.size or picture_of(inputs), priors)
    if unknown is not None:
        raise given.misfit(f"the network has no output {unknown!r}; it has {', '.join(names)}")
    for port in ports:
        if port.dtype not in _TYPES or port.model_dtype not in _REAL or not _is_real(port):
            raise given.misfit(f"output {port.name} is {port.model_dtype}, and stands for no real numbers")
    return given


def _is_real(port: PortSpec) -> bool:
    return port.dtype.is_float or port.quant is not None


def _numbers(port: PortSpec) -> Numbers:
    quant = None if port.dtype.is_float else port.quant
    return Numbers(port.name, port.dtype, quant.scale if quant else None, quant.zero_point if quant else 0)


def _room(task: Boxes | Ranking | WakeWords | Transcript) -> int:
    """The most that can be found."""
    if isinstance(task, Boxes):
        return sum(level.boxes for level in task.levels)
    if isinstance(task, WakeWords):
        return 1
    return task.labels if isinstance(task, Ranking) else task.steps


def _boxes(given: Given, decode: str, levels: Sequence[Level], labels: int, score: tuple[str, str]) -> Boxes:
    """The record of a detector; `score` is the activation and the score."""
    total = sum(level.boxes for level in levels)
    if total * labels > _MOST_NUMBERS:
        raise given.misfit(f"{total} boxes of {labels} labels are too many")
    return Boxes(
        decode=decode,
        levels=tuple(levels),
        raw=_BINS if decode == "yolov8" else _CORNERS,
        labels=labels,
        background=0,
        activation=score[0],
        score=score[1],
        overlap=float(np.float32(given.table.overlap)),
        candidates=0,
        by_label=given.table.by_label,
        points=0,
        priors=None,
        order=tuple(range(_BINS if decode == "yolov8" else _CORNERS)),
        scales=None,
    )


def _level(given: Given, found: Grid, sizes: Sequence[float], parts: Mapping[str, Source | None]) -> Level:
    """A grid of the picture; `sizes` are width and height of each anchor."""
    height, width = given.sides
    return Level(
        rows=found.rows,
        columns=found.columns,
        step=(width / found.columns, height / found.rows),
        sizes=np.array(sizes, np.float32).reshape(-1, 2),
        box=_there(parts["box"]),
        labels=_there(parts["labels"]),
        objects=parts.get("objects"),
        points=parts.get("points"),
    )


def _there(source: Source | None) -> Source:
    assert source is not None, "every level has boxes and labels"
    return source


def _fastestdet(given: Given) -> Boxes:
    """One output a level: object, box, labels."""
    height, width = given.sides
    levels, labels = [], 0
    for place in range(len(given.ports)):
        found = given.grid(place)
        labels = _same(given, labels, given.rest(found, 5))
        parts = {"objects": found.part(0), "box": found.part(1), "labels": found.part(5)}
        levels.append(_level(given, found, (width, height), parts))
    return _boxes(given, "fastestdet", levels, labels, ("clip", "powers"))


def _same(given: Given, labels: int, found: int) -> int:
    if labels not in (0, found):
        raise given.misfit(f"{given.shapes}: levels have {labels} and {found} labels")
    return found


def _yunet(given: Given) -> Boxes:
    """Labels of all levels, then objects, then boxes, and then points, where there are any."""
    count = len(given.ports)
    if count < 3 or (count % 3 and count % 4):
        raise given.misfit(f"{count} outputs; there are labels, objects, boxes and points, each of all levels")
    kinds = 4 if count % 4 == 0 else 3
    each = count // kinds
    levels, labels, points = [], 0, 0
    for level in range(each):
        count = math.prod(given.ports[level + each].model_shape)
        found = [given.grid(level + kind * each, count=count) for kind in range(kinds)]
        _check_kinds(given, found)
        labels = _same(given, labels, found[0].channels)
        points = found[3].channels // 2 if kinds == 4 and given.table.points else 0
        parts: dict[str, Source | None] = {"labels": found[0].source, "objects": found[1].source}
        parts |= {"box": found[2].source, "points": found[3].source if points else None}
        levels.append(_level(given, found[0], (0, 0), parts))
    return replace(_boxes(given, "yunet", levels, labels, ("clip", "root")), points=points)


def _check_kinds(given: Given, grids: Sequence[Grid]) -> None:
    """One number for an object, four for a box, two for a point; all of the same cells."""
    fine = grids[1].channels == 1 and grids[2].channels == _CORNERS and all(g.channels % 2 == 0 for g in grids[3:])
    if not fine or len({(g.rows, g.columns) for g in grids}) > 1:
        raise given.misfit(f"{given.shapes}: not labels, objects (1 number), boxes (4) and points of the same cells")


def _anchored(given: Given, decode: str) -> Boxes:
    """YOLOv3 and v5: one output a level with boxes, objects and labels of each anchor."""
    anchors = given.table.anchors
    if anchors is None or len(anchors) != len(given.ports):
        raise given.misfit(f"{len(given.ports)} outputs, and anchors of {len(anchors or ())}")
    levels, labels = [], 0
    for place, sizes in enumerate(anchors):
        found = given.grid(place, len(sizes) // 2)
        labels = _same(given, labels, given.rest(found, 5))
        parts = {"box": found.part(0), "objects": found.part(4), "labels": found.part(5)}
        levels.append(_level(given, found, sizes, parts))
    return _boxes(given, decode, levels, labels, ("sigmoid", "product"))


def _yolov5(given: Given) -> Boxes:
    """As YOLOv3; or one output with boxes that the network has made itself."""
    if given.table.anchors is not None:
        return _anchored(given, "yolov5")
    found = _made(given, 5, (1, 3))
    parts = {"box": found.part(0), "objects": found.part(4), "labels": found.part(5)}
    return _boxes(given, "middle", [_row(given, found, parts)], given.rest(found, 5), ("none", "product"))


def _made(given: Given, known: int, each: Sequence[int]) -> Grid:
    """Boxes of `known` numbers and labels; `each` are the boxes that a cell may have."""
    if len(given.ports) != 1:
        raise given.misfit(f"{len(given.ports)} outputs: one with all boxes, or levels with `anchors`")
    return given.listed(0, known, [count * cells(given.sides) for count in each])


def _row(given: Given, found: Grid, parts: Mapping[str, Source | None]) -> Level:
    """Boxes in a row, in pixels or in parts of the picture."""
    height, width = given.sides
    step = (width, height) if given.table.normalized else (1, 1)
    return replace(_level(given, found, (0, 0), parts), step=step)


def _yolov8(given: Given) -> Boxes:
    """One output with boxes that the network has made itself; or levels: boxes and labels in one output or in two."""
    if len(given.ports) == 1:
        found = _made(given, 4, (1,))
        parts: dict[str, Source | None] = {"box": found.part(0), "labels": found.part(4)}
        return _boxes(given, "middle", [_row(given, found, parts)], given.rest(found, 4), ("none", "label"))
    grids = [given.grid(place) for place in range(len(given.ports))]
    apart = any(g.channels <= _BINS for g in grids)
    levels, labels = [], 0
    for place in range(0, len(grids), 1 + apart):
        box, other = grids[place], grids[min(place + apart, len(grids) - 1)]
        same = (box.rows, box.columns) == (other.rows, other.columns) and len(grids) % 2 == 0
        if apart and not (same and box.channels == _BINS):
            raise given.misfit(f"{given.shapes}: not 64 numbers of boxes, then labels, of each level")
        labels = _same(given, labels, other.channels if apart else given.rest(box, _BINS))
        parts = {"box": box.part(0), "labels": other.part(0 if apart else _BINS)}
        levels.append(_level(given, box, (0, 0), parts))
    return _boxes(given, "yolov8", levels, labels, ("sigmoid", "label"))


def _ssd(given: Given) -> Boxes:
    """Boxes, then labels; each box has a prior one."""
    if given.priors is None:
        raise given.misfit('no priors: say priors = "FILE.npz", which has a box for each of the network\'s')
    if len(given.ports) != 2:
        raise given.misfit(f"{len(given.ports)} outputs: boxes, then labels")
    priors, background = given.priors, int(given.table.background)
    box, labels = (given.listed(place, 0, (len(priors),)) for place in range(2))
    if box.channels != _CORNERS or {box.columns, labels.columns} != {len(priors)}:
        raise given.misfit(f"{given.shapes}, priors {list(priors.shape)}: not 4 numbers and a prior of each box")
    if labels.channels <= background:
        raise given.misfit(f"{given.shapes}: no label besides the background")
    order = (0, 1, 2, 3) if given.table.order == "xywh" else (1, 0, 3, 2)
    level = _row(given, box, {"box": box.source, "labels": labels.source})
    score = (given.table.activation or "softmax", "label")
    made = _boxes(given, "ssd", [level], labels.channels - background, score)
    held = np.ascontiguousarray(_real_boxes(given, priors)[:, order])
    return replace(made, background=background, priors=held, order=order, scales=given.table.scales)


def _real_boxes(given: Given, priors: Array) -> Array:
    """Boxes in float32, each of a size."""
    with np.errstate(over="ignore"):
        held = priors.astype(np.float32)
    if held.shape[1:] != (_CORNERS,) or not np.isfinite(held).all() or not (held[:, 2:] > 0).all():
        found = f"{list(priors.shape)}: not middle and size of each box, of float32 and the size above zero"
        raise PostprocessValueBad(found, where=f"{given.table.file}, postprocess.priors")
    return held


def _ranking(given: Given) -> Ranking:
    """One output, all of whose numbers are labels."""
    if len(given.ports) != 1:
        raise given.misfit(f"{len(given.ports)} outputs: say which one, outputs = [..]")
    count = int(np.prod(given.ports[0].model_shape))
    if given.ports[0].model_shape[-1:] != (count,) and count not in given.ports[0].model_shape:
        raise given.misfit(f"{given.shapes}: its numbers lie along more than one axis")
    temperature = float(np.float32(given.table.temperature))
    return Ranking(given.places[0], count, given.table.activation or "none", temperature)


def _wake_words(given: Given) -> WakeWords:
    """The same, over time."""
    table, ranking = given.table, _ranking(given)
    watched = tuple(range(ranking.labels)) if table.watch is None else table.watch
    if max(watched) >= ranking.labels:
        raise given.misfit(f"label {max(watched)} is watched, and there are {ranking.labels}")
    if table.warm > table.window:
        raise given.misfit(f"warm = {table.warm} runs are more than window = {table.window} remembers")
    return WakeWords(ranking, table.window, table.warm, table.hold, watched)


def _ctc(given: Given) -> Transcript:
    """One output, [1, steps, labels] or [steps, 1, labels]."""
    port = given.ports[0]
    axes = [axis for axis, size in enumerate(port.model_shape) if size > 1]
    if len(given.ports) != 1 or len(axes) != 2:
        raise given.misfit(f"{given.shapes}: not one output of [1, steps, labels]")
    (step, label), each = axes, strides(port)
    labels = port.model_shape[label]
    if given.table.blank >= labels:
        raise given.misfit(f"blank = {given.table.blank}, and there are {labels} labels")
    return Transcript(given.places[0], port.model_shape[step], labels, each[step], each[label], given.table.blank)


_TASKS: Mapping[str, Callable[[Given], Boxes | Ranking | WakeWords | Transcript]] = {
    "fastestdet": _fastestdet,
    "yunet": _yunet,
    "yolov3": lambda given: _anchored(given, "yolov3"),
    "yolov5": _yolov5,
    "yolov8": _yolov8,
    "ssd": _ssd,
    "labels": _ranking,
    "wake_words": _wake_words,
    "ctc": _ctc,
}
