"""Average precision of boxes as the plain area under one curve, without COCO's evaluator.

Decides: what differs from COCO's, which reads the curve at 101 places and lets boxes on crowds count neither way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.metrics.coco import AveragePrecision, Truth
from codegen.metrics.metric import Score, Seen
from codegen.records import record

_OVERLAP = 0.5
_READER = AveragePrecision()
Found = Mapping[str, Array]


@record
class PooledArea:
    """Area under precision over recall at an overlap of 0.5, of the boxes of all labels and pictures, best first.

    A box that was found takes the one of its label, not yet taken, that it overlaps most.  Crowds are not there.
    """

    keys: tuple[str, ...] = _READER.keys
    real: bool = True

    def truths(self, arrays: Mapping[str, Array], where: str) -> Sequence[Truth]:
        """The boxes of each picture; LAM-API-005 for arrays that are none."""
        return _READER.truths(arrays, where)

    def judge(self, seen: Seen, truth: Truth) -> tuple[Array, Array, int]:
        """Scores of what was found in one picture, which ones are right, and how many boxes are there."""
        found = seen.outputs
        order = np.argsort(-found["score"], kind="stable")
        alone = truth.crowd == 0
        there = Truth(truth.box[alone].astype(np.float64), truth.label[alone], truth.crowd[alone])
        return found["score"][order], _hits(found, order, there), len(there.box)

    def total(self, verdicts: Sequence[tuple[Array, Array, int]]) -> Score:
        """The area; 0 where nothing is there to be found."""
        scores, hits = (np.concatenate([v[k] for v in verdicts]) for k in (0, 1))
        count = sum(v[2] for v in verdicts)
        if not count or not len(scores):
            return Score(0.0)
        right = np.cumsum(hits[np.argsort(-scores, kind="stable")])
        precision = np.maximum.accumulate((right / np.arange(1, len(right) + 1))[::-1])[::-1]
        return Score(float((np.diff(right / count, prepend=0) * precision).sum()))


def _hits(found: Found, order: Array, there: Truth) -> Array:
    """Whether each box, in this order, is one that nobody has found yet."""
    taken = np.zeros(len(there.box), bool)
    hits = np.zeros(len(order), bool)
    for place, k in enumerate(order):
        left = np.flatnonzero((there.label == found["label"][k]) & ~taken)
        overlaps = _overlaps(found["box"][k].astype(np.float64), there.box[left])
        if len(left) and overlaps.max() >= _OVERLAP:
            hits[place] = taken[left[overlaps.argmax()]] = True
    return hits


def _overlaps(box: Array, boxes: Array) -> Array:
    """Intersection over union of one box with others."""
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    both = np.clip(high - low, 0, None).prod(axis=1)
    either = (box[2:] - box[:2]).prod() + (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) - both
    return np.asarray(both / np.where(either > 0, either, np.inf))
