"""What a network's outputs mean, in numpy: the definition that NAME_postprocess.c equals to the bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.fixedpoint import dequantize_linear
from codegen.float32 import Float32Array, exp, sigmoid
from codegen.float32.boxes import overlapping
from codegen.float32.detections import BOXES, SCORES, Places, clip, greatest, place_of_greatest, softmax
from codegen.golden.interface import PortSpec
from codegen.ir.postprocess import Boxes, Level, Numbers, PostProgram, Ranking, Source, Transcript, WakeWords
from codegen.ir.quant import Array

Found = dict[str, Array]
"""What was found, best first: `box` f32[n, 4], `score` f32[n], `label` i32[n] and the like, by a program's members."""
_NONE = np.empty(0, np.float32)


class Decoder:
    """A program for the outputs of a network; wake words are heard from run to run."""

    def __init__(self, program: PostProgram, outputs: Sequence[PortSpec]) -> None:
        """Take the outputs that the program was made for, and begin as after a reset."""
        self._program, self._ports = program, tuple(outputs)
        self.reset()

    def reset(self) -> None:
        """Forget what was heard."""
        self._heard: list[Float32Array] = []
        self._held = 0

    @property
    def finds_boxes(self) -> bool:
        """Whether it is a detector's."""
        return isinstance(self._program.task, Boxes)

    def run(self, outputs: Mapping[str, Array]) -> Found:
        """What the outputs of one inference mean: arrays by the model's names, in its own layout and type."""
        return self._found([self._placed(port, outputs[port.name]) for port in self._ports])

    def run_raw(self, outputs: Mapping[str, Array]) -> Found:
        """The same of network tensors, by their names."""
        return self._found([outputs[port.value].reshape(-1) for port in self._ports])

    def _placed(self, port: PortSpec, array: Array) -> Array:
        """In the order in which the network holds it."""
        if port.perm is None:
            return array.reshape(-1)
        shape = [port.shape[place] for place in np.argsort(port.perm)]
        return np.ascontiguousarray(array.reshape(shape).transpose(port.perm)).reshape(-1)

    def _found(self, arrays: Sequence[Array]) -> Found:
        task, numbers = self._program.task, [_real(*pair) for pair in zip(arrays, self._program.outputs, strict=True)]
        if isinstance(task, Boxes):
            return _boxes(task, numbers, self._program)
        if isinstance(task, Ranking):
            return _ranked(scores_of(task, numbers[task.output]), self._program)
        if isinstance(task, Transcript):
            return _transcribed(task, numbers[task.output], self._program.most)
        return self._listened(task, scores_of(task.ranking, numbers[task.ranking.output]))

    def _listened(self, task: WakeWords, scores: Float32Array) -> Found:
        """The best of the labels that are watched, by its mean over the last runs."""
        self._heard = [*self._heard[1 - task.window :], scores] if task.window > 1 else [scores]
        waiting, self._held = self._held > 0, max(0, self._held - 1)
        if waiting or len(self._heard) < task.warm:
            return _labelled(_NONE, np.empty(0, np.int32))
        sums = np.add.accumulate(np.array(self._heard), axis=0, dtype=np.float32)[-1]
        means = (sums / np.float32(len(self._heard)))[list(task.watched)]
        best = int(place_of_greatest(means))
        heard = np.flatnonzero(means[best : best + 1] > np.float32(self._program.least)) + best
        self._held = task.hold if len(heard) else self._held
        return _labelled(means[heard], np.array(task.watched, np.int32)[heard])


def _real(array: Array, meaning: Numbers) -> Float32Array:
    """Floats are what they are, also where an engine has made them of a network that holds integers."""
    if array.dtype.kind == "f" or meaning.scale is None:
        return np.asarray(array, np.float32)
    return np.asarray(dequantize_linear(array, meaning.scale, meaning.zero_point), np.float32)


def scores_of(task: Ranking, numbers: Float32Array) -> Float32Array:
    """Of all labels."""
    with np.errstate(all="ignore"):
        return _activated(task.activation, numbers / np.float32(task.temperature))


def _activated(activation: str, x: Float32Array) -> Float32Array:
    """An activation of labels along the last axis."""
    if activation == "softmax":
        return softmax(x)
    if activation == "sigmoid":
        return sigmoid(x)
    return clip(x) if activation == "clip" else np.asarray(x, np.float32)


def _labelled(scores: Float32Array, labels: Array) -> Found:
    return {"score": np.asarray(scores, np.float32), "label": np.asarray(labels, np.int32)}


def _ranked(scores: Float32Array, program: PostProgram) -> Found:
    order = _best(scores, program.least)[: program.most]
    return _labelled(scores[order], order)


def _best(scores: Float32Array, least: float) -> Array:
    """Indexes of scores above `least`, best first, of equal ones the first."""
    above = np.flatnonzero(scores > np.float32(least))
    return np.asarray(above[np.argsort(-scores[above], kind="stable")])


