"""What has a size that depends on numbers: read where these are constants.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import AttributeBad, StringsUnsupported
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.elementwise import read_dtype
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.real.chosen import UNUSED, NonMaxSuppression, mel_weights, unique
from codegen.real.ngrams import CountNgrams
from codegen.settle.builder import MAX_ELEMENTS

_MOST_KNOWN = 1 << 12
"""Boxes that are looked at while a model is read."""


def unique_op(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Unique, of a constant."""
    x = r.const(node, 0)
    axis = r.axis(node, r.value(node, 0), name="axis") if node.has("axis") else None
    made = unique(x, axis, ordered=not node.flag("sorted", True))
    return [
        r.constant(name or f"{node.name}:{i}", a) for i, (name, a) in enumerate(zip(node.outputs, made, strict=False))
    ]


def non_zero(r: Reading, node: OnnxNode) -> Sequence[str]:
    """NonZero, of a constant."""
    return [r.constant(node.outputs[0], np.array(np.nonzero(np.atleast_1d(r.const(node, 0))), np.int64))]


def non_max(r: Reading, node: OnnxNode) -> Sequence[str]:
    """NonMaxSuppression: of constants what is selected; of computed boxes as many rows as there may be."""
    inputs = [r.value(node, i) for i in range(2)]
    boxes = r.type(inputs[0]).shape
    most = 0 if r.optional(node, 2) is None else max(r.whole_number(node, 2), 0)
    op = NonMaxSuppression(
        min(most, boxes[1]) if len(boxes) == 3 else most,
        _within(r, node, 3, 0.0, 1.0) or 0.0,
        _within(r, node, 4, -math.inf, math.inf),
        node.flag("center_point_box"),
    )
    (kind,) = op.infer([r.type(i) for i in inputs])
    if 0 in kind.shape:
        return [r.constant(node.outputs[0], np.zeros((0, 3), np.int64))]
    if any(r.values[i].data is None for i in inputs):
        r.note(f"{node.where}: {kind.shape[0]} rows, those that are not used are {UNUSED}")
        rows = r.apply(op, inputs, node)
        r.left_over[rows], r.filled[rows] = 0, 0
        return [rows]
    if boxes[1] > _MOST_KNOWN:
        raise AttributeBad(f"{boxes[1]} boxes, at most {_MOST_KNOWN} are read", where=node.where)
    return [r.constant(node.outputs[0], op.selected([r.const(node, i) for i in range(2)]))]


def _within(r: Reading, node: OnnxNode, index: int, low: float, high: float) -> float | None:
    """An optional number within bounds."""
    if r.optional(node, index) is None:
        return None
    number = float(np.float32(r.number(node, index)))
    if not low <= number <= high:
        raise AttributeBad(f"input '{node.inputs[index]}' is {number}, allowed is {low} .. {high}", where=node.where)
    return number


def mel_weight_matrix(r: Reading, node: OnnxNode) -> Sequence[str]:
    """MelWeightMatrix: a constant."""
    bands, length, rate = (r.whole_number(node, i) for i in range(3))
    low, high = (float(r.number(node, i)) for i in (3, 4))
    if not (1 <= bands <= 1 << 14 and 1 <= length <= 1 << 20 and 1 <= rate < 1 << 63 and 0 <= low <= high < math.inf):
        raise AttributeBad(f"{bands} bands of {length} bins from {low} to {high} Hz at {rate} Hz", where=node.where)
    if bands * length > MAX_ELEMENTS:
        raise AttributeBad(f"{bands} bands of {length} bins", where=node.where)
    dtype = read_dtype(node, "output_datatype") if node.has("output_datatype") else np.dtype(np.float32)
    return [r.constant(node.outputs[0], mel_weights(bands, length, rate, low, high).astype(dtype))]


def tf_idf(r: Reading, node: OnnxNode) -> Sequence[str]:
    """TfIdfVectorizer of whole numbers."""
    if not node.has("pool_int64s"):
        raise StringsUnsupported.of("sequences of strings", node.where)
    pool, starts = node.integers("pool_int64s"), node.integers("ngram_counts", low=0)
    places = node.integers("ngram_indexes", low=0)
    if not starts:
        raise AttributeBad("ngram_counts is empty", where=node.where)
    known = tuple(
        tuple(pool[i : i + length])
        for length, (start, stop) in enumerate(zip(starts, (*starts[1:], len(pool)), strict=True), 1)
        for i in range(start, stop - length + 1, length)
    )
    longest = node.integer("max_gram_length", low=1, high=64)
    shortest = node.integer("min_gram_length", low=1, high=longest)
    skips = node.integer("max_skip_count", low=0, high=1 << 10)
    if len(places) != len(known) or not places or max(places) > MAX_ELEMENTS:
        raise AttributeBad(f"{len(places)} places for {len(known)} sequences", where=node.where)
    mode = node.string("mode", "", ("TF", "IDF", "TFIDF"))
    weights = node.reals("weights") if node.has("weights") and mode != "TF" else ()
    op = CountNgrams(known, places, shortest, longest, skips, mode != "IDF", weights)
    return [r.apply(op, [r.value(node, 0)], node)]


TRANSLATORS: Table = {
    ("", "MelWeightMatrix"): mel_weight_matrix,
    ("", "NonMaxSuppression"): non_max,
    ("", "NonZero"): non_zero,
    ("", "TfIdfVectorizer"): tf_idf,
    ("", "Unique"): unique_op,
}
