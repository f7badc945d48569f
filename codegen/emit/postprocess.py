"""What NAME_postprocess.h and .c say: the outputs' numbers as boxes, labels, words or steps, spelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.emit.names import comment
from codegen.emit.spelling import ArrayView, array_lines, spell_float
from codegen.ir.postprocess import Boxes, Level, Member, Numbers, PostProgram, Ranking, Source, Transcript, WakeWords
from codegen.ir.quant import Array

_ACTIVATIONS = {"none": "", "softmax": "", "clip": "lam_clip", "sigmoid": "lam_f32_sigmoid"}


@dataclass(frozen=True, slots=True)
class NumbersView:
    """An output that is read: what it holds, and the real number of an element `y[at]`."""

    index: int
    title: str
    ctype: str
    real: str
    lowest: str


@dataclass(frozen=True, slots=True)
class PlaceView:
    """Which output, the element of a cell (row, column, anchor), and what the number of a channel is multiplied by."""

    output: int
    ctype: str
    at: str
    by: str
    lowest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelView:
    """One grid; `first` and `end` bound the numbers of its boxes, `sizes` is there where anchors have their own."""

    index: int
    rows: int
    columns: int
    anchors: int
    first: int
    end: int
    step: tuple[str, str]
    width: str
    height: str
    sizes: ArrayView | None
    box: PlaceView
    labels: PlaceView
    objects: PlaceView | None
    points: PlaceView | None

    @property
    def apart(self) -> bool:
        """Whether boxes are found by row and column."""
        return self.rows > 1 or self.columns > 1


@dataclass(frozen=True, slots=True, kw_only=True)
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
    score: str
    overlap: str
    candidates: int
    by_label: bool
    points: int
    priors: ArrayView | None


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
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
        real = "y[at]" if of.dtype.is_float else "(float)y[at]"
    else:
        zero = f" - {of.zero_point}" if of.zero_point > 0 else f" + {-of.zero_point}" if of.zero_point else ""
        real = f"lam_dequantize((int32_t)y[at]{zero}, {spell_float(of.scale)})"
    return NumbersView(index, comment(of.name), of.dtype.ctype, real, _lowest(of))


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
        label="(k + 1)" if task.background else "k",
        shown="(label + 1)" if task.background else "label",
        all_labels=task.background + task.labels,
        activation=_ACTIVATIONS[task.activation],
        softmax=task.activation == "softmax",
        score=task.score,
        overlap=spell_float(task.overlap),
        candidates=task.candidates,
        by_label=task.by_label,
        points=task.points,
        priors=priors,
    )


def _floats(name: str, values: Array) -> ArrayView:
    return ArrayView(name, "float", values.size, array_lines(values.reshape(-1)))


def _level(task: Boxes, index: int, outputs: Sequence[Numbers]) -> LevelView:
    level, first = task.levels[index], task.firsts[index]
    width, height = (spell_float(float(v)) for v in level.sizes[0])
    return LevelView(
        index=index,
        rows=level.rows,
        columns=level.columns,
        anchors=level.anchors,
        first=first,
        end=first + level.boxes,
        step=(spell_float(level.step[0]), spell_float(level.step[1])),
        width=width,
        height=height,
        sizes=_floats(f"anchors{index}", level.sizes) if level.anchors > 1 else None,
        box=_place(level.box, outputs),
        labels=_place(level.labels, outputs),
        objects=None if level.objects is None else _place(level.objects, outputs),
        points=None if level.points is None else _place(level.points, outputs),
    )


def _place(source: Source, outputs: Sequence[Numbers]) -> PlaceView:
    of = outputs[source.output]
    steps = (("row", source.row), ("column", source.column), ("anchor", source.anchor))
    terms = [f"{name} * {step}" for name, step in steps if step]
    at = " + ".join([*terms, *([str(source.first)] if source.first or not terms else [])])
    by = "" if source.channel == 1 else f" * {source.channel}"
    return PlaceView(source.output, of.dtype.ctype, at, by, _lowest(of))


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
