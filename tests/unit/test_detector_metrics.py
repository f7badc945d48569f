"""Average precision of boxes: equal to COCO's evaluator fed by its own reader, and refusals of what is no box."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import codegen
from codegen.errors import CompileError
from codegen.ir.quant import Array
from codegen.metrics import Seen, find_metric
from codegen.preprocess import Placing, parse_preprocess
from tests.e2e.projects import DIGITS
from tests.support.tools import require_module

Arrays = dict[str, Array]


def drawn(seed: int, pictures: int = 6) -> tuple[Arrays, list[Arrays]]:
    """What is in some pictures, and what was found: near it, with other labels, and elsewhere."""
    rng = np.random.default_rng(seed)
    count = 30
    corner, size = rng.random((count, 2)) * 200, rng.random((count, 2)) * 90 + 4
    box = np.concatenate([corner, corner + size], axis=1).astype(np.float32)
    label, image = rng.integers(0, 3, count), np.sort(rng.integers(0, pictures, count))
    crowd = (rng.random(count) < 0.15).astype(np.int32)
    found = []
    for i in range(pictures):
        near = box[image == i] + rng.normal(0, 4, (int((image == i).sum()), 4)).astype(np.float32)
        other = box[rng.integers(0, count, 4)]
        boxes, labels = np.concatenate([near, other]), np.concatenate([label[image == i], rng.integers(0, 3, 4)])
        score = np.sort(rng.random(len(boxes)).astype(np.float32))[::-1]
        place = rng.permutation(len(boxes))
        found.append({"box": boxes[place], "score": score, "label": labels[place].astype(np.int32)})
    arrays = {
        "box": box,
        "box_class": label,
        "box_image": image,
        "box_iscrowd": crowd,
        "offset": np.zeros(pictures + 1),
    }
    return arrays, found


def total(name: str, arrays: Mapping[str, Array], found: list[Arrays]) -> float:
    metric = find_metric(name)
    truths = metric.truths(arrays, "the arrays")
    return metric.total([metric.judge(Seen({}, f), t) for f, t in zip(found, truths, strict=True)]).value


def by_coco(arrays: Arrays, found: list[Arrays], folder: Path) -> list[float]:
    """As COCO's tools read files of annotations and of results."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def spelled(box: Array) -> list[float]:
        x, y, right, low = map(float, box)
        return [x, y, right - x, low - y]

    columns = zip(arrays["box"], arrays["box_class"], arrays["box_image"], arrays["box_iscrowd"], strict=True)
    truths: list[dict[str, Any]] = []
    for box, label, image, crowd in columns:
        sizes = spelled(box)
        truths.append({"id": len(truths) + 1, "image_id": int(image), "category_id": int(label), "iscrowd": int(crowd)})
        truths[-1] |= {"bbox": sizes, "area": sizes[2] * sizes[3]}
    there = {"images": [{"id": i} for i in range(len(found))], "categories": [{"id": i} for i in range(3)]}
    (folder / "truth.json").write_text(json.dumps({**there, "annotations": truths, "info": {}}))
    made = [
        {"image_id": i, "category_id": int(f["label"][k]), "score": float(f["score"][k]), "bbox": spelled(f["box"][k])}
        for i, f in enumerate(found)
        for k in range(len(f["score"]))
    ]
    (folder / "found.json").write_text(json.dumps(made))
    truth = COCO(str(folder / "truth.json"))
    judged = COCOeval(truth, truth.loadRes(str(folder / "found.json")), "bbox")
    judged.evaluate()
    judged.accumulate()
    judged.summarize()
    return [float(n) for n in judged.stats]


@pytest.mark.parametrize("seed", range(4))
def test_average_precision_is_that_of_cocos_files(seed: int, tmp_path: Path) -> None:
    require_module("pycocotools")
    arrays, found = drawn(seed)
    wanted = by_coco(arrays, found, tmp_path)
    assert total("map", arrays, found) == pytest.approx(wanted[0])
    assert total("map50", arrays, found) == pytest.approx(wanted[1])


