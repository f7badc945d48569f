"""DetectionOutput: what an SSD detector finds, of codes, scores, and prior boxes with variances.

Decides: that there is a row for each detection that may be kept, of -1 where there is none, and that boxes are
selected as images of their own where each class has its own.  Source: the layer DetectionOutput of SSD's Caffe.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from codegen.errors import FormUnsupported, LayerParameterBad, ShapeMismatch
from codegen.frontends.caffe.network import Layer
from codegen.frontends.caffe.real.reading import Reading, Translator
from codegen.ir.real import RealOp
from codegen.real.along import TopK
from codegen.real.chosen import UNUSED, NonMaxSuppression
from codegen.real.elementwise import Binary, Function, Where
from codegen.real.movement import Concat, Gather, Pad, Reshape, Slice, Transpose
from codegen.real.reduce import Reduce
from codegen.real.scatter import GatherND
from codegen.records import record

_CORNER, _CENTER_SIZE = 1, 2
"""Numbers of code types; the third is CORNER_SIZE."""
_CORNERS = 4
_VARIED = 2
"""Rows of prior boxes: corners and variances."""
_BOX = 2
"""Column of the box in a row of NonMaxSuppression."""


def detection_output(r: Reading, layer: Layer) -> Sequence[str]:
    """Rows [image, label, score, x, y, x, y] of the best boxes, by label, and by score in each."""
    h = _Head(r, layer, layer.param("detection_output_param"))
    _check_parameters(h)
    _check_bottoms(h)
    chosen = _candidates(h, _decoded(h), _scores(h))
    rows = _selected(h, chosen)
    made = _filled(h, _described(h, chosen, _best(h, chosen, rows)))
    return [h.reshaped(made, (1, 1, *r.type(made).shape), "")]


@record
class _Head:
    """The layer, and how its parts are written."""

    r: Reading
    layer: Layer
    told: Any

    @property
    def labels(self) -> list[int]:
        """The classes that are looked for."""
        return [c for c in range(self.told.num_classes) if c != self.told.background_label_id]

    @property
    def priors(self) -> int:
        """How many boxes there are."""
        return self.r.shape(self.layer, 2)[2] // _CORNERS

    @property
    def candidates(self) -> int:
        """Boxes of a class, the best of which are selected."""
        top = self.told.nms_param.top_k
        return min(top, self.priors) if top > 0 else self.priors

    @property
    def kept(self) -> int:
        """Rows of the result."""
        keep = self.told.keep_top_k
        return int(keep) if keep > 0 else len(self.labels) * self.candidates

    def shape(self, x: str) -> tuple[int, ...]:
        """Of a value."""
        return self.r.type(x).shape

    def does(self, op: RealOp, *inputs: str, what: str) -> str:
        """What an operator makes."""
        return self.r.apply(self.layer, op, inputs, what)

    def binary(self, kind: str, a: str, b: str) -> str:
        """Arithmetic."""
        return self.does(Binary(kind), a, b, what=kind.lower())

    def reshaped(self, x: str, shape: Sequence[int], what: str = "reshaped") -> str:
        """The same elements in another shape."""
        return self.does(Reshape(tuple(shape)), x, what=what)

    def whole(self, numbers: int | Sequence[int]) -> str:
        """Known whole numbers."""
        return self.r.constant_of(self.layer, "whole", np.array(numbers, np.int64))

    def real(self, number: float) -> str:
        """A known real number."""
        return self.r.number(self.layer, "real", number)

    def cut(self, x: str, axis: int, start: int, stop: int) -> str:
        """A part of one axis."""
        starts = tuple(start if i == axis else 0 for i in range(len(self.shape(x))))
        counts = tuple(stop - start if i == axis else n for i, n in enumerate(self.shape(x)))
        return self.does(Slice(starts, counts, (1,) * len(counts)), x, what="part")

    def column(self, x: str, index: int) -> str:
        """A column of a matrix, as a vector."""
        return self.reshaped(self.cut(x, 1, index, index + 1), self.shape(x)[:1])

    def joined(self, axis: int, *parts: str) -> str:
        """Parts behind each other."""
        return self.does(Concat(axis), *parts, what="joined")

    def taken(self, x: str, places: str, axis: int = 0) -> str:
        """Entries of an axis."""
        return self.does(Gather(axis), x, places, what="taken")

    def ranked(self, x: str, count: int, *, largest: bool = True) -> tuple[str, ...]:
        """The best of the last axis, and their places."""
        op = TopK(count, len(self.shape(x)) - 1, largest)
        return self.r.write(op, [x], [f"{self.layer.result}:best"], self.layer, self.layer.result)


@record
class _Candidates:
    """Boxes [classes or 1, count, 4] and scores [classes, count]; whether each class has boxes of its own."""

    boxes: str
    scores: str
    count: int
    apart: bool


def _check_parameters(h: _Head) -> None:
    """Refuse what Caffe refuses, and what has no form of fixed size."""
    told, nms, where = h.told, h.told.nms_param, h.layer.where
    if told.num_classes < 1 or (told.num_classes == 1 and told.background_label_id == 0):
        raise LayerParameterBad(f"{told.num_classes} classes besides the background's", where=where)
    if not nms.nms_threshold >= 0:
        raise LayerParameterBad(f"nms_threshold {nms.nms_threshold}", where=where)
    if not 0 < nms.eta <= 1:
        raise LayerParameterBad(f"eta {nms.eta}", where=where)
    if not math.isfinite(told.confidence_threshold):
        raise LayerParameterBad(f"confidence_threshold {told.confidence_threshold}", where=where)
    if nms.eta < 1:
        raise FormUnsupported(f"eta {nms.eta}", where=where, hint="the limit of overlaps is one: set eta to 1")
    if 0 in (told.keep_top_k, nms.top_k):
        raise FormUnsupported("a detector that keeps nothing", where=where, hint="a limit of -1 is none")


def _check_bottoms(h: _Head) -> None:
    """Refuse blobs that do not belong to each other."""
    codes, scores, priors = (h.r.shape(h.layer, i) for i in range(3))
    count = h.told.num_classes
    rows = (1, _VARIED) if h.told.variance_encoded_in_target else (_VARIED,)
    fits = len(priors) == 3 and priors[0] == 1 and priors[1] in rows and priors[2] % _CORNERS == 0
    boxes = 1 if h.told.share_location else count
    if not fits or math.prod(codes[1:]) != priors[2] * boxes or math.prod(scores[1:]) * _CORNERS != priors[2] * count:
        found = f"codes {list(codes)} and scores {list(scores)} of {count} classes for prior boxes {list(priors)}"
        raise ShapeMismatch(found, where=h.layer.where)
    if codes[0] != 1 or scores[0] != 1:
        raise FormUnsupported(
            f"a batch of {max(codes[0], scores[0])}", where=h.layer.where, hint="give an input of one image"
        )


def _scores(h: _Head) -> str:
    """Those of the classes that are looked for: [classes, boxes]."""
    given = h.reshaped(h.r.value(h.layer, 1), (h.priors, h.told.num_classes))
    return _looked_for(h, h.does(Transpose((1, 0)), given, what="turned"))


def _looked_for(h: _Head, x: str) -> str:
    """Without the background's entry of the first axis."""
    return x if len(h.labels) == h.told.num_classes else h.taken(x, h.whole(h.labels))


