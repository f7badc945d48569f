"""Comparisons, LogSoftmax and GridSample of 16-bit numbers stay integers, and give what ONNX Runtime gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.frontends.onnx import import_onnx
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from tests.support.outsider import ort_session

from .models import Net, saved

COUNT = 5000


def both(net: Net, y: str, feeds: dict[str, Array], folder: Path) -> tuple[Graph, Array, Array]:
    """The graph, its numbers, and ONNX Runtime's."""
    model = net.model(y, opset=21, ir_version=10)
    graph = import_onnx(saved(model, folder), mode="single", io_type="model", io_layout="model")
    found = run_graph(graph, network_feeds(graph_ports(graph)[0], feeds))[graph.outputs[0].value]
    (wanted,) = ort_session(model).run(None, feeds)
    return graph, np.asarray(found).reshape(wanted.shape), wanted


@pytest.mark.parametrize("kind", ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"])
@pytest.mark.parametrize(("a", "b"), [((0.1, 0), (0.3, 0)), ((0.0007, 5), (0.0021, -9)), ((1e-5, 0), (1.0, 0))])
def test_two_meanings_are_compared_as_their_float32_numbers(
    kind: str, a: tuple[float, int], b: tuple[float, int], tmp_path: Path
) -> None:
    net, rng = Net(), np.random.default_rng(4)
    sides = [net.qdq(net.input((COUNT,), name=n), *q, np.int16) for n, q in (("a", a), ("b", b))]
    whole = rng.integers(-9000, 9000, COUNT)
    # every second pair is as good as equal, as far as float32 says
    near = (whole * np.float32(b[0])).astype(np.float32)
    far = near.copy()
    far[::2] += rng.normal(0, 3 * b[0], COUNT // 2).astype(np.float32)
    graph, found, wanted = both(net, net.op(kind, *sides), {"a": near, "b": far}, tmp_path)
    assert np.array_equal(found.astype(bool), wanted)
    assert [type(n.op).__name__ for n in graph.nodes if "Compare" in type(n.op).__name__] == ["Compare"]
    assert "Dequantize" not in {type(n.op).__name__ for n in graph.nodes}


@pytest.mark.parametrize("spread", [0.3, 4.0, 60.0])
def test_logarithms_of_softmax_are_within_a_step(spread: float, tmp_path: Path) -> None:
    net, rng = Net(), np.random.default_rng(5)
    x = rng.normal(0, spread, (64, 17)).astype(np.float32)
    scale = float(np.float32(np.abs(x).max() / 32767))
    reach = float(np.ptp(x, axis=-1).max() + 3)
    read = net.qdq(net.input(x.shape), scale, 0, np.int16)
    y = net.qdq(net.op("LogSoftmax", read, axis=-1), reach / 65535, 32767, np.int16)
    graph, found, wanted = both(net, y, {"x": x}, tmp_path)
    assert np.abs(found - wanted).max() <= 1.01 * reach / 65535
    assert "LogSoftmax" in {type(n.op).__name__ for n in graph.nodes}


def test_a_map_read_between_pixels_is_within_a_step(tmp_path: Path) -> None:
    net, rng = Net(), np.random.default_rng(6)
    x, grid = (rng.uniform(-1, 1, s).astype(np.float32) for s in ((1, 3, 9, 8), (1, 20, 30, 2)))
    read = net.qdq(net.input(x.shape), 1 / 32767, 0, np.int16)
    y = net.qdq(net.op("GridSample", read, net.const(grid)), 1 / 32767, 0, np.int16)
    graph, found, wanted = both(net, y, {"x": x}, tmp_path)
    assert np.abs(found - wanted).max() <= 1.01 / 32767
    assert "Rescale" in {type(n.op).__name__ for n in graph.nodes}
