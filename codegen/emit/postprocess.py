"""What NAME_postprocess.h and .c say: the outputs' numbers as boxes, labels, words or steps, spelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.emit.names import comment
from codegen.emit.spelling import ArrayView, array_lines, spell_float
from codegen.ir.postprocess import Boxes, Level, Member, Numbers, PostProgram, Ranking, Source, Transcript, WakeWords
from codegen.ir.quant import Array
from codegen.records import record

_ACTIVATIONS = {"none": "", "softmax": "", "clip": "lam_clip", "sigmoid": "lam_f32_sigmoid"}


@record
class NumbersView:
    """An output that is read: what it holds, and the real number that an element `q` stands for."""

    index: int
    title: str
    ctype: str
    real: str


_INDENT = "    "


@record
class TurnView:
    """A loop over boxes, and how often it turns; `pad` is how far its line is indented."""

    name: str
    count: int
    pad: str


@record
class PlaceView:
    """Which output, what to add to it for a box, and what the number of a channel is multiplied by."""

    output: int
    ctype: str
    at: str
    by: str
    lowest: str


@record(kw_only=True)
class LevelView:
    """One grid; `first` and `end` bound the numbers of its boxes, `sizes` is there where anchors have their own.

    `turns` are the loops over its boxes, `box` the number of one of them in these loops, `bar` what must be passed;
    `pad` is how far the line inside the loops is indented.
    """

    index: int
    rows: int
    columns: int
    anchors: int
    first: int
    end: int
    turns: tuple[TurnView, ...]
    pad: str
    box: str
    bar: str
    step: tuple[str, str]
    width: str
    height: str
    sizes: ArrayView | None
    place: PlaceView
    labels: PlaceView
    objects: PlaceView | None
    points: PlaceView | None


@record(kw_only=True)
class BoxesView:
    """A detector; `label` and `shown` spell the channel of label k and of the best one."""

    decode: str
    raw: int
    channel: str
    scales: tuple[str, str] | None
    levels: tuple[LevelView, ...]
    labels: int
    label: str
    shown: str
    all_labels: int
    activation: str
    softmax: bool
    gap: str
    score: str
    overlap: str
    candidates: int
    by_label: bool
    points: int
    priors: ArrayView | None


@record(kw_only=True)
class LabelsView:
    """Scores of labels, and over which runs they are averaged; without a window of the last run alone."""

    output: int
    ctype: str
    labels: int
    activation: str
    softmax: bool
    divided: str
    window: int
    warm: int
    hold: int
    watched: ArrayView | None


@record
class StepsView:
    """Steps of a transcript."""

    output: int
    ctype: str
    lowest: str
    steps: int
    labels: int
    step_stride: int
    label_stride: int
    blank: int


@record(kw_only=True)
class PostView:
    """All that the templates see; one of the last three is there."""

    decode: str
    said: tuple[str, ...]
    members: tuple[Member, ...]
    most: int
    least: str
    state_bytes: int
    outputs: tuple[NumbersView, ...]
    boxes: BoxesView | None = None
    labels: LabelsView | None = None
    steps: StepsView | None = None

    @property
    def heard(self) -> bool:
        """Whether there is something to forget."""
        return self.labels is not None and self.labels.window > 0


def post_view(program: PostProgram) -> PostView:
    """The record for the templates."""
    task = program.task
    return PostView(
        decode=program.decode,
        said=program.said,
        members=program.members,
        most=program.most,
        least=spell_float(program.least),
        state_bytes=program.state_bytes,
        outputs=tuple(_numbers(i, program.outputs[i]) for i in sorted(_read(task))),
        boxes=_boxes(task, program.outputs) if isinstance(task, Boxes) else None,
        labels=_labels(task, program.outputs) if isinstance(task, Ranking | WakeWords) else None,
        steps=_steps(task, program.outputs) if isinstance(task, Transcript) else None,
    )


def _read(task: Boxes | Ranking | WakeWords | Transcript) -> set[int]:
    """Which outputs."""
    if isinstance(task, WakeWords):
        return {task.ranking.output}
    if not isinstance(task, Boxes):
        return {task.output}
    return {source.output for level in task.levels for source in _sources(level)}


def _sources(level: Level) -> Sequence[Source]:
    return [s for s in (level.box, level.labels, level.objects, level.points) if s is not None]


def _numbers(index: int, of: Numbers) -> NumbersView:
    if of.scale is None:
        real = "q" if of.dtype.is_float else "(float)q"
    else:
        zero = f" - {of.zero_point}" if of.zero_point > 0 else f" + {-of.zero_point}" if of.zero_point else ""
        real = f"lam_dequantize((int32_t)q{zero}, {spell_float(of.scale)})"
    return NumbersView(index, comment(of.name), of.dtype.ctype, real)


def _lowest(of: Numbers) -> str:
    """Of the type: no number is less."""
    return "-LAM_INFINITY" if of.dtype.is_float else str(of.dtype.low)


def _boxes(task: Boxes, outputs: Sequence[Numbers]) -> BoxesView:
    priors = None if task.priors is None else _floats("priors", task.priors)
    return BoxesView(
        decode=task.decode,
        raw=task.raw,
        channel="k" if task.order == tuple(range(task.raw)) else "(k ^ 1)",
        scales=None if task.scales is None else (spell_float(task.scales[0]), spell_float(task.scales[1])),
        levels=tuple(_level(task, i, outputs) for i in range(len(task.levels))),
        labels=task.labels,
        label=_channel("k", task),
        shown=_channel("label" if task.labels > 1 else "", task),
        all_labels=task.background + task.labels,
        activation=_ACTIVATIONS[task.activation],
        softmax=task.activation == "softmax",
        gap="" if task.gap is None else _number(task.gap, outputs[task.levels[0].labels.output]),
        score=task.score,
        overlap=spell_float(task.overlap),
        candidates=task.candidates,
        by_label=task.by_label,
        points=task.points,
        priors=priors,
    )


def _channel(label: str, task: Boxes) -> str:
    """Of a label; of the only one where it has no name."""
    if not label:
        return str(task.background)
    return f"({label} + {task.background})" if task.background else label


def _floats(name: str, values: Array) -> ArrayView:
    return ArrayView(name, "float", values.size, array_lines(values.reshape(-1)))


def _number(value: float, of: Numbers) -> str:
    """An element of an output, spelled."""
    return spell_float(value) if of.dtype.is_float else str(int(value))


def _level(task: Boxes, index: int, outputs: Sequence[Numbers]) -> LevelView:
    level, first = task.levels[index], task.firsts[index]
    width, height = (spell_float(float(v)) for v in level.sizes[0])
    judged = level.labels if level.objects is None else level.objects
    turns = _turns(level, [s for s in (level.labels, level.objects) if s is not None])
    return LevelView(
        index=index,
        rows=level.rows,
        columns=level.columns,
        anchors=level.anchors,
        first=first,
        end=first + level.boxes,
        turns=tuple(TurnView(turn.name, turn.count, _INDENT * (i + 1)) for i, turn in enumerate(turns)),
        pad=_INDENT * (len(turns) + 1),
        box=_sum([(turn.name, turn.boxes) for turn in turns], first),
        bar="" if level.bar is None else _number(level.bar, outputs[judged.output]),
        step=(spell_float(level.step[0]), spell_float(level.step[1])),
        width=width,
        height=height,
        sizes=_floats(f"anchors{index}", level.sizes) if level.anchors > 1 else None,
        place=_located(level, level.box, outputs),
        labels=_place(level.labels, [(turn.name, turn.steps[0]) for turn in turns], outputs),
        objects=None
        if level.objects is None
        else _place(level.objects, [(turn.name, turn.steps[1]) for turn in turns], outputs),
        points=None if level.points is None else _located(level, level.points, outputs),
    )


@record
class _Turn:
    """A loop: how many boxes, and how many elements of each source, one turn passes over."""

    name: str
    count: int
    boxes: int
    steps: tuple[int, ...]


def _turns(level: Level, sources: Sequence[Source]) -> tuple[_Turn, ...]:
    """As few loops as reach all boxes: two that step evenly are one, and none turns once."""
    found: list[_Turn] = []
    for turn in _axes(level, sources):
        outer = found[0] if len(found) == 1 else None
        if outer is not None and outer.steps == tuple(step * turn.count for step in turn.steps):
            name = "cell" if turn.name == "column" else "box"
            found = [_Turn(name, outer.count * turn.count, turn.boxes, turn.steps)]
        elif turn.count > 1:
            found.append(turn)
    return (replace(found[0], name="box"),) if len(found) == 1 else tuple(found)


def _axes(level: Level, sources: Sequence[Source]) -> tuple[_Turn, ...]:
    """Rows, columns and anchors."""
    return (
        _Turn("row", level.rows, level.columns * level.anchors, tuple(s.row for s in sources)),
        _Turn("column", level.columns, level.anchors, tuple(s.column for s in sources)),
        _Turn("anchor", level.anchors, 1, tuple(s.anchor for s in sources)),
    )


def _place(source: Source, terms: Sequence[tuple[str, int]], outputs: Sequence[Numbers]) -> PlaceView:
    of = outputs[source.output]
    by = "" if source.channel in (0, 1) else f" * {source.channel}"
    return PlaceView(source.output, of.dtype.ctype, _sum(terms, source.first), by, _lowest(of))


def _located(level: Level, source: Source, outputs: Sequence[Numbers]) -> PlaceView:
    """A place by the number of a box, and by what follows from it."""
    cell = "box" if level.anchors == 1 else "cell"
    names = {"row": f"({cell} / {level.columns})", "column": f"({cell} % {level.columns})", "cell": cell}
    terms = [(names.get(turn.name, turn.name), turn.steps[0]) for turn in _turns(level, [source])]
    return _place(source, terms, outputs)


def _sum(terms: Sequence[tuple[str, int]], first: int) -> str:
    """Names times numbers, and a number."""
    spelled = [name if step == 1 else f"{name} * {step}" for name, step in terms if step]
    return " + ".join([*spelled, *([str(first)] if first or not spelled else [])])


def _labels(task: Ranking | WakeWords, outputs: Sequence[Numbers]) -> LabelsView:
    ranking = task if isinstance(task, Ranking) else task.ranking
    window, warm, hold = (0, 0, 0) if isinstance(task, Ranking) else (task.window, task.warm, task.hold)
    watched = () if isinstance(task, Ranking) else task.watched
    kept = None
    if watched:
        kept = ArrayView("watched", "int32_t", len(watched), array_lines(np.array(watched, np.int32)))
    return LabelsView(
        output=ranking.output,
        ctype=outputs[ranking.output].dtype.ctype,
        labels=ranking.labels,
        activation=_ACTIVATIONS[ranking.activation],
        softmax=ranking.activation == "softmax",
        divided="" if ranking.temperature == 1 else f" / {spell_float(ranking.temperature)}",
        window=window,
        warm=warm,
        hold=hold,
        watched=kept,
    )


def _steps(task: Transcript, outputs: Sequence[Numbers]) -> StepsView:
    of = outputs[task.output]
    strides = (task.step_stride, task.label_stride)
    return StepsView(task.output, of.dtype.ctype, _lowest(of), task.steps, task.labels, *strides, task.blank)
