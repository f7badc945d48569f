"""LRN of quantized tensors: beside ONNX Runtime and float64, and C without floats."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.golden.interface import graph_ports, network_feeds
from codegen.ir.graph import Graph
from codegen.ir.quant import Array, Mode
from codegen.laws import sources_of
from tests.e2e.test_totals import TYPES, Totalled, found, imported, is_whole, written
from tests.support.sanitizers import REPORTS
from tests.support.together import check_c_is_golden
from tests.support.tools import require_tool

NEAR = {1: 2.0**-5, 2: 0.5}
"""Beyond half a step, by bytes of the result: 16 bits of the factor are as fine as 16 bits of a result are."""


def response(shape: tuple[int, ...], size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Totalled:
    """A normalization, and what float64 makes of it."""
    before = (size - 1) // 2

    def exact(x: Array) -> Array:
        wide = np.pad(x**2, [(0, 0), (before, size - 1 - before), *[(0, 0)] * (len(shape) - 2)])
        sums = np.lib.stride_tricks.sliding_window_view(wide, size, 1).sum(-1)
        return np.asarray(x / (bias + alpha / size * sums) ** beta)

    told: Mapping[str, Any] = {"size": size, "alpha": alpha, "beta": beta, "bias": bias}
    return Totalled("LRN", shape, exact, (), told)


class Large(Totalled):
    """Of numbers whose squares are most of what divides."""

    def sample(self, seed: int = 3) -> Array:
        """Of a size around 100."""
        return np.random.default_rng(seed).normal(0, 100, self.shape).astype(np.float32)


def strong(*given: Any) -> Totalled:
    plain = response(*given)
    return Large(plain.op, plain.shape, plain.exact, plain.known, plain.attributes)


UNKNOWN: Mapping[str, Totalled] = {
    "an even size": response((1, 7, 3, 4), 4, 0.1, 0.5, 2.0),
    "of rows": response((2, 8), 3, 0.4, 1.0),
    "of five axes": response((1, 6, 2, 3, 4), 5, 0.3),
    "growing": response((1, 8, 3, 4), 3, 0.2, -0.5),
}
"""What ONNX Runtime does not take."""
CASES: Mapping[str, Totalled] = {
    "plain": response((1, 12, 4, 5), 5),
    "of images": response((2, 9, 4, 5), 3, 0.2),
    "of one channel": response((1, 5, 6, 4), 1, 0.3),
    "wider than the channels": response((1, 3, 6, 4), 9, 0.3),
    **UNKNOWN,
}
STRONG: Mapping[str, Totalled] = {
    "as in networks": strong((1, 16, 4, 5), 5, 1e-4),
    "squares outweigh": strong((1, 16, 4, 5), 5, 5e-3),
}


@pytest.mark.parametrize("dtype", TYPES)
def test_each_is_within_a_step_of_onnxruntime_and_of_float64(dtype: type, tmp_path: Path) -> None:
    size = np.dtype(dtype).itemsize
    for name, case in (CASES | STRONG).items():
        steps = found(case, dtype, tmp_path, is_known=name not in UNKNOWN)
        assert is_whole(steps.graph), name
        assert np.abs(steps.golden - steps.runtime).max() < 1.01, name
        assert np.abs(steps.golden - steps.exact).max() < 0.5 + NEAR[size], name


@pytest.mark.parametrize("mode", ["tflite", "ort"])
def test_other_modes_are_as_near(mode: Mode, tmp_path: Path) -> None:
    for name, case in (CASES | STRONG).items():
        steps = found(case, np.int8, tmp_path, mode=mode, is_known=False)
        assert is_whole(steps.graph), name
        assert np.abs(steps.golden - steps.exact).max() < 0.5 + NEAR[1], name


def test_samples_do_where_squares_do_not_outweigh(tmp_path: Path) -> None:
    """Straight pieces take nine times as long as a line between two samples."""
    for name, wanted in (("as in networks", "Lut16"), ("squares outweigh", "PiecewiseLinear")):
        graph = imported(written(STRONG[name], np.int8)[0], tmp_path)
        kinds = {type(node.op).__name__ for node in graph.nodes}
        assert kinds & {"Lut16", "PiecewiseLinear"} == {wanted}


def test_where_16_bits_do_not_hold_the_factor_31_do(tmp_path: Path) -> None:
    """Of results of 16 bits that squares make small."""
    for case, wanted in ((CASES["plain"], "Mul"), *((case, "Response") for case in STRONG.values())):
        graph = imported(written(case, np.int16)[0], tmp_path)
        assert is_whole(graph)
        assert wanted in {type(node.op).__name__ for node in graph.nodes}


def test_where_squares_alone_divide_and_are_next_to_nothing_real_numbers_do(tmp_path: Path) -> None:
    assert not is_whole(imported(written(response((1, 8, 3, 4), 3, 0.2, 0.75, 0.0), np.int16)[0], tmp_path))


def test_c_is_golden_and_has_no_floats(tmp_path: Path) -> None:
    require_tool("gcc")
    graphs, feeds = list[Graph](), list[dict[str, Array]]()
    for i, case in enumerate([*CASES.values(), *STRONG.values()]):
        graph = imported(written(case, TYPES[i % 4])[0], tmp_path)
        graphs.append(graph)
        feeds.append(network_feeds(graph_ports(graph)[0], {"x": case.sample()}))
    check_c_is_golden(graphs, feeds, tmp_path / "c", ["-O1", *REPORTS.split()])
    text = "".join(Path(source).read_text() for source in sources_of(tmp_path / "c" / "project")[0])
    assert not re.search(r"\b(float|double)\b|lam_f32", text)
