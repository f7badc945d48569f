"""What golden finds in outputs: against decoders and runtimes that are not ours, and what a table may not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.configuration import config_table
from codegen.errors import CompileError
from codegen.golden.interface import PortSpec
from codegen.ir.quant import Array, DType
from codegen.postprocess import Decoder, Found, parse_postprocess, post_program
from codegen.verbs.postprocess import table_program
from tests.e2e.projects import DIGITS
from tests.support.heads import HEADS, without_perm
from tests.support.tools import require_module

RNG = np.random.default_rng(4)


def floats(name: str, shape: tuple[int, ...]) -> PortSpec:
    return PortSpec(name, name, shape, DType.F32, None, shape, "float32", None)


def found(table: Mapping[str, Any], outputs: Mapping[str, Array], priors: Array | None = None) -> Found:
    """In float outputs of one inference."""
    ports = [floats(name, y.shape) for name, y in outputs.items()]
    program = post_program(parse_postprocess(table, "m.toml"), (), ports, priors)
    return Decoder(program, ports).run({name: y.astype(np.float32) for name, y in outputs.items()})


def selected_by_onnxruntime(all_boxes: Found, labels: int, overlap: float) -> set[tuple[int, int]]:
    """Label and index of what the operator NonMaxSuppression of ONNX Runtime selects."""
    from tests.support.onnx_files import by_onnxruntime

    count = len(all_boxes["score"])
    scores = np.full((1, labels, count), -1, np.float32)
    scores[0, all_boxes["label"], np.arange(count)] = all_boxes["score"]
    limits = np.array([count], np.int64), np.array([overlap], np.float32), np.array([0], np.float32)
    chosen = by_onnxruntime("NonMaxSuppression", all_boxes["box"][None], scores, *limits)
    return {(int(label), int(index)) for _, label, index in chosen}


@pytest.mark.parametrize(("first", "count"), [(0, 100), pytest.param(100, 500, marks=pytest.mark.slow)])
def test_boxes_that_stay_are_those_of_onnx_runtime(first: int, count: int) -> None:
    """Of each label by itself, and of all labels as if they were one."""
    require_module("onnx", "onnxruntime")
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        labels, boxes, overlap = 3, int(rng.integers(10, 60)), float(rng.choice([0.1, 0.3, 0.45, 0.7]))
        y = rng.random((1, boxes, 4 + labels)).astype(np.float32)
        y[..., :4] = np.round(y[..., :4] * 40) / 4
        y[..., 4:] = np.round(y[..., 4:] * 16) / 16 if seed % 2 else y[..., 4:]
        table = {"decode": "yolov8", "size": [32, 32], "boxes": "first", "least": 0}
        every = found({**table, "overlap": 1.0}, {"y": y})
        kept = found({**table, "overlap": overlap}, {"y": y})
        chosen = selected_by_onnxruntime(every, labels, overlap)
        order = [i for i in range(len(every["score"])) if (int(every["label"][i]), i) in chosen]
        assert np.array_equal(kept["box"], every["box"][order]), seed
        assert np.array_equal(kept["label"], every["label"][order]), seed
        one = found({**table, "overlap": overlap, "by_label": False}, {"y": y})
        alike = selected_by_onnxruntime({**every, "label": np.zeros_like(every["label"])}, 1, overlap)
        assert np.array_equal(one["box"], every["box"][sorted(i for _, i in alike)]), seed


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x.astype(np.float64)))


def softmax(x: Array) -> Array:
    grown = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=-1, keepdims=True))


def corners(middle: Array, size: Array) -> Array:
    return np.concatenate([middle - size / 2, middle + size / 2], axis=-1)


def check(made: Found, boxes: Array, scores: Array, labels: Array, least: float) -> None:
    """All boxes of a head, none suppressed, in the order of their scores."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > least]
    assert len(order) == len(made["score"])
    assert np.allclose(made["score"], scores[order], rtol=1e-5)
    assert np.array_equal(made["label"], labels[order])
    assert np.allclose(made["box"], boxes[order], rtol=1e-4, atol=1e-3)


EVERYTHING = {"overlap": 1.0, "most": 1000, "least": 0.2}


