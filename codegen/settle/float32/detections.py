"""What a detector finds, as operators on plain numbers: decoding, selection, and the best of what is selected.

Decides: that a row which nothing is found for is known by its place of -1, and masked where it is given out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ops import Compare, Pad, Slice, Take
from codegen.ops.float32 import FloatAnchorBoxes, FloatNonMaxSuppression, FloatReduce
from codegen.real.detections import Detections
from codegen.records import record
from codegen.settle.context import Context
from codegen.settle.float32.elementwise import chosen
from codegen.settle.float32.reduction import best, best_places
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State


@record
class _Found:
    """Values [detections, classes of each]; places of boxes [detections, 1], -1 of none."""

    places: str
    classes: str
    scores: str


def detections(ctx: Context, node: RealNode, op: Detections) -> Sequence[State]:
    """Boxes, classes, scores and their count."""
    w = Writer(ctx, node)
    boxes, ranks = _decoded(w, op), _ranks(w, op)
    found = (_by_class if op.regular else _by_best)(w, op, boxes, ranks)
    used = w.apply(Compare(">=", None, None), found.places, w.whole(0))
    classes = w.cast(found.classes, DType.F32)
    (rows, each), corners = w.shape(classes), _taken(w, boxes, found.places)
    corners = w.repeated(w.reshaped(corners, (rows, 1, 4)), (rows, each, 4))
    count = w.apply(FloatReduce("sum", (0,)), w.cast(used, DType.F32))
    wide = _filled(w, op, w.reshaped(used, (rows, 1, 1)), corners)
    flat = [_filled(w, op, used, part) for part in (classes, found.scores)]
    return w.done(wide, *flat, w.reshaped(count, (1,)))


def _columns(w: Writer, x: str, start: int, stop: int) -> str:
    """Some of the last axis of a matrix."""
    rows, columns = w.shape(x)
    whole = (start, stop) == (0, columns)
    return x if whole else w.apply(Slice((0, start), (rows, stop - start), (1, 1)), x)


def _decoded(w: Writer, op: Detections) -> str:
    """Corners [B, 4]."""
    codes, anchors = w.reshaped(w.input(0), w.shape(w.input(0))[1:]), w.input(2)
    return w.apply(FloatAnchorBoxes(op.scales), codes, anchors)


def _ranks(w: Writer, op: Detections) -> str:
    """Scores [B, classes]."""
    scores = w.input(1)
    count, columns = w.shape(scores)[1:]
    return _columns(w, w.reshaped(scores, (count, columns)), columns - op.classes, columns)


def _by_best(w: Writer, op: Detections, boxes: str, ranks: str) -> _Found:
    """Boxes by the best of their scores, with their best classes."""
    count, classes = w.shape(ranks)
    highest = w.reshaped(w.apply(FloatReduce("maximum", (1,)), ranks), (1, 1, count))
    places = _columns(w, _selected(w, op, boxes, highest, min(op.most, count)), 2, 3)
    own = _taken(w, ranks, places)
    each = min(op.each, classes)
    return _Found(places, best_places(w, own, each), best(w, own, each))


def _by_class(w: Writer, op: Detections, boxes: str, ranks: str) -> _Found:
    """Boxes class by class, and the best of all."""
    count, classes = w.shape(ranks)
    turned = w.transposed(ranks, (1, 0))
    rows = _selected(w, op, boxes, w.reshaped(turned, (1, classes, count)), min(op.kept, count))
    total, places = w.shape(rows)[0], _columns(w, rows, 2, 3)
    scores = w.apply(Take(2), turned, _columns(w, rows, 1, 3))
    used = w.reshaped(w.apply(Compare(">=", None, None), places, w.whole(0)), (total,))
    scores = w.reshaped(chosen(w, used, scores, w.real(-np.inf)), (1, total))
    most = min(op.most, total)
    at, ranks = best_places(w, scores, most), best(w, scores, most)
    at = w.reshaped(at, (most, 1))
    places, kinds = (w.apply(Take(1), column, at) for column in (places, _columns(w, rows, 1, 2)))
    return _Found(places, kinds, w.reshaped(ranks, (most, 1)))


def _selected(w: Writer, op: Detections, boxes: str, scores: str, most: int) -> str:
    """Rows [image, class, box]."""
    selection = FloatNonMaxSuppression(most, op.limit, op.passed)
    return w.apply(selection, w.reshaped(boxes, (1, *w.shape(boxes))), scores)


def _taken(w: Writer, x: str, places: str) -> str:
    """Rows of a matrix."""
    return w.apply(Take(1), x, places)


def _filled(w: Writer, op: Detections, used: str, part: str) -> str:
    """Numbers [detections, classes of each, ...] where there is a detection, and 0 in all rows that are left over."""
    masked = chosen(w, used, part, w.real(0.0))
    rows, each, *rest = w.shape(masked)
    none = (0,) * len(rest)
    missing = 0 if op.regular else op.each - each
    wide = w.apply(Pad((0, 0, *none), (0, missing, *none), "constant", 0.0), masked) if missing else masked
    flat = w.reshaped(wide, (rows * (each + missing), *rest))
    left = op.most * op.each - rows * (each + missing)
    made = w.apply(Pad((0, *none), (left, *none), "constant", 0.0), flat) if left else flat
    return w.reshaped(made, (1, op.most * op.each, *rest))


RULES: Family = (Rule(Detections, detections),)


TFLITE_RULES: Family = (Rule(Detections, detections, ("custom operator TFLite_Detection_PostProcess",)),)
