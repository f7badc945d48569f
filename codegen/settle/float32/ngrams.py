"""How often known sequences of whole numbers occur in a row.

Decides: that every place of a row is compared with every sequence of one length, and the hits are counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ops import Compare, Extremum, Slice
from codegen.ops.float32 import FloatBinary, FloatClip, FloatDense, FloatReduce
from codegen.real.ngrams import CountNgrams
from codegen.settle.context import Context
from codegen.settle.float32.writer import Writer, whole_const
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State


def count_ngrams(ctx: Context, node: RealNode, op: CountNgrams) -> Sequence[State]:
    """The counts of each length and distance, brought to their places by a matrix."""
    w, places = Writer(ctx, node), max(op.places) + 1
    x = w.cast(w.input(0), DType.S32)
    *lead, length = w.shape(x)
    rows = 1 if not lead else lead[0]
    x = w.reshaped(x, (rows, length))
    total = ""
    for step in range(1, op.skips + 2):
        for size in sorted({len(g) for g in op.known if op.shortest <= len(g) <= op.longest}):
            spots = length - (size - 1) * step
            if spots < 1 or (size == 1 and step > 1):
                continue
            found = _hits(w, x, op, size, step, spots, places)
            total = w.apply(FloatBinary("add"), total, found) if total else found
    if not total:
        total = w.const(np.zeros((rows, places), np.float32))
    if not op.counted:
        total = w.apply(FloatClip(0.0, 1.0), total)
    if op.weights:
        factors = np.ones(places, np.float32)
        factors[list(op.places)] = op.weights
        total = w.apply(FloatBinary("mul"), total, w.const(factors[None, :]))
    return w.done(w.reshaped(total, (*lead, places)))


def _hits(w: Writer, x: str, op: CountNgrams, size: int, step: int, spots: int, places: int) -> str:
    """How often each sequence of one length occurs, [rows, places]; of equal ones the last counts."""
    index = {gram: i for i, gram in enumerate(op.known) if len(gram) == size}
    grams, rows = np.array(list(index), np.int64).reshape(-1, size), w.shape(x)[0]
    every = ""
    for i in range(size):
        part = w.apply(Slice((0, i * step), (rows, spots), (1, 1)), x)
        known = w.const(whole_const(grams[:, i].reshape(1, 1, -1), DType.S32))
        hit = w.apply(Compare("==", None, None), w.reshaped(part, (rows, spots, 1)), known)
        every = w.apply(Extremum(False, None), every, hit) if every else hit
    counts = w.apply(FloatReduce("sum", (1,)), w.cast(every, DType.F32))
    matrix = np.zeros((places, len(grams)), np.float32)
    for column, i in enumerate(index.values()):
        matrix[op.places[i], column] = 1
    zeros = w.const(np.zeros(places, np.float32))
    return w.apply(FloatDense(), w.reshaped(counts, (rows, len(grams))), w.const(matrix), zeros)


RULES: Family = (Rule(CountNgrams, count_ngrams),)