def _transcribed(task: Transcript, numbers: Float32Array, most: int) -> Found:
    """The best label of each step, where it is another one than before, and no blank."""
    steps, labels = np.arange(task.steps), np.arange(task.labels)
    best = place_of_greatest(numbers[steps[:, None] * task.step_stride + labels * task.label_stride])
    new = np.concatenate([[True], best[1:] != best[:-1]]) & (best != task.blank)
    return {"label": best[new][:most].astype(np.int32), "step": steps[new][:most].astype(np.int32)}


def _boxes(task: Boxes, numbers: Sequence[Float32Array], program: PostProgram) -> Found:
    with np.errstate(all="ignore"):
        pairs = [_scored(task, level, numbers) for level in task.levels]
        scores, labels = (np.concatenate([pair[k] for pair in pairs]) for k in (0, 1))
        order = _best(scores, program.least)[: task.candidates]
        boxes, points = _located(task, numbers, order)
    kept = _kept(boxes, labels[order], task, program.most)
    found = {"box": boxes[kept], **_labelled(scores[order][kept], labels[order][kept])}
    return found | ({"points": points[kept]} if task.points else {})


def _scored(task: Boxes, level: Level, numbers: Sequence[Float32Array]) -> tuple[Float32Array, Array]:
    """Score and label of each box of a level: the label with the greatest number."""
    cells = np.arange(level.boxes)
    x = _read(level, level.labels, numbers, cells, np.arange(task.background + task.labels))
    best = place_of_greatest(x[:, task.background :])
    held = np.take_along_axis(x, best[:, None] + task.background, axis=1)
    share = _share(x, held[:, 0]) if task.activation == "softmax" else _activated(task.activation, held[:, 0])
    if level.objects is None:
        return SCORES[task.score](share, share), best
    thing = _read(level, level.objects, numbers, cells, np.zeros(1, np.int64))[:, 0]
    return SCORES[task.score](_activated(task.activation, thing), share), best


def _share(x: Float32Array, held: Float32Array) -> Float32Array:
    """The softmax of one number among others."""
    most = greatest(x)
    sums = np.add.accumulate(exp(x - most[:, None]), axis=1, dtype=np.float32)[:, -1]
    return np.asarray(exp(held - most) / sums)


def _read(level: Level, source: Source, numbers: Sequence[Float32Array], boxes: Array, channels: Array) -> Float32Array:
    """Numbers [boxes, channels] of some boxes of a level."""
    cell, anchor = np.divmod(boxes, level.anchors)
    row, column = np.divmod(cell, level.columns)
    place = source.first + row * source.row + column * source.column + anchor * source.anchor
    return np.asarray(numbers[source.output][place[:, None] + channels * source.channel])


def _located(task: Boxes, numbers: Sequence[Float32Array], order: Array) -> tuple[Float32Array, Float32Array]:
    """Corners and points of boxes by their numbers."""
    boxes = np.zeros((len(order), 4), np.float32)
    points = np.zeros((len(order), 2 * task.points), np.float32)
    for first, level in zip(task.firsts, task.levels, strict=True):
        here = np.flatnonzero((order >= first) & (order < first + level.boxes))
        if not len(here):
            continue
        at = _places(task, level, order[here] - first)
        raw = _read(level, level.box, numbers, order[here] - first, np.array(task.order))
        if task.scales is not None:
            raw = np.asarray(raw / np.repeat(np.array(task.scales, np.float32), 2))
        boxes[here] = BOXES[task.decode](raw, at)
        if level.points is not None:
            raw = _read(level, level.points, numbers, order[here] - first, np.arange(2 * task.points))
            points[here] = (raw + np.tile(at.cell, task.points)) * np.tile(at.step, task.points)
    return boxes, points


def _places(task: Boxes, level: Level, boxes: Array) -> Places:
    """Where boxes of a level are proposed."""
    step = np.tile(np.array(level.step, np.float32), (len(boxes), 1))
    if task.priors is not None:
        mine = task.priors[boxes]
        return Places(mine[:, :2], step, mine[:, 2:])
    cell, anchor = np.divmod(boxes, level.anchors)
    row, column = np.divmod(cell, level.columns)
    return Places(np.stack([column, row], axis=1).astype(np.float32), step, level.sizes[anchor])


def _kept(boxes: Float32Array, labels: Array, task: Boxes, most: int) -> list[int]:
    """Of sorted boxes those that overlap none of their label that was kept before them, at most so many."""
    found: list[int] = []
    left = np.arange(len(boxes))
    while len(left) and len(found) < most:
        best, left = int(left[0]), left[1:]
        found.append(best)
        gone = overlapping(boxes[best], boxes[left], task.overlap)
        left = left[~(gone & (labels[left] == labels[best]))] if task.by_label else left[~gone]
    return found