def test_yolov5_is_as_it_is_published() -> None:
    """Ultralytics' Detect: xy = (2 s - 0.5 + cell) * stride, wh = (2 s)^2 * anchor."""
    y = RNG.standard_normal((1, 3, 4, 6, 9)).astype(np.float32)
    anchors = np.array([[10, 13], [16, 30], [33, 23]], np.float64)
    s = sigmoid(y[0].transpose(1, 2, 0, 3))
    cell = np.stack(np.meshgrid(np.arange(6), np.arange(4)), axis=-1)[:, :, None]
    boxes = corners((s[..., :2] * 2 - 0.5 + cell) * 16, (s[..., 2:4] * 2) ** 2 * anchors).reshape(-1, 4)
    scores = (s[..., 4:5] * s[..., 5:]).reshape(-1, 4)
    table = {"decode": "yolov5", "size": [64, 96], "anchors": [[10, 13, 16, 30, 33, 23]], **EVERYTHING}
    for held in (y, y.transpose(0, 1, 4, 2, 3).reshape(1, 27, 4, 6)):
        check(found(table, {"y": held}), boxes, scores.max(axis=1), scores.argmax(axis=1), 0.2)


def test_yolov3_is_as_it_is_published() -> None:
    """Redmon and Farhadi 2018: b = sigmoid(t) + cell, size = anchor * e^t."""
    y = RNG.standard_normal((1, 2 * 7, 4, 4)).astype(np.float32)
    anchors = np.array([[10, 14], [81, 82]], np.float64)
    x = y[0].reshape(2, 7, 4, 4).transpose(2, 3, 0, 1).astype(np.float64)
    cell = np.stack(np.meshgrid(np.arange(4), np.arange(4)), axis=-1)[:, :, None]
    boxes = corners((sigmoid(x[..., :2]) + cell) * 32, np.exp(x[..., 2:4]) * anchors).reshape(-1, 4)
    scores = (sigmoid(x[..., 4:5]) * sigmoid(x[..., 5:])).reshape(-1, 2)
    table = {"decode": "yolov3", "size": [128, 128], "anchors": [[10, 14, 81, 82]], **EVERYTHING}
    check(found(table, {"y": y}), boxes, scores.max(axis=1), scores.argmax(axis=1), 0.2)


