"""Random models of one operator: the golden model gives TFLite Micro's bytes, and the C the golden model's.

TFLite Micro's interpreter runs here with its reference kernels, for uint8 LiteRT's.  What is known to differ stands in
docs/tflite.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tflite

from codegen.emit import write_project
from codegen.errors import ModelRejected
from codegen.frontends.tflite import import_tflite
from codegen.frontends.tflite.real.translators import SETTLED
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import Stepper
from codegen.host import Network
from codegen.ir.quant import Array, Mode
from codegen.pipeline import Options, compile_file
from tests.support.detection_cases import OPERATOR as DETECTIONS
from tests.support.pose_cases import OPERATOR as POSES
from tests.support.signal_cases import SIGNAL_NAMES
from tests.support.tflite_cases import LITERT_ONLY, MAKERS, Drawn, draw, slack
from tests.support.tflite_models import run_litert, run_tflm
from tests.support.tflite_state_cases import STATE_MAKERS, TOGETHER
from tests.support.tools import require_module

PAIRS = [(name, kind) for name, (_, kinds) in MAKERS.items() for kind in kinds]
ON_PAIRS = pytest.mark.parametrize(("name", "kind"), PAIRS, ids=lambda v: v)


def golden(case: Drawn, folder: Path, mode: Mode = "tflite") -> list[list[Array]]:
    """The golden model's outputs for the case's inputs, step by step; QUANTIZE and DEQUANTIZE at the borders kept."""
    path = folder / "case.tflite"
    path.write_bytes(case.data)
    graph = import_tflite(path, mode=mode, io_type="model")
    ports, results = graph_ports(graph)
    found, stepper = [], Stepper(graph)
    for inputs in case.inputs:
        values = stepper.run(network_feeds(ports, {p.name: x for p, x in zip(ports, inputs, strict=True)}))
        found.append([port.to_model(values[port.value]) for port in results])
    return found


def check_golden(case: Drawn, kind: str, seed: int, folder: Path, name: str = "") -> None:
    run = run_litert if kind == "uint8" or name in LITERT_ONLY else run_tflm
    expected = run(case.data, *case.inputs)
    for number, (want, have) in enumerate(zip(expected, golden(case, folder), strict=True)):
        for x, y in zip(want, have, strict=True):
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            assert differing(x, y, slack(name, kind)) == 0, f"seed {seed}, inputs {number}"


def differing(x: Array, y: Array, slack: int) -> int:
    """Numbers that are further apart than `slack`."""
    return int((np.abs(x.astype(np.int64) - y.astype(np.int64)) > slack).sum()) if slack else int((x != y).sum())


def check_c(case: Drawn, seed: int, folder: Path) -> None:
    expected = golden(case, folder)
    made = compile_file(folder / "case.tflite", Options(io_type="model", vectors=0))
    write_project(folder / "c", made.files)
    with Network(folder / "c", flags=("-O1",)) as net:
        for number, (inputs, want) in enumerate(zip(case.inputs, expected, strict=True)):
            outputs = net.run({p.name: x for p, x in zip(net.inputs, inputs, strict=True)})
            for x, y in zip(want, outputs.values(), strict=True):
                assert np.array_equal(x, y), f"seed {seed}, inputs {number}"


def test_every_operator_that_is_read_has_cases() -> None:
    assert set(SETTLED) - WITHOUT_ORACLE <= {*MAKERS, *STATE_MAKERS, *TOGETHER, *SIGNAL_NAMES, DETECTIONS, POSES}


WITHOUT_ORACLE = {"NEG", "FILL", "RANK", "SHAPE", "ZEROS_LIKE"}
"""Operators that TFLite Micro has for real numbers only, and those that are constants (test_tflite_constants.py)."""


@pytest.mark.one_in(2)
@ON_PAIRS
def test_golden_is_tflite_micro(name: str, kind: str, tmp_path: Path) -> None:
    require_module("tflite_micro", "ai_edge_litert")
    for seed in range(6):
        check_golden(draw(name, kind, seed), kind, seed, tmp_path, name)


def test_resize_of_16_bits_is_litert(tmp_path: Path) -> None:
    """TFLite Micro has RESIZE_BILINEAR of 8 bits only."""
    require_module("ai_edge_litert")
    for seed in range(8):
        case = draw("RESIZE_BILINEAR", "int16", seed)
        for want, have in zip(run_litert(case.data, *case.inputs), golden(case, tmp_path), strict=True):
            assert all(np.array_equal(x, y) for x, y in zip(want, have, strict=True))


@pytest.mark.one_in(12)
@ON_PAIRS
def test_c_is_golden(name: str, kind: str, tmp_path: Path) -> None:
    check_c(draw(name, kind, 1), 1, tmp_path)


@pytest.mark.parametrize("name", ["CONV_2D", "FULLY_CONNECTED"])
def test_a_bias_of_32_bits_means_sums_of_32_bits(name: str, tmp_path: Path) -> None:
    require_module("tflite_micro")
    seeds = [seed for seed in range(80) if _has_int32(draw(name, "int16", seed))]
    assert len(seeds) >= 6
    for seed in seeds:
        check_golden(draw(name, "int16", seed), "int16", seed, tmp_path, name)
    check_c(draw(name, "int16", seeds[0]), seeds[0], tmp_path)


def _has_int32(case: Drawn) -> bool:
    graph = tflite.Model.GetRootAs(case.data, 0).Subgraphs(0)
    return any(graph.Tensors(i).Type() == tflite.TensorType.INT32 for i in range(graph.TensorsLength()))


@pytest.mark.slow
@ON_PAIRS
def test_golden_is_tflite_micro_on_many(name: str, kind: str, tmp_path: Path) -> None:
    require_module("tflite_micro", "ai_edge_litert")
    refused = 0
    for seed in range(100, 250):
        try:
            check_golden(draw(name, kind, seed), kind, seed, tmp_path, name)
        except ModelRejected as error:  # blocks that are no dilation are images of a batch
            if not name.endswith("_IN_BLOCKS") or "LAM-OPS-CONV-01" not in error.text():
                raise
            refused += 1
    assert refused <= 15


@pytest.mark.slow
@ON_PAIRS
def test_c_is_golden_on_many(name: str, kind: str, tmp_path: Path) -> None:
    for seed in range(10, 22):
        folder = tmp_path / str(seed)
        folder.mkdir()
        check_c(draw(name, kind, seed), seed, folder)
