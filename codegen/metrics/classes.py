"""Metrics of classifiers: the right class is among the largest, and F1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from codegen.ir.quant import Array
from codegen.metrics.metric import Score, Seen, class_scores, whole_numbers
from codegen.records import record


@record
class TopClasses:
    """Share of samples whose class `y` is among the `places` largest numbers of the first output."""

    places: int
    keys: tuple[str, ...] = ("y",)
    real: bool = False

    def truths(self, arrays: Mapping[str, Array], where: str) -> Sequence[Any]:
        """One class per sample."""
        return list(whole_numbers(arrays, where))

    def judge(self, seen: Seen, truth: int) -> bool:
        """Whether the class is among them; of equal numbers the first is taken."""
        scores = class_scores(seen, int(truth))
        if self.places == 1:
            return int(np.argmax(scores)) == truth
        return bool(truth in np.argsort(-scores.astype(np.float64), kind="stable")[: self.places])

    def total(self, verdicts: Sequence[bool]) -> Score:
        """The share."""
        return Score(sum(verdicts) / len(verdicts), right=sum(verdicts))


@record
class F1:
    """F1 = 2 TP / (2 TP + FP + FN): of class 1 where there are two, else the mean over the classes that occur.

    A class occurs when it is some sample's `y`, or what the network answers.
    """

    keys: tuple[str, ...] = ("y",)
    real: bool = True

    def truths(self, arrays: Mapping[str, Array], where: str) -> Sequence[Any]:
        """One class per sample."""
        return list(whole_numbers(arrays, where))

    def judge(self, seen: Seen, truth: int) -> tuple[int, int, int]:
        """Number of classes, the class, the answer; a single number answers 1 above a half."""
        if seen.first.size == 1:
            return 2, int(truth), int(seen.first.reshape(-1)[0] > 0.5)
        scores = class_scores(seen, int(truth))
        return scores.size, int(truth), int(np.argmax(scores))

    def total(self, verdicts: Sequence[tuple[int, int, int]]) -> Score:
        """The mean of the classes' F1."""
        classes, truth, answer = (np.array(column) for column in zip(*verdicts, strict=True))
        counted = [1] if classes.max() == 2 else np.union1d(truth, answer)
        return Score(float(np.mean([_f1(truth == c, answer == c) for c in counted])))


def _f1(truth: Array, answer: Array) -> float:
    either = int(truth.sum() + answer.sum())
    return 2 * int((truth & answer).sum()) / either if either else 0.0