@pytest.mark.parametrize("apart", [True, False])
def test_yolov8_is_as_it_is_published(apart: bool) -> None:
    """Distribution focal loss: each side is the mean of 16 bins; sides are told from the cell's middle."""
    levels = [RNG.standard_normal((1, 64 + 3, n, n)).astype(np.float32) * 2 for n in (4, 2)]
    boxes, scores = [], []
    for y, n in zip(levels, (4, 2), strict=True):
        x = y[0].reshape(67, -1).T
        sides = softmax(x[:, :64].reshape(-1, 4, 16)) @ np.arange(16)
        middle = np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).reshape(-1, 2) + 0.5
        boxes.append(np.concatenate([middle - sides[:, :2], middle + sides[:, 2:]], axis=1) * (64 // n))
        scores.append(sigmoid(x[:, 64:]))
    every, share = np.concatenate(boxes), np.concatenate(scores)
    parts = [p for y in levels for p in ((y[:, :64], y[:, 64:]) if apart else (y,))]
    outputs = {f"y{i}": y for i, y in enumerate(parts)}
    made = found({"decode": "yolov8", "size": [64, 64], **EVERYTHING}, outputs)
    check(made, every, share.max(axis=1), share.argmax(axis=1), 0.2)


@pytest.mark.parametrize(
    ("decode", "side", "shape", "boxes"),
    [
        ("yolov8", 32, (1, 84, 21), "last"),
        ("yolov8", 64, (1, 84, 84), "last"),
        ("yolov8", 64, (1, 84, 84), "first"),
        ("yolov8", 64, (1, 84, 7), None),
        ("yolov8", 32, (1, 84, 4), "last"),
        ("yolov8", 32, (1, 8, 16), "last"),
        ("yolov5", 32, (1, 63, 85), None),
        ("yolov5", 32, (1, 85, 63), "last"),
        ("yolov5", 32, (1, 21, 85), None),
    ],
)
@pytest.mark.parametrize("told", [True, False])
def test_boxes_lie_along_the_axis_that_has_as_many_as_the_picture_has_cells(
    decode: str, side: int, shape: tuple[int, ...], boxes: str | None, told: bool
) -> None:
    """Cells of strides 8, 16 and 32, of YOLOv5 three boxes each or one; not the longer axis."""
    y = RNG.random(shape).astype(np.float32)
    table = {"decode": decode, "size": [side, side], **EVERYTHING}
    if told or shape in ((1, 84, 84), (1, 8, 16)):
        table["boxes"] = boxes or "first"
    rows = (y[0].T if boxes == "last" else y[0]).astype(np.float64)
    known = 5 if decode == "yolov5" else 4
    scores = rows[:, known:] * (rows[:, 4:5] if known == 5 else 1)
    made = found(table, {"y": y})
    check(made, corners(rows[:, :2], rows[:, 2:4]), scores.max(axis=1), scores.argmax(axis=1), 0.2)


@pytest.mark.parametrize("turned", [False, True])
def test_cells_in_one_axis_are_those_of_the_objects(turned: bool) -> None:
    """YuNet of a picture of few cells, 4 and 1, which have more numbers than there are cells."""
    shapes = [(1, cells, numbers) for numbers in (1, 1, 4, 10) for cells in (4, 1)]
    outputs = {f"y{i}": RNG.random(shape).astype(np.float32) for i, shape in enumerate(shapes)}
    held = {name: y.transpose(0, 2, 1) if turned else y for name, y in outputs.items()}
    table = {"decode": "yunet", "size": [32, 32], "boxes": "last" if turned else "first", **EVERYTHING}
    made = found(table, held)
    share, thing, box = (
        np.concatenate([outputs[f"y{k + i}"][0] for i in (0, 1)]).astype(np.float64) for k in (0, 2, 4)
    )
    cell = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0, 0]])
    step = np.array([[16]] * 4 + [[32]])
    boxes = corners((box[:, :2] + cell) * step, np.exp(box[:, 2:]) * step)
    check(made, boxes, np.sqrt(share * thing)[:, 0], np.zeros(5, int), 0.2)


@pytest.mark.parametrize(
    ("decode", "side", "shapes", "said"),
    [
        ("yolov8", 64, [(1, 84, 84)], "84 of 84 or 84 of 84"),
        ("yolov8", 32, [(1, 8, 16)], "8 of 16 or 16 of 8"),
        ("yolov8", 64, [(1, 300, 6)], "300 of 6 or 6 of 300"),
        ("yolov5", 32, [(1, 63, 21)], "63 of 21 or 21 of 63"),
        ("yolov8", 64, [(1, 64, 64), (1, 2, 64)], "y0 [1, 64, 64] may be"),
        ("fastestdet", 64, [(1, 16, 16)], "16 of 16 or 16 of 16"),
        ("fastestdet", 64, [(1, 8, 8, 8)], "64 of 8 or 64 of 8"),
        ("yunet", 32, [(1, 4, 1), (1, 4, 1), (1, 4, 4)], "4 of 4 or 4 of 4"),
        ("ssd", 32, [(1, 4, 4), (1, 4, 3)], "y0 [1, 4, 4] may be"),
    ],
)
def test_outputs_that_may_be_read_in_two_ways_are_refused(
    decode: str, side: int, shapes: list[tuple[int, ...]], said: str
) -> None:
    """And taken with the key that the refusal names."""
    table = {"decode": decode, "size": [side, side], "least": 0}
    outputs = {f"y{i}": RNG.random(shape).astype(np.float32) for i, shape in enumerate(shapes)}
    priors = np.ones((4, 4))
    with pytest.raises(CompileError) as caught:
        found(table, outputs, priors)
    assert caught.value.code == "LAM-POSTPROCESS-002"
    assert said in str(caught.value), str(caught.value)
    assert 'say boxes = "first" or "last"' in str(caught.value)
    end = "last" if decode == "yolov8" else "first"
    assert len(found({**table, "boxes": end}, outputs, priors)["score"]) > 0


