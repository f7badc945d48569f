"""Boxes of which the best are selected, beside ONNX Runtime, and in C.

A network has fixed shapes: NonMaxSuppression has rows for all that it may select, and -1 in those that are left over.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from codegen.errors import ModelRejected
from codegen.frontends.onnx import import_onnx
from codegen.frontends.onnx.real import read_real
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.quant import Array
from codegen.passes import simplify
from tests.contract.test_kernels import make_project
from tests.support.node_graphs import prefixed, side_by_side
from tests.support.onnx_files import onnx_model, port
from tests.support.sanitizers import TRAPS
from tests.support.tools import require_tool

STRICT = ("gcc", f"-O0 {TRAPS}")
LIMITS = (0.0, 0.25, 0.5, 1 / 3, 0.45, 0.8, 1.0)
ABOVE = (None, 0.05, 0.5, 0.25, -1.0)
Feeds = dict[str, Array]


class Drawn:
    """A NonMaxSuppression of one shape, and as many inputs for it as are asked for."""

    def __init__(self, seed: int) -> None:
        self._rng = rng = np.random.default_rng(seed)
        self._images, self._classes, self._count = (int(rng.integers(1, most)) for most in (3, 5, 60))
        self._coarse, self.centred = seed % 2 == 0, bool(rng.integers(2))
        self.most, self.limit = int(rng.integers(1, self._count + 3)), float(np.float32(rng.choice(LIMITS)))
        self.least = ABOVE[seed % len(ABOVE)]
        self._known = ("", "", "boxes", "scores")[seed % 4]
        first = self._draw()
        self._constants = {n: a for n, a in first.items() if n == self._known}
        self.model = model_of(self, {n: a for n, a in first.items() if n != self._known}, self._constants)

    def feeds(self) -> Feeds:
        """Random numbers for what is computed."""
        return {n: a for n, a in self._draw().items() if n != self._known}

    def _draw(self) -> Feeds:
        """On a coarse grid overlaps and scores are equal; of fine ones no two."""
        rng, step = self._rng, np.float32(0.25 if self._coarse else 1e-7)
        boxes = rng.random((self._images, self._count, 4)) * rng.choice([1, 4, 300])
        scores = rng.random((self._images, self._classes, self._count))
        scores = np.round(scores * 8) / 8 if self._coarse else scores
        return {"boxes": np.round(boxes / step).astype(np.float32) * step, "scores": scores.astype(np.float32)}


def model_of(case: Drawn, feeds: Feeds, constants: Feeds) -> onnx.ModelProto:
    """A network of that operator, with what is constant."""
    numbers: Feeds = {"most": np.array([case.most]), "limit": np.array([case.limit], np.float32)}
    numbers |= {} if case.least is None else {"least": np.array([case.least], np.float32)}
    node = helper.make_node(
        "NonMaxSuppression", ["boxes", "scores", *numbers], ["chosen"], center_point_box=int(case.centred)
    )
    return graph_of([node], feeds, constants | numbers, {"chosen": TensorProto.INT64})


def graph_of(nodes: list[Any], feeds: Feeds, constants: Feeds, outputs: dict[str, int]) -> onnx.ModelProto:
    """A model of operator set 17."""
    given = [port(name, a.shape) for name, a in feeds.items()]
    return onnx_model(nodes, given, [port(name, None, kind) for name, kind in outputs.items()], constants, name="boxes")


def check(first: int, models: int, each: int, folder: Path) -> None:
    """Models of consecutive seeds on random inputs: golden is ONNX Runtime, then -1; C is golden."""
    drawn = [Drawn(seed) for seed in range(first, first + models)]
    graphs = []
    for i, case in enumerate(drawn):
        path = folder / f"{i}.onnx"
        onnx.save(case.model, path)
        graphs.append(import_onnx(path, mode="ort", io_type="model", io_layout="model"))
    sessions = [onnxruntime.InferenceSession(case.model.SerializeToString()) for case in drawn]
    together = side_by_side([prefixed(simplify(g), f"{i}/") for i, g in enumerate(graphs)])
    with Network(make_project(together, folder, "c99"), compiler=STRICT[0], flags=STRICT[1].split()) as network:
        for _ in range(each):
            feeds = [case.feeds() for case in drawn]
            actual = network.run_raw({f"{i}/{n}": a for i, given in enumerate(feeds) for n, a in given.items()})
            for i, graph in enumerate(graphs):
                golden = run_graph(graph, feeds[i])[graph.outputs[0].value]
                (wanted,) = sessions[i].run(None, feeds[i])
                assert golden[: len(wanted)].tolist() == wanted.tolist(), first + i
                assert (golden[len(wanted) :] == -1).all(), first + i
                assert np.array_equal(actual[f"{i}/{graph.outputs[0].value}"], golden), first + i


def test_selects_what_onnx_runtime_does(tmp_path: Path) -> None:
    require_tool("gcc")
    check(0, 20, 5, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_selects_what_onnx_runtime_does_on_many(part: int, tmp_path: Path) -> None:
    require_tool("gcc")
    check(100 + 20 * part, 20, 5, tmp_path)


def test_a_quantized_detector_looks_its_boxes_up(tmp_path: Path) -> None:
    """Boxes and scores of bytes; columns of what is selected, and the boxes at those places: -1 is the last one."""
    require_tool("gcc")
    rng = np.random.default_rng(3)
    feeds = {"b": rng.random((1, 20, 4)).astype(np.float32), "s": rng.random((1, 3, 20)).astype(np.float32)}
    known: Feeds = {"scale": np.float32(1 / 255), "zero": np.uint8(0), "most": np.array([4])}
    known |= {"limit": np.float32([0.3]), "least": np.float32([0.85]), "two": np.array([2])}
    nodes = [
        helper.make_node(kind, [x, "scale", "zero"], [y])
        for name in "bs"
        for kind, x, y in (("QuantizeLinear", name, f"{name}q"), ("DequantizeLinear", f"{name}q", f"{name}d"))
    ]
    nodes += [
        helper.make_node("NonMaxSuppression", ["bd", "sd", "most", "limit", "least"], ["chosen"]),
        helper.make_node("Gather", ["chosen", "two"], ["column"], axis=1),
        helper.make_node("Squeeze", ["column", "ones"], ["places"]),
        helper.make_node("Gather", ["bd", "places"], ["found"], axis=1),
    ]
    known["ones"] = np.array([1])
    model = graph_of(nodes, feeds, known, {"chosen": TensorProto.INT64, "found": TensorProto.FLOAT})
    onnx.save(model, tmp_path / "m.onnx")
    graph = import_onnx(tmp_path / "m.onnx", mode="ort", io_type="model", io_layout="model")
    wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)
    count = len(wanted[0])
    assert 0 < count < 12
    golden = run_graph(graph, {p.value: feeds[p.name] for p in graph.inputs})
    chosen, found = (golden[o.value] for o in graph.outputs)
    assert chosen[:count].tolist() == wanted[0].tolist()
    assert (chosen[count:] == -1).all()
    assert np.array_equal(found[:, :count], wanted[1])
    assert (found[:, count:] == found[:, count:][:, :1]).all()
    with Network(make_project(simplify(graph), tmp_path, "c99"), compiler="gcc", flags=STRICT[1].split()) as network:
        made = network.run_raw({p.value: feeds[p.name] for p in graph.inputs})
    assert all(np.array_equal(made[o.value], golden[o.value]) for o in graph.outputs)


BOXES, SCORES = np.zeros((1, 5, 4), np.float32), np.zeros((1, 2, 5), np.float32)
NAN = np.float32([np.nan])
WRONG: dict[str, tuple[Feeds, Feeds, int, str]] = {
    "scores of other boxes": ({"boxes": BOXES, "scores": SCORES[:, :, :4]}, {}, 0, "LAM-IMPORT-014"),
    "scores of another batch": ({"boxes": BOXES, "scores": SCORES.repeat(2, 0)}, {}, 0, "LAM-IMPORT-014"),
    "boxes of three numbers": ({"boxes": BOXES[:, :, :3], "scores": SCORES}, {}, 0, "LAM-IMPORT-014"),
    "boxes without a batch": ({"boxes": BOXES[0], "scores": SCORES}, {}, 0, "LAM-IMPORT-014"),
    "scores without classes": ({"boxes": BOXES, "scores": SCORES[:, 0]}, {}, 0, "LAM-IMPORT-014"),
    "a computed limit": ({"boxes": BOXES, "scores": SCORES, "limit": NAN}, {}, 0, "LAM-IMPORT-023"),
    "a computed score to pass": ({"boxes": BOXES, "scores": SCORES, "least": NAN}, {}, 0, "LAM-IMPORT-023"),
    "a limit above one": ({"boxes": BOXES, "scores": SCORES}, {"limit": np.float32([1.5])}, 0, "LAM-IMPORT-013"),
    "a limit that is none": ({"boxes": BOXES, "scores": SCORES}, {"limit": NAN}, 0, "LAM-IMPORT-013"),
    "a score to pass that is none": ({"boxes": BOXES, "scores": SCORES}, {"least": NAN}, 0, "LAM-IMPORT-013"),
    "two limits": ({"boxes": BOXES, "scores": SCORES}, {"limit": np.zeros(2, np.float32)}, 0, "LAM-IMPORT-014"),
    "half a box at most": ({"boxes": BOXES, "scores": SCORES}, {"most": np.float32([0.5])}, 0, "LAM-IMPORT-019"),
    "boxes of another kind": ({"boxes": BOXES, "scores": SCORES}, {}, 2, "LAM-IMPORT-013"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_selected_is_refused(name: str, tmp_path: Path) -> None:
    feeds, given, centred, code = WRONG[name]
    usual: Feeds = {"most": np.array([3]), "limit": np.float32([0.5]), "least": np.float32([0.1])}
    constants = {n: given.get(n, a) for n, a in usual.items() if n not in feeds}
    node = helper.make_node("NonMaxSuppression", ["boxes", "scores", *usual], ["chosen"], center_point_box=centred)
    onnx.save(graph_of([node], feeds, constants, {"chosen": TensorProto.INT64}), tmp_path / "m.onnx")
    with pytest.raises(ModelRejected) as caught:
        read_real(tmp_path / "m.onnx")
    assert [p.code for p in caught.value.problems()] == [code]


def test_a_computed_count_is_refused(tmp_path: Path) -> None:
    model = graph_of(
        [helper.make_node("NonMaxSuppression", ["boxes", "scores", "most"], ["chosen"])],
        {"boxes": BOXES, "scores": SCORES},
        {},
        {"chosen": TensorProto.INT64},
    )
    model.graph.input.append(port("most", [1], TensorProto.INT64))
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(ModelRejected) as caught:
        read_real(tmp_path / "m.onnx")
    assert [p.code for p in caught.value.problems()] == ["LAM-IMPORT-023"]


@pytest.mark.parametrize("most", [None, 0, -3])
def test_of_no_boxes_at_most_nothing_is_selected(most: int | None, tmp_path: Path) -> None:
    known = {} if most is None else {"most": np.array([most])}
    node = helper.make_node("NonMaxSuppression", ["boxes", "scores", *known], ["chosen"])
    onnx.save(
        graph_of([node], {"boxes": BOXES, "scores": SCORES}, known, {"chosen": TensorProto.INT64}), tmp_path / "m.onnx"
    )
    graph = read_real(tmp_path / "m.onnx")
    assert graph.type(graph.outputs[0]).shape == (0, 3)


HEAD = "most = Constant <value = int64[1] {3}> () limit = Constant <value = float[1] {0.5}> () "
HEAD += "chosen = NonMaxSuppression (boxes, scores, most, limit) "
COLUMN = HEAD + "two = Constant <value = int64[1] {2}> () column = Gather <axis = 1> (chosen, two) "
PLACES = COLUMN + "ones = Constant <value = int64[1] {1}> () places = Squeeze (column, ones) "
FOUND = PLACES + "found = Gather <axis = 1> (boxes, places) "
FOLLOWED = {
    "columns": HEAD + "y, b, c = Split <axis = 1, num_outputs = 3> (chosen)",
    "the first rows": HEAD + "a = Constant <value = int64[1] {0}> () b = Constant <value = int64[1] {2}> () "
    "y = Slice (chosen, a, b, a)",
    "boxes": FOUND + "y = Transpose <perm = [1, 0, 2]> (found)",
    "parts of boxes": FOUND + "k = Constant <value = int64[2] {1, 3}> () y = Gather <axis = 2> (found, k)",
    "boxes in other units": FOUND + "k = Constant <value = float[4] {1, 2, 3, 4}> () y = Mul (found, k)",
    "boxes times a matrix": FOUND + "k = Constant <value = float[4,1] {1, 2, 3, 4}> () y = MatMul (found, k)",
    "the sizes of boxes": FOUND + "k = Constant <value = int64[1] {2}> () y = ReduceSum <keepdims = 0> (found, k)",
    "joined columns": FOUND + "y = Concat <axis = 2> (found, found)",
    "scores by places of two axes": HEAD + "k = Constant <value = int64[2] {1, 2}> () "
    "both = Gather <axis = 1> (chosen, k) s = Squeeze (scores) y = GatherND (s, both)",
    "the other sizes": FOUND + "n = Shape <start = 2> (found) y = Expand (found, n)",
}
NOT_FOLLOWED = {
    "how many there are": HEAD + "n = Shape (chosen) y = Cast <to = 1> (n)",
    "how many numbers": HEAD + "n = Size (chosen) y = Cast <to = 1> (n)",
    "the mean box": FOUND + "k = Constant <value = int64[1] {1}> () y = ReduceMean (found, k)",
    "the sum of all": FOUND + "y = ReduceSum (found)",
    "the best": FOUND + "k = Constant <value = int64[1] {1}> () y, at = TopK <axis = 1> (found, k)",
    "the last row": HEAD + "a = Constant <value = int64[1] {-1}> () b = Constant <value = int64[1] {9}> () "
    "k = Constant <value = int64[1] {0}> () y = Slice (chosen, a, b, k)",
    "rows by number": HEAD + "k = Constant <value = int64[2] {0, 4}> () y = Gather <axis = 0> (chosen, k)",
    "rows behind rows": FOUND + "y = Concat <axis = 1> (found, boxes)",
    "a softmax over rows": FOUND + "y = Softmax <axis = 1> (found)",
    "rows as one list": FOUND + "k = Constant <value = int64[1] {-1}> () y = Reshape (found, k)",
    "each row with each other": FOUND + "t = Transpose <perm = [0, 2, 1]> (found) y = MatMul (found, t)",
    "numbers put at rows": PLACES + "u = Cast <to = 1> (places) y = ScatterND (boxes, chosen, u)",
}


def parsed(nodes: str, folder: Path) -> Path:
    """A model in ONNX's text, whose results are of any shape."""
    given = "float[1,5,4] boxes, float[1,2,5] scores"
    text = f"""<ir_version: 9, opset_import: ["" : 20]> g ({given}) => (float y) {{ {nodes} }}"""
    model = onnx.parser.parse_model(text)
    model.graph.output[0].type.Clear()
    onnx.save(model, folder / "m.onnx")
    return folder / "m.onnx"


@pytest.mark.parametrize("what", FOLLOWED)
def test_what_takes_rows_one_by_one_may_follow(what: str, tmp_path: Path) -> None:
    """The first rows are those that ONNX Runtime has, whatever follows."""
    path = parsed(FOLLOWED[what], tmp_path)
    rng = np.random.default_rng(2)
    feeds = {n: rng.random(s).astype(np.float32) for n, s in (("boxes", (1, 5, 4)), ("scores", (1, 2, 5)))}
    graph = import_onnx(path, mode="ort", io_type="model", io_layout="model")
    golden = run_graph(graph, feeds)[graph.outputs[0].value]
    (wanted,) = onnxruntime.InferenceSession(path).run(None, feeds)
    assert np.allclose(golden[tuple(slice(n) for n in wanted.shape)], wanted, rtol=1e-6)


@pytest.mark.parametrize("what", NOT_FOLLOWED)
def test_what_counts_or_joins_rows_is_refused(what: str, tmp_path: Path) -> None:
    with pytest.raises(ModelRejected) as caught:
        read_real(parsed(NOT_FOLLOWED[what], tmp_path))
    assert [p.code for p in caught.value.problems()] == ["LAM-IMPORT-057"]
