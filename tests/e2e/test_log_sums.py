"""Logarithms of sums, of numbers and of exponentials: beside ONNX Runtime and float64, and C without floats."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array, Mode
from codegen.laws import sources_of
from tests.e2e.test_totals import TYPES, Totalled, found, imported, is_whole, written
from tests.support.sanitizers import REPORTS
from tests.support.together import check_c_is_golden
from tests.support.tools import require_tool

NEAR = {1: 2.0**-6, 2: 0.45}
"""Beyond half a step, by bytes: the 16 bits of LogSoftmax are as fine as a result of 16 bits is."""


class Positive(Totalled):
    """Of numbers whose sums have a logarithm, over four decades."""

    def sample(self, seed: int = 3) -> Array:
        """Few large ones."""
        return (10 ** np.random.default_rng(seed).uniform(-4, 0, self.shape)).astype(np.float32)


class Spread(Totalled):
    """Of numbers that lie far apart, so that few exponentials count."""

    def sample(self, seed: int = 3) -> Array:
        """Of a size around 8."""
        return np.random.default_rng(seed).normal(0, 8, self.shape).astype(np.float32)


def log_of_sum(shape: tuple[int, ...], axes: tuple[int, ...], keep: int = 0) -> Totalled:
    def exact(x: Array) -> Array:
        with np.errstate(divide="ignore"):  # what only holds small numbers is nothing but zeros in 8 bits
            return np.asarray(np.log(x.sum(axes)))

    return Positive("ReduceLogSum", shape, exact, (np.array(axes, np.int64),), {"keepdims": keep})


def log_of_exponentials(
    shape: tuple[int, ...], axes: tuple[int, ...], keep: int = 0, of: type[Totalled] = Totalled
) -> Totalled:
    known = (np.array(axes, np.int64),)
    return of("ReduceLogSumExp", shape, lambda x: np.log(np.exp(x).sum(axes)), known, {"keepdims": keep})


CASES: Mapping[str, Totalled] = {
    **{f"{axes}": log_of_sum((1, 5, 6, 7), axes, i % 2) for i, axes in enumerate([(1,), (2,), (3,), (2, 3), (1, 3)])},
    "all": log_of_sum((3, 4, 5), (0, 1, 2)),
    "many": log_of_sum((2, 3000), (1,)),
    **{
        f"exp {axes}": log_of_exponentials((1, 5, 6, 7), axes, i % 2)
        for i, axes in enumerate([(1,), (2,), (3,), (2, 3), (1, 3)])
    },
    "exp of all": log_of_exponentials((3, 4, 5), (0, 1, 2)),
    "exp of one": log_of_exponentials((3, 1, 5), (1,)),
    "exp of many": log_of_exponentials((2, 3000), (1,)),
    "exp of numbers far apart": log_of_exponentials((4, 30), (1,), of=Spread),
}


@pytest.mark.parametrize("dtype", TYPES)
def test_each_is_within_a_step_of_onnxruntime_and_of_float64(dtype: type, tmp_path: Path) -> None:
    for name, case in CASES.items():
        steps = found(case, dtype, tmp_path)
        assert is_whole(steps.graph), name
        assert np.abs(steps.golden - steps.runtime).max() < 1.01, name
        assert np.abs(steps.golden - steps.exact).max() < 0.5 + NEAR[np.dtype(dtype).itemsize], name


@pytest.mark.parametrize("mode", ["tflite", "ort"])
def test_other_modes_are_as_near(mode: Mode, tmp_path: Path) -> None:
    for name in ("(2,)", "exp (2,)", "many", "exp of numbers far apart"):
        steps = found(CASES[name], np.int8, tmp_path, mode=mode)
        assert is_whole(steps.graph), name
        assert np.abs(steps.golden - steps.exact).max() < 0.5 + NEAR[1], name


def test_what_has_no_logarithm_is_the_lowest_number(tmp_path: Path) -> None:
    model, _, _ = written(log_of_sum((4, 3), (1,)), np.int8)
    graph = imported(model, tmp_path)
    x = np.array([[0, 0, 0], [-5, 2, 1], [-128, -128, -128], [90, -1, 1]], np.int8)
    given = {graph.inputs[0].value: x}
    (made,) = (run_graph(graph, given)[p.value].reshape(-1) for p in graph.outputs)
    assert made[:3].tolist() == [-128] * 3
    assert made[3] > -128


def test_sums_that_32_bits_may_not_hold_and_long_rows_of_exponentials_stay_real_numbers(tmp_path: Path) -> None:
    assert not is_whole(imported(written(log_of_sum((1, 70000), (1,)), np.int16)[0], tmp_path))
    assert is_whole(imported(written(log_of_sum((1, 70000), (1,)), np.int8)[0], tmp_path))
    assert not is_whole(imported(written(log_of_exponentials((1, 5000), (1,)), np.int8)[0], tmp_path))


@pytest.mark.parametrize("finer", [1e-5, 1e9])
def test_results_of_scales_far_from_their_range_are_taken_too(finer: float, tmp_path: Path) -> None:
    """By real numbers where the sum of two scales does not reach so far."""
    for name in ("(2,)", "exp (2,)"):
        steps = found(CASES[name], np.int16, tmp_path, finer)
        assert np.abs(steps.golden - steps.runtime).max() < 1.01, name


def test_c_is_golden_and_has_no_floats(tmp_path: Path) -> None:
    require_tool("gcc")
    graphs, feeds = list[Graph](), list[dict[str, Array]]()
    for i, case in enumerate(CASES.values()):
        graph = imported(written(case, TYPES[i % len(TYPES)])[0], tmp_path)
        graphs.append(graph)
        feeds.append(network_feeds(graph_ports(graph)[0], {"x": case.sample()}))
    check_c_is_golden(graphs, feeds, tmp_path / "c", ["-O1", *REPORTS.split()])
    text = "".join(Path(source).read_text() for source in sources_of(tmp_path / "c" / "project")[0])
    assert "lam_log(" in text
    assert not re.search(r"\b(float|double)\b|lam_f32", text)
