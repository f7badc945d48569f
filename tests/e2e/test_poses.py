"""PosenetDecoderOp: numbers of its public definition, bytes as real numbers, and C.

No runtime that is at hand has the operator.  What is compared with are numbers that the public C++ definition gives
(google-coral/libcoral, coral/posenet/posenet_decoder.cc), and those of its own tests.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import ModelRejected
from codegen.float32.poses import DIRECTED, Maps
from codegen.frontends.tflite import import_tflite
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.passes import simplify
from tests.contract.test_kernels import make_project
from tests.support.node_graphs import prefixed, side_by_side
from tests.support.pose_cases import NAME, drawn, model, results, told
from tests.support.sanitizers import TRAPS
from tests.support.tflite_models import Model
from tests.support.tools import require_tool

STRICT = ("gcc", f"-O0 {TRAPS}")
KINDS = ("float32", "uint8", "int8")
FOUND = {
    1: (2, 0.631310, (12.6354, 16.0000), (83.5919, 16.0000)),
    4: (4, 0.583848, (64.0000, 12.4701), (0.0000, 3.9520)),
    6: (1, 0.598029, (0.0000, 21.8827), (0.0000, 0.0000)),
    9: (3, 0.559413, (32.4472, 16.0000), (82.4103, 7.4827)),
    17: (2, 0.603425, (22.8114, 0.0000), (0.0000, 0.0000)),
    23: (1, 0.410078, (32.1486, 90.8726), (25.6592, 92.1593)),
    31: (2, 0.573696, (77.1536, 19.7021), (1.1776, 10.6697)),
    44: (7, 0.586893, (16.9479, 82.3284), (50.9230, 88.7424)),
}
"""Of maps by their seeds: poses, the first one's score and nose, the last one's right ankle."""


@pytest.mark.parametrize("seed", FOUND)
def test_finds_what_the_public_definition_finds(seed: int) -> None:
    case = drawn(seed)
    places, _, scores, count = case.op.evaluate(case.maps)
    many, score, nose, ankle = FOUND[seed]
    assert count == many
    assert np.isclose(scores[0, 0], score, rtol=0, atol=1e-6)
    assert np.allclose(places[0, 0, 0], nose, rtol=0, atol=1e-4)
    assert np.allclose(places[0, many - 1, 16], ankle, rtol=0, atol=1e-4)
    assert not places[0, many:].any()


def test_places_are_moved_as_the_definitions_own_test_says() -> None:
    """Its FindDisplacedPositionTest: along an edge of four, then by the offsets of a keypoint of three."""
    y, x, c = np.ogrid[:10, :8, :16]
    edges = (2 * (y + x + c + np.float32(0.1)) / 31 - 0.5).astype(np.float32)
    offsets = ((y + x + c[..., :6] + np.float32(0.1)) / np.float32(21.1)).astype(np.float32)
    maps = Maps(np.zeros((10, 8, 3), np.float32), offsets, edges)
    place = maps.moved(edges, (np.float32(4.1), np.float32(3.5)), 1, 1 + 4)
    for wanted in ((4.161290, 3.819355), (4.639046, 4.439290), (5.168825, 5.111249), (5.755558, 5.840163)):
        assert np.allclose(place, wanted, rtol=1e-6)
        place = maps.moved(offsets, place, 2, 2 + 3)


def test_edges_are_those_of_the_definitions_own_test() -> None:
    """Its BuildAdjacencyListTest: edges that begin at the nose, the left shoulder and the right ankle."""
    ends = {k: [(i, b) for i, (a, b) in enumerate(DIRECTED) if a == k] for k in (0, 5, 16)}
    assert ends[0] == [(0, 1), (2, 2), (4, 5), (10, 6)]
    assert ends[5] == [(5, 7), (7, 11), (20, 0)]
    assert ends[16] == [(31, 14)]


def outputs(graph: Graph, values: dict[str, Array]) -> list[Array]:
    return [values[o.value] for o in graph.outputs]


def check(first: int, count: int, folder: Path) -> None:
    """Networks of consecutive seeds: golden is the operator on real numbers, C is golden."""
    graphs, feeds, wanted = [], dict[str, Array](), []
    for i in range(count):
        case, kind = drawn(first + i), KINDS[i % len(KINDS)]
        built = model([x.shape for x in case.maps], case.own, case.op.most, kind)
        (folder / "m.tflite").write_bytes(built.bytes())
        graph = import_tflite(folder / "m.tflite", mode="tflite")
        maps = case.maps
        if kind != "float32":
            tensors = [built.graph.tensors[place] for place in built.graph.inputs]
            low = np.iinfo(kind)
            maps = [
                np.clip(np.round(x / t.scale) + t.zero, low.min, low.max).astype(kind)
                for x, t in zip(maps, tensors, strict=True)
            ]
            real = [(x.astype(np.float32) - np.float32(t.zero)) * t.scale for x, t in zip(maps, tensors, strict=True)]
        wanted.append(case.op.evaluate(real if kind != "float32" else maps))
        golden = outputs(graph, run_graph(graph, dict(zip([p.value for p in graph.inputs], maps, strict=True))))
        assert all(map(np.array_equal, golden, wanted[-1])), first + i
        graphs.append(prefixed(simplify(graph), f"{i}/"))
        feeds |= dict(zip([p.value for p in graphs[-1].inputs], maps, strict=True))
    project = make_project(side_by_side(graphs), folder, "c99")
    with Network(project, compiler=STRICT[0], flags=STRICT[1].split()) as network:
        actual = network.run_raw(feeds)
    for i, graph in enumerate(graphs):
        assert all(map(np.array_equal, outputs(graph, actual), wanted[i])), first + i


def test_c_finds_what_golden_finds(tmp_path: Path) -> None:
    require_tool("gcc")
    check(0, 30, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_c_finds_what_golden_finds_in_many(part: int, tmp_path: Path) -> None:
    require_tool("gcc")
    check(100 + 100 * part, 100, tmp_path)


SHAPES = ((1, 4, 3, 17), (1, 4, 3, 34), (1, 4, 3, 64))


def odd(places: int) -> Model:
    """Fewer inputs."""
    return model(SHAPES[:places], told())


def held() -> Model:
    """A result that bytes are to hold."""
    m = model(SHAPES, told())
    scores = m.graph.tensors[m.graph.outputs[1]]
    scores.kind, scores.scale, scores.zero = "uint8", np.float32([0.1]), np.array([0])
    return m


def fewer() -> Model:
    """Without a count."""
    m = Model()
    m.op(NAME, [m.input(s, "float32") for s in SHAPES], [m.output(s, "float32") for s in results(5)[:3]], custom=told())
    return m


WRONG: dict[str, tuple[str, Callable[[], Model]]] = {
    "no options": ("LAM-IMPORT-013", lambda: model(SHAPES, b"")),
    "no stride": ("LAM-IMPORT-013", lambda: model(SHAPES, told(stride=None))),
    "a stride of 0": ("LAM-IMPORT-013", lambda: model(SHAPES, told(stride=0))),
    "half a stride": ("LAM-IMPORT-013", lambda: model(SHAPES, told(stride=0.5))),
    "no pose": ("LAM-IMPORT-013", lambda: model(SHAPES, told(max_detections=0))),
    "a score that nothing exceeds": ("LAM-IMPORT-013", lambda: model(SHAPES, told(score_threshold=1.0))),
    "a score below 0": ("LAM-IMPORT-013", lambda: model(SHAPES, told(score_threshold=-0.5))),
    "a score that is none": ("LAM-IMPORT-013", lambda: model(SHAPES, told(score_threshold=float("nan")))),
    "a radius without an end": ("LAM-IMPORT-013", lambda: model(SHAPES, told(nms_radius=float("inf")))),
    "a radius below 0": ("LAM-IMPORT-013", lambda: model(SHAPES, told(nms_radius=-1.0))),
    "other keypoints": ("LAM-OPS-001", lambda: model(((1, 4, 3, 16), *SHAPES[1:]), told())),
    "a map of another size": ("LAM-OPS-001", lambda: model((*SHAPES[:2], (1, 4, 4, 64)), told())),
    "two images": ("LAM-OPS-001", lambda: model([(2, *s[1:]) for s in SHAPES], told())),
    "no batch": ("LAM-OPS-001", lambda: model([s[1:] for s in SHAPES], told())),
    "two maps": ("LAM-OPS-001", lambda: odd(2)),
    "three results": ("LAM-OPS-001", fewer),
    "results of another size": ("LAM-IMPORT-014", lambda: model(SHAPES, told(), most=6)),
    "a result of bytes": ("LAM-IMPORT-022", held),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_decoders_are_refused(what: str, tmp_path: Path) -> None:
    code, build = WRONG[what]
    (tmp_path / "m.tflite").write_bytes(build().bytes())
    with pytest.raises(ModelRejected) as caught:
        import_tflite(tmp_path / "m.tflite", mode="tflite")
    assert [p.code for p in caught.value.problems()] == [code]