@pytest.mark.parametrize("seed", range(4))
def test_pooled_boxes_make_one_curve(seed: int) -> None:
    """The area under precision over recall, by a plain loop; the evaluator reads it at 101 places."""
    require_module("pycocotools")
    arrays, found = drawn(seed)
    arrays["box_iscrowd"] = np.zeros(len(arrays["box"]), np.int32)
    assert total("ap50", arrays, found) == pytest.approx(pooled_area(arrays, found), abs=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_the_area_of_pooled_boxes_is_that_of_a_plain_loop(seed: int) -> None:
    """Crowds are not there."""
    arrays, found = drawn(seed)
    alone = arrays["box_iscrowd"] == 0
    there = {key: arrays[key][alone] for key in ("box", "box_class", "box_image")}
    assert 0 < total("pooled_ap50", arrays, found) < 1
    assert total("pooled_ap50", arrays, found) == pytest.approx(pooled_area(there, found), abs=1e-9)


def pooled_area(arrays: Mapping[str, Array], found: list[Arrays]) -> float:
    """AP at an overlap of 0.5, the boxes of all labels pooled."""
    order = sorted(((float(s), i, k) for i, f in enumerate(found) for k, s in enumerate(f["score"])), reverse=True)
    taken = np.zeros(len(arrays["box"]), bool)
    hits = []
    for _, i, k in order:
        here = (arrays["box_image"] == i) & (arrays["box_class"] == found[i]["label"][k]) & ~taken
        left = np.flatnonzero(here)
        overlaps = [iou(found[i]["box"][k], arrays["box"][j]) for j in left]
        best = int(np.argmax(overlaps)) if overlaps else -1
        hit = best >= 0 and overlaps[best] >= 0.5
        hits.append(hit)
        if hit:
            taken[left[best]] = True
    right = np.cumsum(hits)
    precision = np.maximum.accumulate((right / np.arange(1, len(hits) + 1))[::-1])[::-1]
    return float((np.diff(right / len(taken), prepend=0) * precision).sum())


def iou(a: Array, b: Array) -> float:
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    both = float(np.clip(high - low, 0, None).prod())
    return both / float((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - both)


def test_what_is_there_and_nothing_else_is_worth_everything() -> None:
    require_module("pycocotools")
    arrays, _ = drawn(1)
    arrays["box_iscrowd"] = np.zeros(len(arrays["box"]), np.int32)
    here = [arrays["box_image"] == i for i in range(6)]
    found = [{"box": arrays["box"][h], "label": arrays["box_class"][h], "score": np.ones(int(h.sum()))} for h in here]
    nothing = [{"box": np.zeros((0, 4)), "label": np.zeros(0, int), "score": np.zeros(0)} for _ in here]
    for name in ("map", "map50", "ap50", "pooled_ap50"):
        assert total(name, arrays, found) == pytest.approx(1)
        assert total(name, arrays, nothing) == 0
    empty = {k: a[:0] for k, a in arrays.items() if k != "offset"} | {"offset": arrays["offset"]}
    assert total("map", empty, found) == 0


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("box", np.zeros((30, 5), np.float32), "not the corners x, y, x, y"),
        ("box", np.zeros((30, 4), np.int32), "not the corners x, y, x, y"),
        ("box", np.full((30, 4), np.nan, np.float32), "not the corners x, y, x, y"),
        ("box_class", np.zeros(29, np.int32), "box_class is int32[29], not a number of each box"),
        ("box_class", np.full(30, -1), "not a number of each box"),
        ("box_image", np.zeros(30, np.float32), "not a number of each box"),
        ("box_image", np.full(30, 6), "box_image has 6, and there are 6 pictures"),
        ("box_iscrowd", np.zeros((30, 1), np.int32), "box_iscrowd is int32[30, 1]"),
    ],
)
def test_arrays_that_are_no_boxes_are_refused(key: str, value: Array, said: str) -> None:
    arrays, _ = drawn(0)
    with pytest.raises(CompileError) as caught:
        find_metric("map").truths({**arrays, key: value}, "the arrays")
    assert caught.value.code == "LAM-API-005"
    assert said in str(caught.value)


@pytest.mark.parametrize("text", [None, "[preprocess]\ndivide = 1\n", '[postprocess]\ndecode = "labels"\n'])
def test_a_metric_of_boxes_needs_the_table_of_a_detector(text: str | None, tmp_path: Path) -> None:
    config = None
    if text is not None:
        config = tmp_path / "m.toml"
        config.write_text(text)
    with np.load(DIGITS.with_name("digits_test.npz")) as data:
        x = data["x"][:6]
    arrays, _ = drawn(0)
    with pytest.raises(CompileError) as caught:
        codegen.evaluate(DIGITS, {**arrays, "x": x}, "map", "golden", config=config)
    assert caught.value.code == "LAM-POSTPROCESS-003"


def test_a_box_of_the_networks_picture_lies_in_the_datas() -> None:
    """Corners of what a resized picture, and what a camera's cropped frame amid padding, shows."""
    resized = parse_preprocess({"layout": "NHWC->NCHW", "resize": [10, 20]}, "m.toml")
    way = Placing(resized, {"x": np.zeros((2, 50, 40, 3), np.uint8)})
    assert way.boxes(np.array([[0, 0, 20, 10]], np.float32), 1).tolist() == [[0, 0, 40, 50]]
    table = {"format": "rgb888", "size": [60, 100], "crop": [10, 20, 40, 80], "resize": [64, 64], "keep_aspect": True}
    camera = parse_preprocess(table, "m.toml")
    frames = {"x": np.zeros((1, 60 * 100 * 3), np.uint8)}
    boxes = Placing(camera, frames).boxes(np.array([[0, 16, 64, 48]], np.float32), 0)
    assert np.allclose(boxes, [[20, 10, 100, 50]])
    finished = Placing(camera, {"x": np.zeros((1, 64, 64, 3), np.uint8)})
    assert finished.boxes(np.array([[1, 2, 3, 4]], np.float32), 0).tolist() == [[1, 2, 3, 4]]
