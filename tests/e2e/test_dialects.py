"""Generated ONNX files of 39 exporters and settings: what is read of them, each layer beside ONNX Runtime, their C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidGraph

from codegen.api import verify
from codegen.errors import CompileError
from codegen.frontends.onnx import import_onnx
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.verify import verify_graph
from codegen.verbs.samples import Sample
from tests.e2e.ort import Oracle, run_forced, share_equal
from tests.support.shared import shared_dir

SPREAD = (
    *("ae__aimet_w8a8", "ae__ort_dyn21_qdq_u8s8_pc", "ae__ort_ts17_addpair", "ae__ort_ts17_qdq_s16s8_ms"),
    *("dscnn__brevitas_fx", "dscnn__ort_qdq13_s8_pc", "dscnn__ort_ts17_contrib", "dscnn__pt2e_xnn"),
    *("grucell__fx_fbgemm", "grucell__ort_qdq13_u8s8_pc", "grucell__ort_ts17_dedicated"),
    *("mbv2__ort_dyn18_qdq_s8_pc", "mbv2__ort_qdq13_u8u8_pt", "mbv2__ort_ts17_keep", "mbv2__quark_XINT8"),
    *("mbv3__ort_dyn21_qdq_s16s16", "mbv3__ort_qdq17_s8_pt", "mbv3__ort_ts17_nobias"),
    *("resnet__ort_dyn21_qdq_s16s8_pc", "resnet__ort_qdq17_s8sym_pc", "resnet__ort_ts17_nopre"),
    *("shuffle__inc_qdq", "shuffle__ort_qdq17_u8u8_pcasym", "shuffle__ort_ts17_qdq_s16s8_ms"),
    *("tcn__fx_fbgemm", "tcn__inc_qop", "tcn__ort_qop13_u8s8_pc", "tcn__ort_ts17_onlyconv"),
    *("transf_noln__ort_dyn21_qdq_s8_pc", "transf_noln__ort_qop13_u8u8_pt", "transf_noln__ppq_trt"),
    *("unet__ort_dyn18_qop_s8_pc", "unet__ort_qop13_s8_pt", "unet__quark_A8W8"),
    *("yolo__ort_dyn21_qdq_s8w4", "yolo__ort_qop17_s8sym_pc", "yolo__quark_S8S8_AAWS"),
    *("yolo8__ort_dyn21_qdq_u16u8_pt", "yolo8__ppq_esp"),
)
"""One file of each exporter of which a file is read, and of each network."""

READ = 649
"""Of all files, at least."""

SHARES = 8
"""Parts in which the C of all files is compared with golden: one test would have no second process."""

MOST_STEPS = 2
"""Of a whole network, where errors of a step meet.  With 16 bits ONNX Runtime is as far from what float64 gives."""

NOT_YET = ("LAM-IMPORT-005", "LAM-IMPORT-007", "LAM-IMPORT-011")
"""Why others are refused: data files or operators that there are not, zero points of another type."""


def folder() -> Path:
    return shared_dir() / "models" / "dialects"


def read(path: Path) -> Graph:
    graph = import_onnx(path, mode="ort")
    verify_graph(graph)
    return graph


def layers_differ(path: Path, graph: Graph) -> list[str]:
    """Tensors that differ from ONNX Runtime's by more than one step, each layer alone on inputs of a normal law."""
    oracle = Oracle(path, graph)
    ports, _ = graph_ports(graph)
    rng = np.random.default_rng(11)
    sample: Sample = {p.name: rng.standard_normal(p.model_shape).astype(p.model_dtype) for p in ports}
    pairs = run_forced(graph, network_feeds(ports, sample), oracle.tensors(sample))
    return [tensor for tensor, pair in pairs.items() if share_equal(*pair)[2] > 1]


def outputs_differ(path: Path, graph: Graph) -> int:
    """The most by which the network's quantized outputs differ from ONNX Runtime's, in steps."""
    oracle = Oracle(path, graph)
    ports, _ = graph_ports(graph)
    rng = np.random.default_rng(11)
    sample: Sample = {p.name: rng.standard_normal(p.model_shape).astype(p.model_dtype) for p in ports}
    theirs, ours = oracle.tensors(sample), run_graph(graph, network_feeds(ports, sample))
    found = [0]
    for output in graph.outputs:
        if output.value in theirs:
            wanted = theirs[output.value]
            shifted = wanted.astype(np.int64) - (1 << 15 if wanted.dtype == np.uint16 else 0)
            found.append(share_equal(ours[output.value].reshape(wanted.shape), shifted)[2])
    return max(found)


@pytest.mark.parametrize("name", SPREAD)
def test_file_of_an_exporter_is_read(name: str) -> None:
    read(folder() / f"{name}.onnx")


@pytest.mark.parametrize("name", SPREAD[::6])
def test_each_layer_is_within_one_step_of_onnxruntime(name: str) -> None:
    path = folder() / f"{name}.onnx"
    assert not layers_differ(path, read(path))


@pytest.mark.parametrize("name", SPREAD[::7])
def test_a_network_is_within_two_steps_of_onnxruntime(name: str) -> None:
    path = folder() / f"{name}.onnx"
    assert outputs_differ(path, read(path)) <= MOST_STEPS


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
def test_every_network_that_is_read_is_golden_in_c(share: int) -> None:
    wrong: dict[str, str] = {}
    tried = 0
    for path in sorted(folder().glob("*.onnx"))[share::SHARES]:
        try:
            found = verify(path, samples=1)
        except CompileError as error:
            others = [p.text() for p in error.problems() if p.code not in NOT_YET]
            wrong |= {path.stem: others[0]} if others else {}
            continue
        tried += 1
        wrong |= {path.stem: found.first_difference.text()} if found.first_difference else {}
    assert wrong == {}
    assert tried >= 0.9 * READ // SHARES


@pytest.mark.slow
def test_every_network_is_within_two_steps_of_onnxruntime() -> None:
    wrong: dict[str, int] = {}
    for path in sorted(folder().glob("*.onnx")):
        try:
            graph = read(path)
            steps = outputs_differ(path, graph)
        except (CompileError, InvalidGraph):
            continue
        wrong |= {path.stem: steps} if steps > MOST_STEPS else {}
    assert wrong == {}


@pytest.mark.slow
def test_every_file_is_read_within_one_step_or_refused_for_a_known_reason() -> None:
    wrong: list[str] = []
    count = 0
    for path in sorted(folder().glob("*.onnx")):
        try:
            graph = read(path)
        except CompileError as error:
            wrong += [f"{path.stem}: {p.text()}" for p in error.problems() if p.code not in NOT_YET]
            continue
        count += 1
        try:
            wrong += [f"{path.stem}: {tensor}" for tensor in layers_differ(path, graph)]
        except InvalidGraph:
            wrong += [] if "__ppq_" in path.stem else [f"{path.stem}: ONNX Runtime refuses it"]
    assert not wrong
    assert count >= READ
