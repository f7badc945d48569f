"""Boxes of which the best are selected, and poses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codegen.ops.float32 import FloatAnchorBoxes, FloatNonMaxSuppression, FloatPoses
from tests.contract.case import F32, Case, t


def cases() -> Iterator[Case]:
    """All of them."""
    rng = np.random.default_rng(5)
    boxes = rng.normal(0, 20, (1, 11, 4)).astype(np.float32)
    scores = rng.normal(0, 20, (2, 3, 9)).astype(np.float32)
    scores[:, :, ::3], scores[:, :, 1] = np.nan, -np.inf
    yield Case("corners", FloatNonMaxSuppression(4, 0.125), (t(F32, 2, 9, 4), t(F32, 2, 3, 9)))
    yield Case("equal", FloatNonMaxSuppression(5, 0.25, 1.0), (t(F32, 2, 13, 4), t(F32, 2, 1, 13)), few=5)
    yield Case("centred", FloatNonMaxSuppression(99, 0.0, 2.0, True), (t(F32, 1, 12, 4), t(F32, 1, 2, 12)), few=9)
    yield Case("none", FloatNonMaxSuppression(3, 0.5, 1e9), (t(F32, 1, 7, 4), t(F32, 1, 2, 7)))
    yield Case("known_boxes", FloatNonMaxSuppression(3, 0.5, -20.0), (boxes, t(F32, 1, 2, 11)))
    yield Case("known_scores", FloatNonMaxSuppression(9, 0.5), (t(F32, 2, 9, 4), scores))
    few = FloatAnchorBoxes((10.0, 10.0, 5.0, 3.0))
    yield Case("anchors", few, (t(F32, 9, 6), rng.normal(0, 20, (9, 4)).astype(np.float32)))
    yield Case("own_anchors", few, (t(F32, 3, 4), t(F32, 3, 4)))
    yield Case("own_codes", few, (rng.normal(0, 20, (5, 4)).astype(np.float32), t(F32, 5, 4)))
    maps = t(F32, 1, 5, 4, 17), t(F32, 1, 5, 4, 34), t(F32, 1, 5, 4, 64)
    yield Case("many", FloatPoses(7, 0.0, 0.25, 0.5, 16), maps)
    yield Case("hard", FloatPoses(3, -1.0, 0.75, 4.0, 7), maps)
    offsets, edges = (rng.normal(0, 1, kind.shape).astype(np.float32) for kind in maps[1:])
    yield Case("known", FloatPoses(4, -0.5, 0.3, 0.25, 16), (maps[0], offsets, edges))
    points = rng.normal(0, 2, (1, 1, 6, 17)).astype(np.float32)
    yield Case("a_row", FloatPoses(40, -1.0, 0.1, 0.1, 1), (points, t(F32, 1, 1, 6, 34), t(F32, 1, 1, 6, 64)))
