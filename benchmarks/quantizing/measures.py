"""How good a network's outputs are: a score for each task, and the same whatever the task is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .data import Array, Data

Outputs = Sequence[Array]
"""One array an output, samples first."""


def sqnr(wanted: Outputs, found: Outputs) -> float:
    """Of the output that suffers most, in dB."""
    return min(_sqnr(w.astype(np.float64), f.reshape(w.shape)) for w, f in zip(wanted, found, strict=True))


def _sqnr(wanted: Array, found: Array) -> float:
    return float(10 * np.log10((wanted**2).sum() / max(float(((wanted - found) ** 2).sum()), 1e-30)))


def changed(wanted: Outputs, found: Outputs) -> float:
    """Percent of samples whose greatest number is another one."""
    first, second = (o[0].reshape(len(o[0]), -1).argmax(axis=1) for o in (wanted, found))
    return 100 * float((first != second).mean())


def top1(outputs: Outputs, labels: Array) -> float:
    """Percent right."""
    return 100 * float((outputs[0].reshape(len(labels), -1).argmax(axis=1) == labels).mean())


def psnr(outputs: Outputs, originals: Sequence[Array]) -> float:
    """Of enlarged images in dB, averaged over them."""
    made = (
        np.clip(np.rint(image * 255), 0, 255).reshape(y.shape) for image, y in zip(outputs[0], originals, strict=True)
    )
    errors = [np.mean((m - y.astype(np.float64)) ** 2) for m, y in zip(made, originals, strict=True)]
    return float(np.mean([10 * np.log10(255**2 / e) for e in errors]))


def rank_correlation(outputs: Outputs, known: tuple[Array, Outputs]) -> float:
    """Of the errors of reconstruction, with those of the float network; `known` are its inputs and its outputs."""
    inputs, wanted = known
    scores = [((inputs - o[0].reshape(inputs.shape)) ** 2).mean(axis=1) for o in (wanted, outputs)]
    ranks = [np.argsort(np.argsort(s)) for s in scores]
    return float(np.corrcoef(*ranks)[0, 1])


def mask_overlap(outputs: Outputs, wanted: Outputs) -> float:
    """Intersection over union of the foreground with the float network's, over images that have 1 % of it."""
    a, b = (o[0][:, 1] > o[0][:, 0] for o in (wanted, outputs))
    present = a.mean(axis=(1, 2)) > 0.01
    both, either = (a & b).sum(axis=(1, 2))[present], (a | b).sum(axis=(1, 2))[present]
    return float((both / np.maximum(either, 1)).mean())


def overlap(box: Array, boxes: Array) -> Array:
    """Intersection over union of one box with others, each x0, y0, x1, y1."""
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    both = np.clip(high - low, 0, None).prod(axis=1)
    return both / np.maximum((box[2:] - box[:2]).prod() + (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) - both, 1e-9)


def suppressed(boxes: Array, scores: Array, limit: float = 0.45) -> list[int]:
    """Boxes that none of a higher score overlaps by more than `limit`, best first."""
    order, kept = np.argsort(-scores), []
    while len(order):
        best, order = int(order[0]), order[1:]
        kept.append(best)
        order = order[overlap(boxes[best], boxes[order]) <= limit]
    return kept


def face_match(outputs: Outputs, wanted: Outputs) -> float:
    """Faces found by both networks, twice, over those found by either: 1 when all are the same."""
    first, second = _faces(wanted), _faces(outputs)
    pairs = sum(_met(a, b) for a, b in zip(first, second, strict=True))
    return 2 * pairs / max(sum(map(len, first)) + sum(map(len, second)), 1)


def _met(faces: Array, others: Array) -> int:
    return sum(bool(len(others)) and float(overlap(face, others).max()) > 0.5 for face in faces)


def _faces(outputs: Outputs, least: float = 0.6) -> list[Array]:
    """Boxes of faces per image: outputs are classes, objects and boxes, each at strides 8, 16 and 32."""
    found = []
    for image in range(len(outputs[0])):
        boxes, scores = [], []
        for place, stride in enumerate((8, 16, 32)):
            share, thing = (np.clip(outputs[place + k][image].reshape(-1), 0, 1) for k in (0, 3))
            box = outputs[place + 6][image].reshape(-1, 4)
            row, column = np.divmod(np.arange(len(share)), 320 // stride)
            middle = (np.stack([column, row], axis=1) + box[:, :2]) * stride
            half = np.exp(box[:, 2:]) * stride / 2
            score = np.sqrt(share * thing)
            boxes.append(np.concatenate([middle - half, middle + half], axis=1)[score > least])
            scores.append(score[score > least])
        all_boxes, all_scores = np.concatenate(boxes), np.concatenate(scores)
        found.append(all_boxes[suppressed(all_boxes, all_scores)])
    return found


def average_precision(outputs: Outputs, data: Data) -> float:
    """AP at an overlap of 0.5, the boxes of all classes pooled; FastestDet's one map of 22 by 22."""
    truth = data.file("coco_detect48")
    found, wanted = [], []
    for image, photo in enumerate(data.photos("coco_detect48")):
        here = (truth["box_image"] == image) & (truth["box_iscrowd"] == 0)
        wanted.append((truth["box"][here], truth["box_class"][here], np.zeros(int(here.sum()), bool)))
        found += [(s, image, c, box) for s, c, box in _things(outputs[0][image].astype(np.float64), photo.shape)]
    hits = np.array([_hit(wanted[image], c, box) for _, image, c, box in sorted(found, key=lambda f: -f[0])])
    right = np.cumsum(hits)
    recall = right / sum(len(w[0]) for w in wanted)
    precision = np.maximum.accumulate((right / np.arange(1, len(hits) + 1))[::-1])[::-1]
    return float((np.diff(recall, prepend=0) * precision).sum())


def _things(maps: Array, shape: tuple[int, ...]) -> list[tuple[float, int, Array]]:
    """Score, class and box of what is seen in one image."""
    rows, columns = np.mgrid[0:22, 0:22]
    middle = np.stack([columns + np.tanh(maps[1]), rows + np.tanh(maps[2])], axis=-1) / 22
    half = 1 / (1 + np.exp(-maps[3:5].transpose(1, 2, 0))) / 2
    size = np.array([shape[1], shape[0]] * 2)
    boxes = np.concatenate([middle - half, middle + half], axis=-1) * size
    scores = np.clip(maps[0], 0, None) ** 0.6 * np.clip(maps[5:].max(axis=0), 0, None) ** 0.4
    classes = maps[5:].argmax(axis=0)
    made = []
    for kind in np.unique(classes[scores > 0.01]):
        here = (scores > 0.01) & (classes == kind)
        made += [(float(scores[here][i]), int(kind), boxes[here][i]) for i in suppressed(boxes[here], scores[here])]
    return made


def _hit(wanted: tuple[Array, Array, Array], kind: int, box: Array) -> int:
    """Whether a box is one that nobody has found yet."""
    boxes, classes, taken = wanted
    left = np.flatnonzero((classes == kind) & ~taken)
    if not len(left):
        return 0
    overlaps = overlap(box, boxes[left])
    best = int(overlaps.argmax())
    taken[left[best]] = overlaps[best] >= 0.5
    return int(overlaps[best] >= 0.5)
