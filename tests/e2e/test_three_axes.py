"""Means and cubic interpolation of 16-bit tensors over three axes and more: near real numbers, and C without floats."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from codegen.build import Net
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array, Mode
from codegen.laws import sources_of
from tests.e2e.test_totals import imported, is_whole
from tests.support.outsider import ort_session
from tests.support.sanitizers import REPORTS
from tests.support.together import check_c_is_golden
from tests.support.tools import require_tool

SCALE, FINER = 2.0**-12, 0.7
Told = Mapping[str, Any]
POOLS: Mapping[str, tuple[tuple[int, ...], Told]] = {
    "windows of five": ((1, 3, 6, 5, 7), {"kernel_shape": [5, 5, 5], "pads": [2] * 6}),
    "of images": ((2, 2, 7, 6, 5), {"kernel_shape": [4, 3, 5], "strides": [2, 1, 2], "pads": [1, 1, 2, 2, 0, 2]}),
    "with holes": ((1, 18, 5, 6, 7), {"kernel_shape": [4, 4, 3], "dilations": [2, 1, 2], "pads": [3, 2, 2, 3, 2, 2]}),
    "over four": ((1, 2, 4, 5, 4, 5), {"kernel_shape": [4, 1, 5, 3], "pads": [2, 0, 2, 1] * 2}),
}
RESIZES: Mapping[str, tuple[tuple[int, ...], Told]] = {
    "larger": ((1, 3, 4, 3, 5), {"sizes": [7, 6, 8]}),
    "of images": ((2, 2, 5, 4, 3), {"sizes": [3, 7, 6], "coordinate_transformation_mode": "align_corners"}),
    "smaller": ((1, 2, 9, 8, 7), {"sizes": [4, 3, 5], "antialias": 1, "cubic_coeff_a": -0.5}),
    "without what lies outside": ((1, 2, 4, 5, 4), {"sizes": [6, 6, 6], "exclude_outside": 1}),
    "over four": ((1, 1, 3, 4, 3, 4), {"sizes": [5, 3, 4, 6]}),
    "of the first axis alone": ((1, 2, 4, 5, 6), {"sizes": [7, 5, 6]}),
}
CASES = {**{f"pool {name}": case for name, case in POOLS.items()}, **{f"resize {n}": c for n, c in RESIZES.items()}}


def made_by(net: Net, x: Any, name: str) -> Any:
    """The operator of a case."""
    shape, told = CASES[name]
    if name.startswith("pool"):
        return net.onnx.AveragePool(x, **told)
    attributes = {"mode": "cubic", "axes": list(range(2, len(shape))), **told}
    sizes = np.array(attributes.pop("sizes"), np.int64)
    return net.onnx.Resize(x, None, None, sizes, **attributes)


def written(name: str, dtype: type) -> onnx.ModelProto:
    """As a QDQ file, with zero points of their own."""
    zeros = (30000, 29000) if np.iinfo(dtype).min == 0 else (77, -900)
    net = Net("axes")
    x = net.quantized(net.input("x", CASES[name][0]), SCALE, zeros[0], dtype)
    net.output(net.quantized(made_by(net, x, name), SCALE * FINER, zeros[1], dtype), "y")
    return onnx.load_from_string(net.to_onnx())


def sample(name: str) -> Array:
    """Numbers that a tensor's steps stand for, some of them at their ends."""
    rng = np.random.default_rng(4)
    steps = rng.normal(0, 9000, CASES[name][0]).round().clip(-30000, 30000)
    return np.where(rng.random(steps.shape) < 0.2, np.sign(steps) * 30000, steps).astype(np.float32) * np.float32(SCALE)


def real(name: str, x: Array) -> Array:
    """What ONNX Runtime makes of them, or ONNX's own definition of what that does not have."""
    net = Net("axes")
    net.output(made_by(net, net.input("x", CASES[name][0]), name), "y")
    model = onnx.load_from_string(net.to_onnx())
    runner = ort_session(model) if name.startswith("pool") and x.ndim == 5 else ReferenceEvaluator(model)
    return np.asarray(runner.run(None, {"x": x})[0], np.float64)


@pytest.mark.parametrize("mode", ["single", "tflite", "ort"])
def test_each_is_within_a_step_of_real_numbers(mode: Mode, tmp_path: Path) -> None:
    for i, name in enumerate(CASES):
        dtype, x = (np.int16, np.uint16)[i % 2], sample(name)
        graph = imported(written(name, dtype), tmp_path, mode)
        assert is_whole(graph), name
        port = graph.outputs[0]
        quant = graph.type(port.value).quant
        assert quant is not None
        steps = run_graph(graph, network_feeds(graph_ports(graph)[0], {"x": x}))[port.value]
        wanted = (real(name, x) / quant.scale + quant.zero_point).clip(-32768, 32767)
        assert np.abs(steps.reshape(wanted.shape) - wanted).max() < 1.01, name


def test_c_is_golden_and_has_no_floats(tmp_path: Path) -> None:
    require_tool("gcc")
    graphs, feeds = list[Graph](), list[dict[str, Array]]()
    for name in CASES:
        graphs.append(imported(written(name, np.int16), tmp_path))
        feeds.append(network_feeds(graph_ports(graphs[-1])[0], {"x": sample(name)}))
    check_c_is_golden(graphs, feeds, tmp_path / "c", ["-O1", *REPORTS.split()])
    text = "".join(Path(source).read_text() for source in sources_of(tmp_path / "c" / "project")[0])
    assert not re.search(r"\b(float|double)\b|lam_f32", text)