def _codes(h: _Head) -> str:
    """Codes [classes or 1, boxes, 4]."""
    given = h.r.value(h.layer)
    if h.told.share_location:
        return h.reshaped(given, (1, h.priors, _CORNERS))
    parted = h.reshaped(given, (h.priors, h.told.num_classes, _CORNERS))
    return _looked_for(h, h.does(Transpose((1, 0, 2)), parted, what="turned"))


def _prior(h: _Head, index: int) -> str:
    """Corners of prior boxes, or variances: [1, boxes, 4]."""
    return h.reshaped(h.cut(h.r.value(h.layer, 2), 1, index, index + 1), (1, h.priors, _CORNERS))


def _decoded(h: _Head) -> str:
    """Corners [classes or 1, boxes, 4]."""
    codes, priors = _codes(h), _prior(h, 0)
    low, high = _halves(h, priors)
    size = h.binary("Sub", high, low)
    if h.told.code_type == _CENTER_SIZE:
        return _by_centre(h, codes, h.binary("Mul", h.binary("Add", low, high), h.real(0.5)), size)
    if h.told.code_type == _CORNER:
        return h.binary("Add", priors, _varied(h, codes))
    return h.binary("Add", priors, h.binary("Mul", _varied(h, codes), h.joined(2, size, size)))


def _by_centre(h: _Head, codes: str, centre: str, size: str) -> str:
    """Of codes that move centres, and stretch sizes by their exponential function."""
    moves, stretches = _halves(h, _varied(h, codes))
    moved = h.binary("Add", h.binary("Mul", moves, size), centre)
    grown = h.does(Function("Exp"), stretches, what="exp")
    half = h.binary("Mul", grown, h.binary("Mul", size, h.real(0.5)))
    return h.joined(2, h.binary("Sub", moved, half), h.binary("Add", moved, half))


def _halves(h: _Head, x: str) -> tuple[str, str]:
    """The first and the last two numbers of each box."""
    return h.cut(x, 2, 0, 2), h.cut(x, 2, 2, _CORNERS)


