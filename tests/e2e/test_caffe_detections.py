"""DetectionOutput in C, inside a network, with parameters that OpenCV has not, and damaged.

test_caffe_layers.py compares random detectors with OpenCV.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from codegen.errors import CompileError
from codegen.frontends import import_model, real_bytes
from codegen.frontends.caffe.real import read_real
from codegen.frontends.onnx.real import read_real as read_onnx
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.passes import simplify
from codegen.real.engine import RealEngine
from tests.contract.test_kernels import make_project
from tests.e2e.test_caffe_layers import rows_found
from tests.support.caffe import drawn, given, layer, run_opencv, run_ours, written
from tests.support.caffe_cases import CASES
from tests.support.node_graphs import prefixed, side_by_side
from tests.support.onnx_files import onnx_model, port
from tests.support.sanitizers import TRAPS
from tests.support.tools import require_tool

STRICT = ["-O0", *TRAPS.split()]
BOXES = 6
SHAPES = {"loc": (1, BOXES * 4), "conf": (1, BOXES * 3), "prior": (1, 2, BOXES * 4)}


def detector(told: str, nms: str = "nms_threshold: 0.45", shapes: dict[str, tuple[int, ...]] | None = None) -> str:
    """A network of one detector, of three classes where nothing else is said."""
    text = f"detection_output_param {{ {told} nms_param {{ {nms} }} }}"
    return given(shapes or SHAPES) + layer("y", "DetectionOutput", "loc conf prior", text)


def feeds(seed: int = 0) -> dict[str, Array]:
    """Codes, scores, and prior boxes with variances."""
    rng = np.random.default_rng(seed)
    low, sizes = rng.random((BOXES, 2)) * 0.5, rng.random((BOXES, 2)) * 0.4 + 0.1
    prior = np.stack([np.concatenate([low, low + sizes], 1).reshape(-1), np.full(BOXES * 4, 0.1)])
    scores = (rng.permutation(BOXES * 3) + 1) / 20
    pairs = {"loc": drawn(rng, SHAPES["loc"], 1.0), "conf": scores[None], "prior": prior[None]}
    return {name: array.astype(np.float32) for name, array in pairs.items()}


def found(told: str, folder: Path, given_feeds: dict[str, Array] | None = None) -> Array:
    """The rows of a detector."""
    return run_ours(written(folder, detector(told)), given_feeds or feeds())["y"][0, 0]


def imported(path: Path) -> Graph:
    return import_model(path, mode="single", io_type="model", io_layout="model")


def check_c(cases: list[tuple[Path, dict[str, Array]]], folder: Path) -> list[list[Array]]:
    """Golden of networks, which C of all of them equals."""
    graphs = [imported(path) for path, _ in cases]
    simple = [prefixed(simplify(g), f"{i}/") for i, g in enumerate(graphs)]
    named = [{p.value: x[p.name] for p in g.inputs} for g, (_, x) in zip(graphs, cases, strict=True)]
    with Network(make_project(side_by_side(simple), folder, "c99"), compiler="gcc", flags=STRICT) as network:
        actual = network.run_raw({f"{i}/{name}": x for i, own in enumerate(named) for name, x in own.items()})
    golden = []
    for graph, single, own in zip(graphs, simple, named, strict=True):
        values = run_graph(graph, own)
        golden.append([values[o.value] for o in graph.outputs])
        assert all(np.array_equal(actual[o.value], y) for o, y in zip(single.outputs, golden[-1], strict=True))
    return golden


def test_c_finds_what_golden_finds(tmp_path: Path) -> None:
    require_tool("gcc")
    cases = []
    for seed in range(3):
        drawn_case = CASES["DetectionOutput"](np.random.default_rng(seed))
        cases.append((written(tmp_path, drawn_case.text, name=f"n{seed}"), drawn_case.feeds))
    for golden, (path, x) in zip(check_c(cases, tmp_path), cases, strict=True):
        np.testing.assert_allclose(golden[0], run_ours(path, x)["y"], rtol=1e-5, atol=1e-5)


def head(name: str, bottom: str, outputs: int) -> str:
    """A convolution whose channels come last, flat."""
    told = f"convolution_param {{ num_output: {outputs} kernel_size: 3 pad: 1 }}"
    turned = "permute_param { order: 0 order: 2 order: 3 order: 1 }"
    return (
        layer(name, "Convolution", bottom, told)
        + layer(f"{name}_perm", "Permute", name, turned)
        + layer(f"{name}_flat", "Flatten", f"{name}_perm")
    )


def ssd(rng: np.random.Generator) -> tuple[str, dict[str, list[Array]]]:
    """A small detector of three classes, with boxes of two maps, as SSD's deploy files have it."""
    text = given({"data": (1, 3, 16, 16)})
    text += layer("c1", "Convolution", "data", "convolution_param { num_output: 4 kernel_size: 3 stride: 4 }")
    text += layer("c2", "Convolution", "c1", "convolution_param { num_output: 4 kernel_size: 3 stride: 2 }")
    shapes = {"c1": (4, 3, 3, 3), "c2": (4, 4, 3, 3)}
    for name, size in (("c1", 5), ("c2", 9)):
        text += head(f"{name}_loc", name, 8) + head(f"{name}_conf", name, 6)
        shapes |= {f"{name}_loc": (8, 4, 3, 3), f"{name}_conf": (6, 4, 3, 3)}
        sizes = f"prior_box_param {{ min_size: {size} max_size: {size + 4} clip: false variance: 0.1 }}"
        text += layer(f"{name}_prior", "PriorBox", f"{name} data", sizes)
    text += layer("loc", "Concat", "c1_loc_flat c2_loc_flat") + layer("conf", "Concat", "c1_conf_flat c2_conf_flat")
    text += layer("prior", "Concat", "c1_prior c2_prior", "concat_param { axis: 2 }")
    text += layer("rows", "Reshape", "conf", "reshape_param { shape { dim: 0 dim: -1 dim: 3 } }")
    text += layer("soft", "Softmax", "rows", "softmax_param { axis: 2 }") + layer("flat", "Flatten", "soft")
    told = "num_classes: 3 share_location: true background_label_id: 0 code_type: CENTER_SIZE keep_top_k: 8"
    told += " variance_encoded_in_target: false confidence_threshold: 0.2"
    nms = "nms_param { nms_threshold: 0.45 top_k: 10 }"
    text += layer("found", "DetectionOutput", "loc flat prior", f"detection_output_param {{ {told} {nms} }}")
    return text, {name: [drawn(rng, s, 0.4), drawn(rng, s[:1])] for name, s in shapes.items()}


