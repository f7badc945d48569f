"""The metrics of detectors: average precision of boxes, as COCO's own evaluator computes it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from codegen.errors import ExtraMissing
from codegen.ir.quant import Array
from codegen.metrics.metric import Score, Seen, unfit
from codegen.records import record

_BOX, _MOST = 4, 100
_WHOLE, _HALF = 0, 1
"""Of COCO's twelve numbers: the mean over overlaps from 0.5 to 0.95, and at 0.5."""


@record(eq=False)
class Truth:
    """What is in one picture: corners in its pixels, labels, and which boxes are of crowds."""

    box: Array
    label: Array
    crowd: Array


@record
class AveragePrecision:
    """COCO's average precision, the mean over labels; of what the `[postprocess]` table finds, in the data's pixels.

    `number` is which of COCO's twelve; `pooled`: the boxes of all labels make one curve, and are matched by label.
    """

    number: int = _WHOLE
    pooled: bool = False
    keys: tuple[str, ...] = ("box", "box_class", "box_image", "box_iscrowd", "offset", "x")
    real: bool = True

    def truths(self, arrays: Mapping[str, Array], where: str) -> Sequence[Truth]:
        """The boxes of each picture; LAM-API-005 for arrays that are none."""
        box, label, image = (arrays.get(key, np.empty(0)) for key in self.keys[:3])
        crowd = arrays.get("box_iscrowd", np.zeros(len(box), np.int32))
        if box.ndim != 2 or box.shape[1] != _BOX or box.dtype.kind != "f" or not np.isfinite(box).all():
            found = f"box is {box.dtype}{list(box.shape)}, not the corners x, y, x, y of each box"
            raise unfit(found, where=where)
        for name, array in (("box_class", label), ("box_image", image), ("box_iscrowd", crowd)):
            if array.shape != (len(box),) or array.dtype.kind not in "iub" or (len(box) and array.min() < 0):
                raise unfit(f"{name} is {array.dtype}{list(array.shape)}, not a number of each box", where=where)
        count = _pictures(arrays, image)
        if len(image) and image.max() >= count:
            raise unfit(f"box_image has {image.max()}, and there are {count} pictures", where=where)
        return [Truth(box[image == i], label[image == i], crowd[image == i]) for i in range(count)]

    def judge(self, seen: Seen, truth: Truth) -> tuple[dict[str, Array], Truth]:
        """What was found in one picture, and what is there."""
        return {name: seen.outputs[name] for name in ("box", "score", "label")}, truth

    def total(self, verdicts: Sequence[tuple[dict[str, Array], Truth]]) -> Score:
        """The evaluator's number; 0 where nothing is there to be found."""
        images, truths, found = _records(verdicts, self.pooled)
        if not any(not t["iscrowd"] for t in truths):
            return Score(0.0)
        return Score(max(_evaluated(images, truths, found)[self.number], 0.0))


def _pictures(arrays: Mapping[str, Array], image: Array) -> int:
    """How many there are."""
    if "offset" in arrays:
        return len(arrays["offset"]) - 1
    if "x" in arrays:
        return len(arrays["x"])
    return int(image.max()) + 1 if len(image) else 0


Records = list[dict[str, Any]]


def _records(verdicts: Sequence[tuple[dict[str, Array], Truth]], pooled: bool) -> tuple[Records, Records, Records]:
    """Pictures, what is there and what was found, as the evaluator takes them: from 1 on, boxes as x, y, width, height.

    Pooled, each label of a picture is a picture of its own, and there is one label.
    """
    images: Records = []
    truths: Records = []
    found: Records = []
    for made, truth in verdicts:
        for label in _labels(made, truth, pooled):
            images.append({"id": len(images) + 1})
            place = {"image_id": len(images)}
            truths += [
                {**place, **_box(truth.box[i]), "id": len(truths) + 1 + n, "iscrowd": int(truth.crowd[i])}
                | {"category_id": _category(int(truth.label[i]), pooled)}
                for n, i in enumerate(_of(truth.label, label))
            ]
            found += [
                {**place, **_box(made["box"][i]), "id": len(found) + 1 + n, "score": float(made["score"][i])}
                | {"category_id": _category(int(made["label"][i]), pooled)}
                for n, i in enumerate(_of(made["label"], label))
            ]
    return images, truths, found


def _labels(made: Mapping[str, Array], truth: Truth, pooled: bool) -> Sequence[int | None]:
    """Those of a picture that are apart; None for all at once."""
    return sorted({int(n) for n in (*truth.label, *made["label"])}) if pooled else [None]


def _of(labels: Array, label: int | None) -> Sequence[int]:
    return [int(i) for i in (range(len(labels)) if label is None else np.flatnonzero(labels == label))]


def _category(label: int, pooled: bool) -> int:
    return 1 if pooled else label + 1


def _box(corners: Array) -> dict[str, Any]:
    x, y, right, low = (float(v) for v in corners)
    return {"bbox": [x, y, right - x, low - y], "area": (right - x) * (low - y)}


def _evaluated(images: Records, truths: Records, found: Records) -> Sequence[float]:
    """COCO's twelve numbers."""
    try:
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval
    except ImportError as error:
        raise ExtraMissing("pycocotools", "coco", "it computes the average precision of boxes") from error
    categories = [{"id": n} for n in sorted({r["category_id"] for r in (*truths, *found)})]
    with contextlib.redirect_stdout(io.StringIO()):  # it prints as it goes
        sides = []
        for records in (truths, found):
            side = COCO()
            side.dataset = {"images": images, "annotations": records, "categories": categories}
            side.createIndex()
            sides.append(side)
        judged = COCOeval(*sides, iouType="bbox")
        judged.params.maxDets = [1, 10, _MOST]
        judged.evaluate()
        judged.accumulate()
        judged.summarize()
    return [float(n) for n in judged.stats]
