"""Poses of people from maps of keypoints and of offsets between them, in float32; bit-exact twin of lam_poses.h.

Decides: the order of every sum, that of equal scores the first place or keypoint goes before, and that a place which is
no number is the first one.  Source: G. Papandreou et al., PersonLab (arXiv:1803.08225), as Coral's PosenetDecoderOp has
it (google-coral/libcoral, coral/posenet).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from codegen.float32.arrays import Float32Array
from codegen.float32.exponential import sigmoid
from codegen.records import record

KEYPOINTS, EDGES, STEPS = 17, 16, 5
_ONE = (0, 1, 0, 2, 0, 5, 7, 5, 11, 13, 0, 6, 8, 6, 12, 14)
_OTHER = (1, 3, 2, 4, 5, 7, 9, 11, 13, 15, 6, 8, 10, 12, 14, 16)
DIRECTED = (*zip(_ONE, _OTHER, strict=True), *zip(_OTHER, _ONE, strict=True))
"""Edges of a pose, from one keypoint to another: nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles."""
Place = tuple[np.float32, np.float32]
_ZERO, _ONE_F = np.float32(0), np.float32(1)


@record
class Limits:
    """The least score that a pose begins with, before its sigmoid; the least mean; the square of a distance."""

    begin: float
    least: float
    near: float


@record(eq=False)
class Pose:
    """Places f32[17, 2] and scores f32[17]."""

    places: Float32Array
    scores: Float32Array


@record(eq=False)
class Maps:
    """Scores [H, W, 17], offsets [H, W, 34] and those along edges [H, W, 64], all float32."""

    scores: npt.NDArray[Any]
    offsets: npt.NDArray[Any]
    edges: npt.NDArray[Any]

    def inside(self, y: np.float32, x: np.float32) -> Place:
        """The nearest place of the map; 0 for NaN."""
        height, width = self.scores.shape[:2]
        return _inside(y, height), _inside(x, width)

    def moved(self, map_: npt.NDArray[Any], place: Place, first: int, second: int) -> Place:
        """A place moved by the offsets of two channels there."""
        down, along = (_at(map_[..., c], place) for c in (first, second))
        return self.inside(place[0] + down, place[1] + along)

    def followed(self, place: Place, edge: int, keypoint: int) -> Place:
        """Where the keypoint at the other end of an edge is.

        The first edge backward has the channels of the forward ones behind it, as the definition has it.
        """
        channel = edge + EDGES if edge > EDGES else edge
        place = self.moved(self.edges, place, channel, channel + EDGES)
        for _ in range(STEPS):
            place = self.moved(self.offsets, place, keypoint, keypoint + KEYPOINTS)
        return place

    def score(self, place: Place, keypoint: int) -> np.float32:
        """Of a keypoint at a place, before the sigmoid."""
        return _at(self.scores[..., keypoint], place)


def _inside(v: np.float32, size: int) -> np.float32:
    last = np.float32(size - 1)
    return (v if v < last else last) if v > 0 else _ZERO


def _at(channel: npt.NDArray[Any], place: Place) -> np.float32:
    """A number between others: columns first, then rows."""
    top, left = int(place[0]), int(place[1])
    down, along = place[0] - np.float32(top), place[1] - np.float32(left)
    bottom, right = top + int(down > 0), left + int(along > 0)
    above, below = ((_ONE_F - along) * channel[row, left] + along * channel[row, right] for row in (top, bottom))
    return np.float32((_ONE_F - down) * above + down * below)


def found(maps: Maps, limits: Limits, most: int) -> list[tuple[Pose, np.float32]]:
    """Poses with their mean scores, the best first: at most `most`, each with a mean of `limits.least` or more."""
    with np.errstate(all="ignore"):
        poses = _begun(maps, limits, most)
        ranks = _ordered([mean(pose.scores) for pose in poses])
        means = {i: _shown(poses, ranks[: at + 1], limits) for at, i in enumerate(ranks)}
        best = _ordered([means[i] for i in range(len(poses))])
    return [(poses[i], means[i]) for i in best if means[i] >= np.float32(limits.least)]


def _begun(maps: Maps, limits: Limits, most: int) -> list[Pose]:
    """Each begun at the best keypoint that no other one has."""
    poses: list[Pose] = []
    for row, column, keypoint in _roots(maps.scores, np.float32(limits.begin)):
        if len(poses) == most:
            break
        own = maps.offsets[row, column]
        place = maps.inside(np.float32(row) + own[keypoint], np.float32(column) + own[keypoint + KEYPOINTS])
        if not any(_near(pose, keypoint, place, limits) for pose in poses):
            pose = _pose(maps, place, keypoint)
            poses += [pose] if mean(pose.scores) >= np.float32(limits.least) else []
    return poses


def _roots(scores: npt.NDArray[Any], begin: np.float32) -> list[tuple[int, int, int]]:
    """Scores of at least `begin` that no neighbour of their kind exceeds, the best first."""
    height, width, _ = scores.shape
    wide = np.pad(scores, ((1, 1), (1, 1), (0, 0)), constant_values=-np.inf)
    around = [wide[y : y + height, x : x + width] for y in range(3) for x in range(3)]
    best = (scores >= begin) & ~np.any([beside > scores for beside in around], axis=0)
    places = np.argwhere(best)
    order = np.argsort(-scores[best], kind="stable")
    return [(int(y), int(x), int(k)) for y, x, k in places[order]]


def _pose(maps: Maps, place: Place, keypoint: int) -> Pose:
    """All keypoints from one on, the better ones first; scores behind their sigmoid."""
    waiting, reached = {keypoint: (place, maps.score(place, keypoint))}, dict[int, tuple[Place, np.float32]]()
    while waiting:
        k = _best(waiting)
        reached[k] = waiting.pop(k)
        for edge, (begin, end) in enumerate(DIRECTED):
            if begin == k and end not in reached:
                there = maps.followed(reached[k][0], edge, end)
                score = maps.score(there, end)
                if end not in waiting or score > waiting[end][1]:
                    waiting[end] = there, score
    places = np.array([reached[k][0] for k in range(KEYPOINTS)], np.float32)
    return Pose(places, sigmoid(np.array([reached[k][1] for k in range(KEYPOINTS)], np.float32)))


def _best(waiting: dict[int, tuple[Place, np.float32]]) -> int:
    best = min(waiting)
    for k in sorted(waiting):
        best = k if waiting[k][1] > waiting[best][1] else best
    return best


def mean(scores: npt.NDArray[Any], hidden: npt.NDArray[Any] | None = None) -> np.float32:
    """The greatest added first; hidden ones count as 0."""
    total = _ZERO
    for k in _ordered(list(scores)):
        total = total if hidden is not None and hidden[k] else total + scores[k]
    return np.float32(total / np.float32(len(scores)))


def _shown(poses: list[Pose], ranks: list[int], limits: Limits) -> np.float32:
    """The mean of the last of ranked poses, without keypoints that a better one has nearby."""
    *better, own = (poses[i] for i in ranks)
    places = [(y, x) for y, x in own.places]
    hidden = np.array([any(_near(p, k, place, limits) for p in better) for k, place in enumerate(places)])
    return mean(own.scores, hidden)


def _near(pose: Pose, keypoint: int, place: Place, limits: Limits) -> bool:
    down, along = (np.float32(a - b) for a, b in zip(pose.places[keypoint], place, strict=True))
    return bool(down * down + along * along <= np.float32(limits.near))


def _ordered(scores: list[Any]) -> list[int]:
    """Indexes, the highest score first, of equal ones the lowest index."""
    return [int(i) for i in np.argsort(-np.array(scores, np.float32), kind="stable")]