def test_no_more_is_found_than_is_looked_at() -> None:
    ports = [floats("y", (1, 7, 4, 4))]
    program = post_program(parse_postprocess({**FASTESTDET, "most": 9, "candidates": 3}, "m.toml"), (), ports)
    assert program.most == 3


@pytest.mark.parametrize("order", ["xywh", "yxhw"])
def test_ssd_is_as_it_is_published(order: str) -> None:
    """Liu 2016: middles move by parts of the prior's size, sizes by powers of e; label 0 is the background."""
    y, x = RNG.standard_normal((1, 30, 4)).astype(np.float32), RNG.standard_normal((1, 30, 4)).astype(np.float32)
    priors = RNG.random((30, 4)) * 50
    boxes = corners(priors[:, :2] + y[0, :, :2] / 10 * priors[:, 2:], priors[:, 2:] * np.exp(y[0, :, 2:] / 5))
    share = softmax(x[0])[:, 1:]
    turned = [0, 1, 2, 3] if order == "xywh" else [1, 0, 3, 2]
    table = {"decode": "ssd", "size": [50, 50], "priors": "p.npz", "order": order, **EVERYTHING}
    made = found(table, {"boxes": y[..., turned], "labels": x}, priors[:, turned])
    check(made, boxes, share.max(axis=1), share.argmax(axis=1), 0.2)


def test_labels_are_ranked_by_softmax_with_a_temperature() -> None:
    y = RNG.standard_normal((1, 12)).astype(np.float32)
    share = softmax(y[0] / 0.5)
    made = found({"decode": "labels", "activation": "softmax", "temperature": 0.5, "most": 4, "least": 0}, {"y": y})
    assert np.array_equal(made["label"], np.argsort(-share)[:4])
    assert np.allclose(made["score"], np.sort(share)[::-1][:4], rtol=1e-5)


def test_sigmoid_thresholds_find_several_labels_or_none() -> None:
    y = np.array([[-2, 3, 0.1, -0.1]], np.float32)
    table = {"decode": "labels", "activation": "sigmoid", "least": 0.5}
    assert found(table, {"y": y})["label"].tolist() == [1, 2]
    assert found({**table, "least": 0.99}, {"y": y})["label"].tolist() == []


def test_a_wake_word_is_heard_over_a_window_and_then_not_for_a_while() -> None:
    """Means of three runs: 0.9 once is not enough; after a word, two runs find nothing."""
    table = {"decode": "wake_words", "window": 3, "warm": 2, "hold": 2, "watch": [1], "least": 0.6}
    port = floats("y", (1, 2))
    decoder = Decoder(post_program(parse_postprocess(table, "m.toml"), (), [port]), [port])

    def heard(*scores: float) -> list[list[int]]:
        return [decoder.run({"y": np.array([[1, s]], np.float32)})["label"].tolist() for s in scores]

    assert heard(0.9, 0.1, 0.2, 0.8, 0.9, 0.9, 0.9, 0.9) == [[], [], [], [], [1], [], [], [1]]
    decoder.reset()
    assert heard(0.9, 0.9) == [[], [1]]


def test_a_transcript_has_no_repetitions_and_no_blanks() -> None:
    """a a - a b b - by Graves 2006: a, a, b."""
    steps = np.array([1, 1, 0, 1, 2, 2, 0])
    made = found({"decode": "ctc", "blank": 0}, {"y": np.eye(3, dtype=np.float32)[steps][None]})
    assert made["label"].tolist() == [1, 1, 2]
    assert made["step"].tolist() == [0, 3, 4]


@pytest.mark.parametrize("kind", ["fastestdet", "yolov3", "yolov8"])
def test_the_order_of_axes_that_the_network_holds_changes_nothing(kind: str) -> None:
    for seed in range(6):
        case = HEADS[kind]("h", np.random.default_rng(seed))
        case = replace(case, ports=tuple(replace(p, dtype=DType.F32, quant=None) for p in case.ports))
        outputs = {p.name: RNG.standard_normal(p.model_shape).astype(np.float32) for p in case.ports}
        plain = without_perm(case)
        first, second = Decoder(case.program, case.ports).run(outputs), plain.decoder().run(outputs)
        held = Decoder(case.program, case.ports).run_raw({p.value: p.to_network(outputs[p.name]) for p in case.ports})
        for name in first:
            assert np.array_equal(first[name], second[name])
            assert np.array_equal(first[name], held[name])


