"""TFLite_Detection_PostProcess beside LiteRT, in numpy and in C: which boxes, classes and scores, and how many.

All of it is equal, boxes to the bit.  LiteRT leaves rows unwritten for which there is no box, here they are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import ModelRejected
from codegen.frontends.tflite import import_tflite
from codegen.frontends.tflite.real import read_real
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.passes import simplify
from codegen.real.engine import RealEngine
from tests.contract.test_kernels import make_project
from tests.support.detection_cases import NAME, Detector, model, told
from tests.support.node_graphs import prefixed, side_by_side
from tests.support.sanitizers import TRAPS
from tests.support.tflite_models import Model, run_litert
from tests.support.tools import require_tool

STRICT = ("gcc", f"-O0 {TRAPS}")


def outputs(graph: Graph, values: dict[str, Array]) -> list[Array]:
    return [values[o.value] for o in graph.outputs]


def agrees(case: Detector, found: list[Array], wanted: list[Array]) -> bool:
    """Whether what is found is what LiteRT finds, and 0 where it finds nothing."""
    boxes, classes, scores, count = found
    if not np.array_equal(count, wanted[3]):
        return False
    used = case.used(int(count[0]))
    same = all(map(np.array_equal, (x[0][used] for x in (boxes, classes, scores)), (x[0][used] for x in wanted[:3])))
    return same and not any(a[0][~used].any() for a in (boxes, classes, scores))


def check(first: int, models: int, each: int, folder: Path) -> None:
    """Detectors of consecutive seeds on random inputs: golden is LiteRT; C and the real engine are golden."""
    drawn = [Detector(seed) for seed in range(first, first + models)]
    graphs, engines = [], []
    for i, case in enumerate(drawn):
        path = folder / f"{i}.tflite"
        path.write_bytes(case.data)
        graphs.append(import_tflite(path, mode="tflite"))
        engines.append(RealEngine(read_real(path)))
    feeds = [[case.inputs() for _ in range(each)] for case in drawn]
    wanted = [run_litert(case.outside, *given) for case, given in zip(drawn, feeds, strict=True)]
    simple = [prefixed(simplify(g), f"{i}/") for i, g in enumerate(graphs)]
    together = side_by_side(simple)
    with Network(make_project(together, folder, "c99"), compiler=STRICT[0], flags=STRICT[1].split()) as network:
        for sample in range(each):
            given = {
                f"{i}/{p.value}": x
                for i, g in enumerate(graphs)
                for p, x in zip(g.inputs, feeds[i][sample], strict=True)
            }
            actual = network.run_raw(given)
            for i, (case, graph) in enumerate(zip(drawn, graphs, strict=True)):
                named = dict(zip([p.value for p in graph.inputs], feeds[i][sample], strict=True))
                golden = outputs(graph, run_graph(graph, named))
                assert agrees(case, golden, wanted[i][sample]), (first + i, sample)
                made = outputs(simple[i], actual)
                assert all(map(np.array_equal, made, golden)), (first + i, sample)
                if case.kind == "float32":
                    found = engines[i].run(dict(zip(engines[i].graph.inputs, feeds[i][sample], strict=True)))
                    assert all(map(np.array_equal, found.values(), golden)), (first + i, sample)


def test_finds_what_litert_finds(tmp_path: Path) -> None:
    require_tool("gcc")
    check(0, 20, 5, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_finds_what_litert_finds_on_many(part: int, tmp_path: Path) -> None:
    require_tool("gcc")
    check(100 + 20 * part, 20, 5, tmp_path)


def test_of_equal_scores_the_first_box_and_the_first_class_go_before(tmp_path: Path) -> None:
    """LiteRT sorts boxes likewise; of classes it takes the first maximum."""
    rng = np.random.default_rng(1)
    anchors = np.concatenate([rng.random((30, 2)), np.full((30, 2), 0.05)], 1).astype(np.float32)
    built = model(((1, 30, 4), (1, 30, 4), (30, 4)), told(), anchors=anchors)
    (tmp_path / "m.tflite").write_bytes(built.bytes())
    graph = import_tflite(tmp_path / "m.tflite", mode="tflite")
    given = [rng.standard_normal((1, 30, 4)).astype(np.float32), np.full((1, 30, 4), 0.5, np.float32)]
    golden = outputs(graph, run_graph(graph, dict(zip([p.value for p in graph.inputs], given, strict=True))))
    (wanted,) = run_litert(built.bytes(), given)
    assert golden[3] == wanted[3] == 5
    assert np.array_equal(golden[0], wanted[0])
    assert not golden[1].any()
    assert not wanted[1].any()


def test_results_without_a_shape_get_that_of_what_is_found(tmp_path: Path) -> None:
    """Converters leave it out, for LiteRT takes none from the file."""
    built = Model()
    inputs = [built.input(shape, "float32") for shape in ((1, 6, 4), (1, 6, 4))]
    anchors = built.const(np.full((6, 4), 0.5, np.float32))
    built.op(NAME, [*inputs, anchors], [built.output((), "float32") for _ in range(4)], custom=told())
    (tmp_path / "m.tflite").write_bytes(built.bytes())
    graph = import_tflite(tmp_path / "m.tflite", mode="tflite")
    assert [graph.type(o.value).shape for o in graph.outputs] == [(1, 5, 4), (1, 5), (1, 5), (1,)]


FITS = ((1, 6, 4), (1, 6, 4), (6, 4))


def odd(places: int, results: int) -> Model:
    """So many inputs and outputs."""
    m = Model()
    inputs = [m.input(shape, "float32") for shape in (*FITS, (1,))[:places]]
    shapes = ((1, 5, 4), (1, 5), (1, 5), (1,), (1,))[:results]
    m.op(NAME, inputs, [m.output(s, "float32") for s in shapes], custom=told())
    return m


def held() -> Model:
    """A result that bytes are to hold."""
    m = model(FITS, told())
    scores = m.graph.tensors[m.graph.outputs[2]]
    scores.kind, scores.scale, scores.zero = "uint8", np.float32([0.1]), np.array([0])
    return m


def of_words() -> Model:
    """Scores that are whole numbers."""
    m = model(FITS, told())
    m.graph.tensors[m.graph.inputs[1]].kind = "int32"
    return m


WRONG: dict[str, tuple[str, Callable[[], Model]]] = {
    "no options": ("LAM-IMPORT-013", lambda: model(FITS, b"")),
    "options of another kind": ("LAM-IMPORT-013", lambda: model(FITS, b"\x01\x02\x03")),
    "no limit": ("LAM-IMPORT-013", lambda: model(FITS, told(nms_iou_threshold=None))),
    "a limit of nothing": ("LAM-IMPORT-013", lambda: model(FITS, told(nms_iou_threshold=0.0))),
    "a limit above one": ("LAM-IMPORT-013", lambda: model(FITS, told(nms_iou_threshold=1.5))),
    "a score to pass that is none": ("LAM-IMPORT-013", lambda: model(FITS, told(nms_score_threshold=float("nan")))),
    "a scale of 0": ("LAM-IMPORT-013", lambda: model(FITS, told(w_scale=0.0))),
    "a scale without an end": ("LAM-IMPORT-013", lambda: model(FITS, told(y_scale=float("inf")))),
    "half a detection": ("LAM-IMPORT-013", lambda: model(FITS, told(max_detections=2.5))),
    "no detection": ("LAM-IMPORT-013", lambda: model(FITS, told(max_detections=0))),
    "no class of each": ("LAM-IMPORT-013", lambda: model(FITS, told(max_classes_per_detection=0))),
    "no detection of a class": ("LAM-IMPORT-013", lambda: model(FITS, told(detections_per_class=0))),
    "more detections than memory": ("LAM-IMPORT-013", lambda: model(FITS, told(max_detections=1 << 40))),
    "two classes too many": ("LAM-OPS-001", lambda: model(FITS, told(num_classes=2))),
    "a class too few": ("LAM-OPS-001", lambda: model(FITS, told(num_classes=5))),
    "two images": ("LAM-OPS-001", lambda: model(((2, 6, 4), (2, 6, 4), (6, 4)), told())),
    "anchors of other boxes": ("LAM-OPS-001", lambda: model(((1, 6, 4), (1, 6, 4), (5, 4)), told())),
    "codes of three numbers": ("LAM-OPS-001", lambda: model(((1, 6, 3), (1, 6, 4), (6, 4)), told())),
    "scores of other boxes": ("LAM-OPS-001", lambda: model(((1, 6, 4), (1, 7, 4), (6, 4)), told())),
    "no anchors": ("LAM-OPS-001", lambda: odd(2, 4)),
    "three results": ("LAM-OPS-001", lambda: odd(3, 3)),
    "results of another size": ("LAM-IMPORT-014", lambda: model(FITS, told(), rows=6)),
    "a result of bytes": ("LAM-IMPORT-022", held),
    "scores that are whole numbers": ("LAM-IMPORT-020", of_words),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_detectors_are_refused(what: str, tmp_path: Path) -> None:
    code, build = WRONG[what]
    (tmp_path / "m.tflite").write_bytes(build().bytes())
    with pytest.raises(ModelRejected) as caught:
        import_tflite(tmp_path / "m.tflite", mode="tflite")
    assert [p.code for p in caught.value.problems()] == [code]
