"""Mod of quantized tensors: ONNX Runtime's numbers, and C without floats."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from codegen.build import Net
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.laws import sources_of
from tests.e2e.test_totals import TYPES, imported, is_whole
from tests.support.outsider import ort_session
from tests.support.sanitizers import REPORTS
from tests.support.together import check_c_is_golden
from tests.support.tools import require_tool

SHAPE = (2, 40, 6)
SCALE = 2.0**-6
"""Of which every multiple is a float32 number: ONNX Runtime's remainders are exact as well."""


def model_of(
    dtype: type, divisor: tuple[int, ...], scales: tuple[float, float] = (SCALE, SCALE), result: float = SCALE / 2
) -> onnx.ModelProto:
    """X modulo what another input is, whose steps are no 0, with zero points of their own."""
    zeros = (100, 10) if np.iinfo(dtype).min == 0 else (7, -20)
    net = Net("mod")
    op: Any = net.onnx
    shapes = {"x": SHAPE, "y": divisor}
    x, y = (net.quantized(net.input(n, shapes[n]), scales[i], zeros[i], dtype) for i, n in enumerate("xy"))
    net.output(net.quantized(op.Mod(x, y, fmod=1), result, zeros[0], dtype), "z")
    return onnx.load_from_string(net.to_onnx())


def samples(divisor: tuple[int, ...]) -> dict[str, Array]:
    rng = np.random.default_rng(8)
    sizes = rng.integers(1, 60, divisor) * rng.choice([-1, 1], divisor) * SCALE
    return {"x": rng.normal(0, 1.5, SHAPE).astype(np.float32), "y": np.maximum(sizes, -9 * SCALE).astype(np.float32)}


def is_equal(graph: Graph, model: onnx.ModelProto, feeds: dict[str, Array], given: dict[str, Array]) -> bool:
    (wanted,) = ort_session(model).run(None, given)
    port = graph.outputs[0]
    quant = graph.type(port.value).quant
    assert quant is not None
    made = run_graph(graph, feeds)[port.value].reshape(wanted.shape).astype(np.float32) - quant.zero_point
    return np.array_equal(made * np.float32(quant.scale), wanted)


def test_remainders_of_one_scale_are_onnxruntimes_and_golden_in_c(tmp_path: Path) -> None:
    """Of tensors of one shape, and of one that is repeated."""
    require_tool("gcc")
    graphs, feeds = list[Graph](), list[dict[str, Array]]()
    for dtype in TYPES:
        for divisor in (SHAPE, (40, 1)):
            model, given = model_of(dtype, divisor), samples(divisor)
            graph = imported(model, tmp_path)
            assert is_whole(graph)
            graphs.append(graph)
            feeds.append(network_feeds(graph_ports(graph)[0], given))
            assert is_equal(graph, model, feeds[-1], given), (dtype, divisor)
    check_c_is_golden(graphs, feeds, tmp_path / "c", ["-O1", *REPORTS.split()])
    text = "".join(Path(source).read_text() for source in sources_of(tmp_path / "c" / "project")[0])
    assert not re.search(r"\b(float|double)\b|lam_f32", text)


def of_a_number(number: float, dtype: type, *, is_divisor: bool) -> onnx.ModelProto:
    """X modulo a number, or a number modulo x."""
    net = Net("mod")
    op: Any = net.onnx
    x = net.quantized(net.input("x", SHAPE), 1 / 99, dtype=dtype)
    made = op.Mod(*((x, np.float32(number)) if is_divisor else (np.float32(number), x)), fmod=1)
    net.output(net.quantized(made, number / 100, dtype=dtype), "y")
    return onnx.load_from_string(net.to_onnx())


@pytest.mark.parametrize("number", [0.3, 1 / 99, 0.77])
def test_remainders_by_a_number_are_those_of_float32(number: float, tmp_path: Path) -> None:
    """Where multiples of the scale are none of the number only because they are rounded."""
    steps = np.delete(np.arange(-128, 128), 128).astype(np.float32)
    x = {"x": np.resize(steps / 99, SHAPE).astype(np.float32)}
    for is_divisor in (True, False):
        model = of_a_number(number, np.int8, is_divisor=is_divisor)
        graph = imported(model, tmp_path)
        assert is_whole(graph)
        assert is_equal(graph, model, network_feeds(graph_ports(graph)[0], x), x)