def test_a_detector_from_image_to_boxes(tmp_path: Path) -> None:
    require_tool("gcc")
    rng = np.random.default_rng(3)
    path = written(tmp_path, *ssd(rng))
    x = {"data": drawn(rng, (1, 3, 16, 16), 1.0)}
    ((golden,),) = check_c([(path, x)], tmp_path)
    ours, theirs = rows_found(golden, run_opencv(path, x, ["found"])["found"])
    assert len(ours) > 2
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_the_file_of_a_detector_is_read_as_the_detector(tmp_path: Path) -> None:
    """Its NonMaxSuppression is filled up, and cut where no row is missing: it may be counted and ordered."""
    for seed in range(6):
        case = CASES["DetectionOutput"](np.random.default_rng(seed))
        graph = read_real(written(tmp_path, case.text))
        (tmp_path / "m.onnx").write_bytes(real_bytes(graph))
        again = read_onnx(tmp_path / "m.onnx")
        x = {name: case.feeds[name] for name in graph.inputs}
        first, second = (RealEngine(g).run(dict(zip(g.inputs, x.values(), strict=True))) for g in (graph, again))
        assert all(map(np.array_equal, first.values(), second.values()))


@pytest.mark.parametrize("wrong", [{"value": 0}, {"before": 1}, {"count": 13}, {"mode": "edge"}, {"moved": 1}])
def test_rows_that_are_filled_otherwise_are_refused(wrong: dict[str, object], tmp_path: Path) -> None:
    told = {"value": -1, "before": 0, "count": 12, "mode": "constant", "moved": 0} | wrong
    known = {"most": np.array([6]), "limit": np.float32([0.5]), "moved": np.array([told["moved"]])}
    known |= {"pads": np.array([told["before"], 0, 12, 0]), "value": np.array(told["value"])}
    known |= {"first": np.array([0]), "last": np.array([told["count"]]), "one": np.array([1])}
    nodes = [
        helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "limit"], ["chosen"]),
        helper.make_node("Add", ["chosen", "moved"], ["sum"]),
        helper.make_node("Pad", ["sum" if told["moved"] else "chosen", "pads", "value"], ["p"], mode=told["mode"]),
        helper.make_node("Slice", ["p", "first", "last", "first"], ["rows"]),
        helper.make_node("TopK", ["rows", "one"], ["best", ""], axis=0),
    ]
    faces = {"boxes": (1, 6, 4), "scores": (1, 2, 6)}
    ins, outs = [port(n, s) for n, s in faces.items()], [port("best", None, TensorProto.INT64)]
    onnx.save(onnx_model(nodes, ins, outs, known, sets=18), tmp_path / "m.onnx")
    with pytest.raises(CompileError) as refused:
        read_onnx(tmp_path / "m.onnx")
    assert {problem.code for problem in refused.value.problems()} == {"LAM-IMPORT-057"}


def test_without_a_limit_there_are_rows_for_all(tmp_path: Path) -> None:
    rows, limited = found("num_classes: 3", tmp_path), found("num_classes: 3 keep_top_k: 100", tmp_path)
    assert (len(rows), len(limited)) == (2 * BOXES, 100)
    assert np.array_equal(limited[: len(rows)], rows)
    assert (limited[len(rows) :] == -1).all()


def test_without_a_background_every_class_is_looked_for(tmp_path: Path) -> None:
    rows = found("num_classes: 3 background_label_id: -1", tmp_path)
    assert set(rows[rows[:, 0] == 0, 1]) == {0, 1, 2}


def test_nothing_found_is_rows_of_less_than_nothing(tmp_path: Path) -> None:
    assert (found("num_classes: 3 confidence_threshold: 2 keep_top_k: 5", tmp_path) == -1).all()


