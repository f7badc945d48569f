"""The metric of recognizers: edits that make of the words said the words that were heard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.metrics.metric import Score, Seen, unfit
from codegen.records import record


@record
class WordErrors:
    """Word error rate: insertions, deletions and replacements over the words said; more than 1 can be.

    `y` is [samples, words], whole numbers, -1 behind the last one.  Reals [.., steps, words] are read greedily by
    CTC: the largest of each step, repetitions once, without the blank, which is word 0 or `blank` of the data.  Whole
    numbers are the words themselves, -1 behind the last.
    """

    keys: tuple[str, ...] = ("y", "blank")
    real: bool = True

    def truths(self, arrays: Mapping[str, Array], where: str) -> list[tuple[list[int], int]]:
        """The words of each sample, and the blank."""
        y, blank = arrays["y"], arrays.get("blank", np.array(0))
        if y.ndim != 2 or y.dtype.kind not in "iu":
            raise unfit(f"y is {y.dtype}{list(y.shape)}, not [samples, words] of whole numbers", where=where)
        if blank.size != 1 or blank.dtype.kind not in "iu":
            raise unfit(f"blank is {blank.dtype}{list(blank.shape)}, not one whole number", where=where)
        words = [[int(w) for w in row if w >= 0] for row in y]
        if not any(words):
            raise unfit("no words are said", where=where)
        return [(said, int(blank.reshape(-1)[0])) for said in words]

    def judge(self, seen: Seen, truth: tuple[list[int], int]) -> tuple[int, int]:
        """Edits, and words said."""
        said, blank = truth
        return _edits(said, _heard(seen.first, blank)), len(said)

    def total(self, verdicts: Sequence[tuple[int, int]]) -> Score:
        """The rate."""
        edits, said = (sum(column) for column in zip(*verdicts, strict=True))
        return Score(edits / said, unit="rate")


def _heard(output: Array, blank: int) -> list[int]:
    if output.dtype.kind in "iu":
        return [int(w) for w in output.reshape(-1) if w >= 0]
    if output.ndim < 2:
        raise unfit(f"the model's first output is {list(output.shape)}, not [.., steps, words]", where="y")
    best = output.reshape(-1, output.shape[-1]).argmax(axis=1)
    return [int(w) for w, before in zip(best, [-1, *best[:-1]], strict=True) if w not in (before, blank)]


def _edits(said: Sequence[int], heard: Sequence[int]) -> int:
    """Levenshtein's distance."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said, 1):
        above, row = row, [i]
        for j, other in enumerate(heard, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (word != other)))
    return row[-1]
