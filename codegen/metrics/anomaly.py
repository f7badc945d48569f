"""The metric of anomaly detectors: how well a score parts the anomalous samples from the normal ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.metrics.metric import Score, Seen, unfit, whole_numbers
from codegen.records import record


@record
class Auc:
    """Area under the ROC curve: how often an anomalous sample (`y` is 1) scores above a normal one (0); ties are half.

    The score is the mean squared error of a network that gives back its input, else its only number, or the second of
    two.  Where the data has `group`, a whole number per sample, a group's score is the mean of its samples'.
    """

    keys: tuple[str, ...] = ("y", "group")
    real: bool = True

    def truths(self, arrays: Mapping[str, Array], where: str) -> list[tuple[int, int]]:
        """Label and group of each sample."""
        y = whole_numbers(arrays, where)
        if not set(y.tolist()) == {0, 1}:
            raise unfit(f"y holds {sorted(set(y.tolist()))[:8]}, not 0 and 1", where=where)
        group = arrays.get("group", np.arange(len(y)))
        if group.shape != y.shape or group.dtype.kind not in "iu":
            raise unfit(f"group is {group.dtype}{list(group.shape)}, y {list(y.shape)}", where=where)
        return list(zip(y.tolist(), group.tolist(), strict=True))

    def judge(self, seen: Seen, truth: tuple[int, int]) -> tuple[int, int, float]:
        """Label, group, score."""
        return *truth, _strangeness(seen)

    def total(self, verdicts: Sequence[tuple[int, int, float]]) -> Score:
        """The area."""
        groups: dict[int, list[float]] = {}
        labels: dict[int, int] = {}
        for label, group, score in verdicts:
            groups.setdefault(group, []).append(score)
            if labels.setdefault(group, label) != label:
                raise unfit(f"group {group} is normal and anomalous", where="y")
        scores = np.array([np.mean(found) for found in groups.values()])
        return Score(_area(scores, np.array(list(labels.values()))), unit="area")


def _strangeness(seen: Seen) -> float:
    made = seen.first.astype(np.float64).reshape(-1)
    if made.size == seen.given.size and made.size > 2:
        return float(np.mean((made - seen.given.astype(np.float64).reshape(-1)) ** 2))
    if made.size > 2:
        raise unfit(f"the first output has {made.size} numbers: neither one or two nor the input's", where="y")
    return float(made[-1])


def _area(scores: Array, labels: Array) -> float:
    normal, strange = scores[labels == 0], scores[labels == 1]
    if not normal.size or not strange.size:
        raise unfit("normal and anomalous samples are needed, one at least of each", where="y")
    below = np.searchsorted(np.sort(normal), strange, side="left")
    upto = np.searchsorted(np.sort(normal), strange, side="right")
    return float((below + upto).sum() / 2 / (normal.size * strange.size))