def test_variances_in_codes_are_not_read(tmp_path: Path) -> None:
    told, x = "num_classes: 3 code_type: CENTER_SIZE", feeds()
    varied = {**x, "loc": x["loc"] * x["prior"][:, 1]}
    wanted = found(told, tmp_path)
    assert np.allclose(found(f"{told} variance_encoded_in_target: true", tmp_path, varied), wanted, atol=1e-6)


def test_corners_are_moved_by_parts_of_sizes(tmp_path: Path) -> None:
    """OpenCV has no CORNER_SIZE; of one class and box there is nothing to select."""
    x = feeds()
    rows = found("num_classes: 3 code_type: CORNER_SIZE confidence_threshold: 0.85", tmp_path)
    corners, variances = x["prior"][0].reshape(2, BOXES, 4)
    sizes = np.tile(corners[:, 2:] - corners[:, :2], 2)
    boxes = corners + variances * x["loc"].reshape(BOXES, 4) * sizes
    scores = x["conf"].reshape(BOXES, 3)
    used = rows[rows[:, 0] == 0]
    assert len(used) > 0
    for _, label, score, *box in used:
        (place,) = np.flatnonzero(scores[:, int(label)] == score)
        np.testing.assert_allclose(box, boxes[place], rtol=1e-5)


def test_boxes_that_end_before_they_begin_overlap_nothing(tmp_path: Path) -> None:
    x = feeds()
    x["prior"][0, 0] = np.tile([0.6, 0.6, 0.2, 0.2], BOXES)
    x["loc"][:] = 0
    rows = found("num_classes: 3 code_type: CORNER", tmp_path, x)
    assert (rows[:, 0] == 0).all()


CLASSES = "num_classes: 3"
SMALL = SHAPES | {"conf": (1, BOXES * 3 - 1)}
WRONG: dict[str, tuple[str, str]] = {
    "no classes": (detector(""), "LAM-IMPORT-064"),
    "the background alone": (detector("num_classes: 1"), "LAM-IMPORT-064"),
    "a limit below nothing": (detector(CLASSES, "nms_threshold: -0.1"), "LAM-IMPORT-064"),
    "a limit that is none": (detector(CLASSES, "nms_threshold: nan"), "LAM-IMPORT-064"),
    "a limit that grows": (detector(CLASSES, "eta: 1.5"), "LAM-IMPORT-064"),
    "no limit left": (detector(CLASSES, "eta: 0"), "LAM-IMPORT-064"),
    "a limit that shrinks": (detector(CLASSES, "eta: 0.9"), "LAM-IMPORT-022"),
    "no candidates": (detector(CLASSES, "top_k: 0"), "LAM-IMPORT-022"),
    "nothing kept": (detector(f"{CLASSES} keep_top_k: 0"), "LAM-IMPORT-022"),
    "more rows than memory": (detector(f"{CLASSES} keep_top_k: 2147483647"), "LAM-IMPORT-004"),
    "a score to pass that is none": (detector(f"{CLASSES} confidence_threshold: nan"), "LAM-IMPORT-064"),
    "an unknown code": (detector(f"{CLASSES} code_type: MIDDLE"), "LAM-IMPORT-060"),
    "an unknown field": (detector(f"{CLASSES} clip_bbox: true"), "LAM-IMPORT-060"),
    "another count of classes": (detector("num_classes: 4"), "LAM-IMPORT-014"),
    "a class of many": (detector("num_classes: 4294967295"), "LAM-IMPORT-014"),
    "codes of no class": (detector(f"{CLASSES} share_location: false"), "LAM-IMPORT-014"),
    "a score too few": (detector(CLASSES, shapes=SMALL), "LAM-IMPORT-014"),
    "no variances": (detector(CLASSES, shapes=SHAPES | {"prior": (1, 1, BOXES * 4)}), "LAM-IMPORT-014"),
    "half a box": (detector(CLASSES, shapes=SHAPES | {"prior": (1, 2, BOXES * 4 - 2)}), "LAM-IMPORT-014"),
    "boxes in one row": (detector(CLASSES, shapes=SHAPES | {"prior": (2, BOXES * 4)}), "LAM-IMPORT-014"),
    "no axis of codes": (detector(CLASSES, shapes=SHAPES | {"loc": (BOXES * 4,)}), "LAM-IMPORT-014"),
    "two images": (
        detector(CLASSES, shapes=SHAPES | {"loc": (2, BOXES * 4), "conf": (2, BOXES * 3)}),
        "LAM-IMPORT-022",
    ),
    "no prior boxes": (given(SHAPES) + layer("y", "DetectionOutput", "loc conf"), "LAM-IMPORT-015"),
    "two tops": (
        detector(CLASSES).replace('top: "y"', 'top: "y" top: "z"'),
        "LAM-IMPORT-022",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_damaged_detector_is_refused(what: str, tmp_path: Path) -> None:
    text, code = WRONG[what]
    with pytest.raises(CompileError) as refused:
        read_real(written(tmp_path, text))
    assert {problem.code for problem in refused.value.problems()} == {code}, refused.value