def test_remainders_of_words_have_integers_where_few_pieces_make_them(tmp_path: Path) -> None:
    assert is_whole(imported(of_a_number(0.7, np.int16, is_divisor=True), tmp_path))
    assert not is_whole(imported(of_a_number(0.1, np.int16, is_divisor=True), tmp_path))
    assert not is_whole(imported(of_a_number(0.7, np.int16, is_divisor=False), tmp_path))


def test_results_of_tiny_steps_are_real_numbers(tmp_path: Path) -> None:
    net = Net("mod")
    op: Any = net.onnx
    x, y = (net.quantized(net.input(n, SHAPE), SCALE) for n in "xy")
    net.output(net.quantized(op.Mod(x, y, fmod=1), SCALE * 2.0**-14), "z")
    assert not is_whole(imported(onnx.load_from_string(net.to_onnx()), tmp_path))


SCALES = ((0.1, 0.3), (0.3, 0.1), (SCALE, SCALE / 3), (0.013, 0.002), (0.02, 0.75), (2.0**-9, 0.011), (1 / 3, 0.5))
"""Of two tensors: of some, multiples of one are nearly multiples of the other."""
RESULT = 0.0073
"""Of which no half is a remainder, as ties are rounded up here and to even there."""


def steps_of(scales: tuple[float, float], dtype: type, divisor: tuple[int, ...]) -> dict[str, Array]:
    """Numbers of the types' own steps, so that nothing is rounded before the remainder; no divisor is 0."""
    rng, ends = np.random.default_rng(9), np.iinfo(dtype)
    zeros = (100, 10) if ends.min == 0 else (7, -20)
    x = rng.integers(ends.min, ends.max, SHAPE, endpoint=True) - zeros[0]
    y = rng.integers(ends.min, ends.max, divisor, endpoint=True) - zeros[1]
    y = np.where(rng.random(divisor) < 0.5, y % 31 + 1, y)
    given = {"x": x, "y": np.where(y == 0, 1, y)}
    return {n: v.astype(np.float32) * np.float32(s) for (n, v), s in zip(given.items(), scales, strict=True)}


@pytest.mark.parametrize("dtype", TYPES)
def test_remainders_of_two_scales_are_onnxruntimes(dtype: type, tmp_path: Path) -> None:
    """Those of float32, however near quotients are to whole numbers."""
    for scales in SCALES:
        model, given = model_of(dtype, SHAPE, scales, RESULT), steps_of(scales, dtype, SHAPE)
        graph = imported(model, tmp_path)
        assert is_whole(graph), scales
        (wanted,) = ort_session(model).run(None, given)
        port = graph.outputs[0]
        quant = graph.type(port.value).quant
        assert quant is not None
        made = run_graph(graph, network_feeds(graph_ports(graph)[0], given))[port.value].reshape(wanted.shape)
        steps = wanted.astype(np.float64) / quant.scale - (made.astype(np.float64) - quant.zero_point)
        assert np.abs(steps).max() < 0.01, scales


def test_c_of_two_scales_is_golden_and_has_no_floats(tmp_path: Path) -> None:
    require_tool("gcc")
    graphs, feeds = list[Graph](), list[dict[str, Array]]()
    for i, scales in enumerate(SCALES):
        dtype, divisor = TYPES[i % len(TYPES)], (SHAPE, (40, 1))[i % 2]
        graphs.append(imported(model_of(dtype, divisor, scales), tmp_path))
        feeds.append(network_feeds(graph_ports(graphs[-1])[0], steps_of(scales, dtype, divisor)))
    check_c_is_golden(graphs, feeds, tmp_path / "c", ["-O1", *REPORTS.split()])
    text = "".join(Path(source).read_text() for source in sources_of(tmp_path / "c" / "project")[0])
    assert not re.search(r"\b(float|double)\b|lam_f32", text)


def test_scales_far_apart_are_real_numbers(tmp_path: Path) -> None:
    assert not is_whole(imported(model_of(np.int16, SHAPE, (0.1, 3e-9)), tmp_path))