def _varied(h: _Head, codes: str) -> str:
    """Codes times variances, unless they are so already."""
    return codes if h.told.variance_encoded_in_target else h.binary("Mul", codes, _prior(h, 1))


def _candidates(h: _Head, boxes: str, scores: str) -> _Candidates:
    """The best `top_k` of each class."""
    apart, count = not h.told.share_location, h.candidates
    if count == h.priors:
        return _Candidates(boxes, scores, count, apart)
    best, places = h.ranked(scores, count)
    if apart:
        at = h.reshaped(places, (*h.shape(places), 1))
        return _Candidates(h.does(GatherND(1), boxes, at, what="taken"), best, count, apart=True)
    own = h.taken(h.reshaped(boxes, (h.priors, _CORNERS)), places)
    return _Candidates(own, best, count, apart=True)


def _selected(h: _Head, chosen: _Candidates) -> str:
    """Rows [class, box] of boxes that overlap no better one of their class, by class and score, then those of -1."""
    classes, limit = len(h.labels), min(h.told.nms_param.nms_threshold, 1.0)
    least = h.told.confidence_threshold if h.told.HasField("confidence_threshold") else None
    op = NonMaxSuppression(min(chosen.count, h.kept), limit, least, filled=True)
    shape = (classes, 1, chosen.count) if chosen.apart else (1, classes, chosen.count)
    rows = h.does(op, _unturned(h, chosen.boxes), h.reshaped(chosen.scores, shape), what="selected")
    kinds = h.cut(rows, 1, 0, 1) if chosen.apart else h.cut(rows, 1, 1, 2)
    return h.joined(1, kinds, h.cut(rows, 1, _BOX, _BOX + 1))


def _unturned(h: _Head, boxes: str) -> str:
    """Boxes that overlap nothing where they end before they begin, as Caffe has it; codes of sizes make none."""
    if h.told.code_type == _CENTER_SIZE:
        return boxes
    low, high = _halves(h, boxes)
    return h.joined(2, low, h.binary("Max", low, high))


def _places(h: _Head, chosen: _Candidates, rows: str) -> tuple[str, str, str]:
    """Of rows the class, and places of their scores and of their boxes; the first ones of rows that are not used."""
    kinds, boxes = (h.column(h.binary("Max", rows, h.whole(0)), i) for i in range(2))
    flat = h.binary("Add", h.binary("Mul", kinds, h.whole(chosen.count)), boxes)
    return kinds, flat, flat if chosen.apart else boxes


def _used(h: _Head, rows: str) -> str:
    return h.binary("GreaterOrEqual", h.column(rows, 1), h.whole(0))


def _ranks(h: _Head, chosen: _Candidates, flat: str) -> str:
    """Scores at places."""
    return h.taken(h.reshaped(chosen.scores, (len(h.labels) * chosen.count,)), flat)


def _best(h: _Head, chosen: _Candidates, rows: str) -> str:
    """The best rows of all classes, in their order, which has those that are not used behind."""
    if h.shape(rows)[0] <= h.kept:
        return rows
    ranks = _ranks(h, chosen, _places(h, chosen, rows)[1])
    lowest = h.does(Reduce("Min", (0,)), ranks, what="lowest")  # of equal ones the first is taken, which is used
    masked = h.does(Where(), _used(h, rows), ranks, lowest, what="masked")
    _, places = h.ranked(masked, h.kept)
    ordered, _ = h.ranked(places, h.kept, largest=False)
    return h.taken(rows, ordered)


def _described(h: _Head, chosen: _Candidates, rows: str) -> str:
    """Rows of the result."""
    kinds, flat, places = _places(h, chosen, rows)
    tall = (h.shape(rows)[0], 1)
    labels = h.taken(h.r.constant_of(h.layer, "labels", np.array(h.labels, np.float32)), kinds)
    image = h.r.constant_of(h.layer, "image", np.zeros(tall, np.float32))
    boxes = h.taken(h.reshaped(chosen.boxes, (math.prod(h.shape(chosen.boxes)[:2]), _CORNERS)), places)
    told = h.joined(1, image, h.reshaped(labels, tall), h.reshaped(_ranks(h, chosen, flat), tall), boxes)
    return h.does(Where(), h.reshaped(_used(h, rows), tall), told, h.real(UNUSED), what="masked")


def _filled(h: _Head, rows: str) -> str:
    """As many rows as may be kept."""
    left = h.kept - h.shape(rows)[0]
    return h.does(Pad((0, 0), (left, 0), "constant", UNUSED), rows, what="filled") if left else rows


TRANSLATORS: Mapping[str, Translator] = {"DetectionOutput": detection_output}