FASTESTDET = {"decode": "fastestdet", "size": [64, 64]}
OUTPUT = {"y": np.zeros((1, 7, 4, 4), np.float32)}


@pytest.mark.parametrize(
    ("table", "code", "said"),
    [
        ({}, "LAM-POSTPROCESS-001", "is missing; it is one of fastestdet, yunet"),
        ({"decode": "fastestdat"}, "LAM-POSTPROCESS-001", "did you mean fastestdet?"),
        ({"decode": "fastestdet", "anchors": [[1, 2]]}, "LAM-PREPROCESS-002", "postprocess.anchors"),
        ({**FASTESTDET, "overlap": 1.5}, "LAM-POSTPROCESS-001", "is not within 0 .. 1"),
        ({**FASTESTDET, "most": 0}, "LAM-POSTPROCESS-001", "no whole number from 1"),
        ({**FASTESTDET, "most": 1 << 40}, "LAM-POSTPROCESS-001", "no whole number from 1"),
        ({**FASTESTDET, "least": "0.5"}, "LAM-POSTPROCESS-001", "is no number"),
        ({**FASTESTDET, "least": float("nan")}, "LAM-POSTPROCESS-001", "is no number"),
        ({**FASTESTDET, "size": [64]}, "LAM-POSTPROCESS-001", "is not [height, width]"),
        ({**FASTESTDET, "by_label": "yes"}, "LAM-POSTPROCESS-001", "neither true nor false"),
        ({**FASTESTDET, "outputs": ["y", "y"]}, "LAM-POSTPROCESS-001", "each once"),
        ({**FASTESTDET, "outputs": ["z"]}, "LAM-POSTPROCESS-002", "no output 'z'; it has y"),
        ({"decode": "fastestdet"}, "LAM-POSTPROCESS-002", "say size = [height, width]"),
        ({**FASTESTDET, "size": [100, 64]}, "LAM-POSTPROCESS-002", "is not a grid of a picture of 100 x 64"),
        ({"decode": "yunet", "size": [64, 64]}, "LAM-POSTPROCESS-002", "labels, objects, boxes and points"),
        ({"decode": "yolov5", "anchors": [[1, 2, 3]]}, "LAM-POSTPROCESS-001", "widths and heights"),
        ({"decode": "yolov5", "anchors": [[1, 0]]}, "LAM-POSTPROCESS-001", "no size above zero"),
        ({"decode": "yolov3", "size": [64, 64]}, "LAM-POSTPROCESS-002", "1 outputs, and anchors of 0"),
        ({"decode": "yolov8", "size": [64, 64]}, "LAM-POSTPROCESS-002", "not [1, boxes, numbers]"),
        ({"decode": "ssd", "size": [64, 64]}, "LAM-POSTPROCESS-002", 'no priors: say priors = "FILE.npz"'),
        ({**FASTESTDET, "boxes": "frist"}, "LAM-POSTPROCESS-001", "did you mean first?"),
        ({"decode": "labels", "boxes": "first"}, "LAM-PREPROCESS-002", "postprocess.boxes"),
        ({**FASTESTDET, "least": 1}, "LAM-POSTPROCESS-001", "1.0 is not below 1"),
        ({**FASTESTDET, "least": 0.999999999}, "LAM-POSTPROCESS-001", "is not below 1"),
        ({"decode": "labels", "temperature": 1e-7}, "LAM-POSTPROCESS-001", "1e-07 is not 1e-06 or above"),
        ({"decode": "wake_words", "window": 65536}, "LAM-POSTPROCESS-001", "no whole number from 1 to 65535"),
        ({"decode": "ssd", "size": [64, 64], "priors": ""}, "LAM-POSTPROCESS-001", "no name of a file"),
        ({"decode": "labels"}, "LAM-POSTPROCESS-002", "along more than one axis"),
        ({"decode": "labels", "temperature": 0}, "LAM-POSTPROCESS-001", "0.0 is not 1e-06 or above"),
        ({"decode": "labels", "activation": "softmx"}, "LAM-POSTPROCESS-001", "did you mean softmax?"),
        ({"decode": "wake_words", "watch": [-1]}, "LAM-POSTPROCESS-001", "numbers of labels"),
        ({"decode": "ctc"}, "LAM-POSTPROCESS-002", "not one output of [1, steps, labels]"),
    ],
)
def test_a_wrong_table_is_refused(table: dict[str, Any], code: str, said: str) -> None:
    with pytest.raises(CompileError) as caught:
        found(table, OUTPUT)
    assert (caught.value.code, said in str(caught.value)) == (code, True), str(caught.value)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"decode": "wake_words", "watch": [7]}, "label 7 is watched, and there are 4"),
        ({"decode": "wake_words", "window": 2, "warm": 3}, "more than window = 2"),
        ({"decode": "ctc", "blank": 4}, "not one output"),
        ({"decode": "ssd", "priors": "p.npz"}, "no priors"),
    ],
)
def test_a_table_that_does_not_fit_its_labels_is_refused(table: dict[str, Any], said: str) -> None:
    with pytest.raises(CompileError) as caught:
        found(table, {"y": np.zeros((1, 4), np.float32)})
    assert caught.value.code == "LAM-POSTPROCESS-002"
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("postprocess = 3", "LAM-PREPROCESS-003"),
        ("[postproces]\ndecode = 'ctc'", "LAM-PREPROCESS-002"),
        ("[postprocess", "LAM-PREPROCESS-001"),
    ],
)
def test_a_wrong_file_is_refused(text: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(CompileError) as caught:
        config_table(tmp_path / "m.toml", "postprocess")
    assert caught.value.code == code
    assert ("lamina help postprocess" in str(caught.value)) == (text == "postprocess = 3")


@pytest.mark.parametrize("activation", ["softmax", "sigmoid", "clip", "none"])
def test_no_share_is_above_1(activation: str) -> None:
    """Other numbers may be."""
    table = {"decode": "labels", "activation": activation, "least": 1}
    if activation == "none":
        assert found(table, {"y": np.array([[0, 3]])})["label"].tolist() == [1]
        return
    with pytest.raises(CompileError, match="LAM-POSTPROCESS-001"):
        found(table, {"y": np.array([[0, 3]])})


@pytest.mark.parametrize(
    "priors",
    [
        np.full((7, 4), 1e39),
        np.full((7, 4), np.nan),
        np.tile([5.0, 5, 0, 5], (7, 1)),
        np.tile([5.0, 5, 5, -1], (7, 1)),
        np.tile([5.0, 5, 5, 1e-60], (7, 1)),
    ],
)
def test_priors_that_are_no_boxes_of_float32_are_refused(priors: Array) -> None:
    outputs = {"boxes": np.zeros((1, 7, 4)), "labels": np.zeros((1, 7, 3))}
    with pytest.raises(CompileError) as caught:
        found({"decode": "ssd", "size": [50, 50], "priors": "p.npz"}, outputs, priors)
    assert caught.value.code == "LAM-POSTPROCESS-001"
    assert "not middle and size of each box, of float32" in str(caught.value)


def test_what_a_table_says_ends_no_comment() -> None:
    name = '*/ ??/ int x; "\\\n'
    found = parse_postprocess({"decode": "ctc", "outputs": [name], "blank": 1}, "m.toml")
    assert found.said == ('decode = "ctc"', 'outputs = ["? ? int x? ?"]', "blank = 1")


@pytest.mark.parametrize("priors", [None, np.zeros(4, np.float32), np.zeros((2, 4), np.int32)])
def test_priors_that_are_none_are_refused(priors: Array | None, tmp_path: Path) -> None:
    from codegen.options import Options
    from codegen.pipeline import compile_file

    (tmp_path / "m.toml").write_text('[postprocess]\ndecode = "ssd"\npriors = "p.npz"\n')
    if priors is not None:
        np.savez(tmp_path / "p.npz", priors=priors)
    with pytest.raises(CompileError) as caught:
        table_program(tmp_path / "m.toml", compile_file(DIGITS, Options(vectors=0)).graph)
    assert caught.value.code in ("LAM-API-003", "LAM-POSTPROCESS-001")
