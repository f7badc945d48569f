"""Clamps, tables and pads become part of their neighbour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from codegen.golden.interpreter import run_graph
from codegen.ir.quant import MODES, DType, Quant, TensorType
from codegen.ir.shape import Window
from codegen.ops import (
    Add,
    AveragePool2D,
    Clamp,
    Conv2D,
    ConvTranspose2D,
    GlobalAveragePool,
    MatMul,
    MaxPool2D,
    Mul,
    Pad,
    ResizeBilinear,
    make_requant,
)
from codegen.ops.float32 import FloatConv2D
from codegen.passes.fold_pad import fold_pad
from codegen.passes.fuse_clamp import fuse_clamp
from codegen.passes.fuse_lut import fuse_lut
from tests.passes.build import Net, Q, assert_same, names, only, requantized
from tests.support.graphs import Sketch

TWO = Window(2, 2)
WIDE = Quant(0.125, -5)
TAPS = ((0, 1, 512), (2, 3, 2048), (7, 7, 0))


def transposed(net: Net, x: str) -> str:
    """A transposed convolution to twice the size."""
    w, b = np.full((4, 2, 2, 8), 3, np.int8), np.arange(4, dtype=np.int32)
    op = ConvTranspose2D(TWO, TWO, (0, 0), 1, Q.zero_point, requantized(1 << 30, 36), DType.S8, Q)
    return net.op(op, x, net.const(w, quant=None), net.const(b, quant=None))


PRODUCERS: list[Callable[[Net, str], str]] = [
    lambda net, x: net.conv(x, 4),
    lambda net, x: net.dense(x, 4),
    lambda net, x: transposed(net, x),
    *(lambda net, x, mode=mode: net.op(Add(Q, Q, WIDE, DType.S8, -128, 127, mode), x, x) for mode in MODES),
    lambda net, x: net.mul(x, x),
    lambda net, x: net.lut(x),
    lambda net, x: net.op(Clamp(-20, 90), x),
    *(lambda net, x, m=mode: net.op(AveragePool2D(TWO, TWO, False, Q, Q, DType.S8, -128, 127, m), x) for mode in MODES),
    *(lambda net, x, m=mode: net.op(GlobalAveragePool(Q, WIDE, DType.S8, -128, 127, m), x) for mode in MODES),
    *(lambda net, x, m=mode: net.op(ResizeBilinear(TAPS, TAPS, Q, Q, DType.S8, -128, 127, m), x) for mode in MODES),
    lambda net, x: net.op(Mul(3, 3, make_requant("ort", 0.01, [1.0], Q, DType.S8), DType.S8, Q), x, x),
    lambda net, x: net.op(Mul(3, 3, make_requant("tflite", 0.01, [1.0], Q, DType.S8), DType.S8, Q), x, x),
    lambda net, x: net.op(MatMul(3, 3, requantized(1 << 30, 36), DType.S8, Q), x, x),
]


@pytest.mark.parametrize("produce", PRODUCERS)
def test_clamps_fuse_into_their_producer(produce: Callable[[Net, str], str]) -> None:
    net = Net()
    x = produce(net, net.input(1, 8, 8, 8))
    graph = net.output(net.op(Clamp(-100, 70), net.op(Clamp(-2, 60), x), name="y"))
    fused = fuse_clamp(fuse_clamp(graph))
    assert len(fused.nodes) == 1
    assert fused.nodes[0].outputs == ("y",)
    assert fused.values["y"].source == "y"
    assert fused.nodes[0].source[-1] == "m.y"
    assert x not in fused.values
    assert_same(graph, fused)


@pytest.mark.parametrize(("low", "high"), [(-128, -100), (100, 127), (5, 5)])
def test_bounds_that_do_not_meet_are_still_exact(low: int, high: int) -> None:
    net = Net()
    x = net.op(Clamp(low, high), net.op(Clamp(-20, 30), net.conv(net.input(1, 8, 8, 3), 4)))
    graph = net.output(x)
    fused = fuse_clamp(fuse_clamp(graph))
    assert names(fused) == ["Conv2D"]
    assert_same(graph, fused)


def test_relu_is_not_fused_when_value_is_a_graph_output() -> None:
    net = Net()
    x = net.conv(net.input(1, 8, 8, 3), 4)
    graph = net.output(x, net.relu(x))
    assert fuse_clamp(graph) is graph


def test_relu_is_not_fused_when_others_read_the_value() -> None:
    net = Net()
    x = net.conv(net.input(1, 8, 8, 3), 4)
    graph = net.output(net.add(x, net.relu(x)))
    assert fuse_clamp(graph) is graph


def test_relu_is_not_fused_into_what_has_no_bounds() -> None:
    net = Net()
    graph = net.output(net.relu(net.op(MaxPool2D(TWO, TWO), net.input(1, 8, 8, 3))))
    assert fuse_clamp(graph) is graph


def test_a_convolution_that_gives_its_sums_is_not_clamped() -> None:
    net = Net()
    x = net.conv(net.input(1, 8, 8, 3), 4)
    conv = net.nodes[-1].op
    assert isinstance(conv, Conv2D)
    net.nodes[-1] = replace(net.nodes[-1], op=replace(conv, requant=None, y_quant=None))
    net.values[x] = replace(net.values[x], type=TensorType((1, 8, 8, 4), DType.S32))
    graph = net.output(net.op(Clamp(0, 1000), x))
    assert fuse_clamp(graph) is graph


def test_a_clamp_of_the_whole_type_goes() -> None:
    net = Net()
    graph = net.output(net.op(Clamp(-128, 127), net.op(MaxPool2D(TWO, TWO), net.input(1, 8, 8, 3))))
    assert names(fuse_clamp(graph)) == ["MaxPool2D"]
    assert_same(graph, fuse_clamp(graph))


def test_tables_compose() -> None:
    net = Net()
    graph = net.output(net.lut(net.lut(net.relu(net.input(8, 9)), 1), 2, name="y"))
    fused = fuse_lut(fuse_lut(graph))
    assert names(fused) == ["Lut"]
    assert fused.nodes[0].source == ("m.clamp0", "m.lut1", "m.y")
    assert_same(graph, fused)


def test_tables_do_not_compose_over_an_output() -> None:
    net = Net()
    x = net.lut(net.input(8, 9), 1)
    graph = net.output(x, net.lut(x, 2))
    assert fuse_lut(graph) is graph


@pytest.mark.parametrize("kind", ["conv", "max"])
def test_a_pad_becomes_the_windows(kind: str) -> None:
    net = Net()
    value = Q.zero_point if kind == "conv" else -128
    x = net.op(Pad((0, 1, 0, 0), (0, 2, 3, 0), "constant", value), net.input(1, 8, 8, 3))
    graph = net.output(net.conv(x, 4) if kind == "conv" else net.op(MaxPool2D(TWO, TWO), x))
    folded = fold_pad(graph)
    assert names(folded) == [names(graph)[-1]]
    assert_same(graph, folded)


@pytest.mark.parametrize(
    ("bias", "weight", "value", "sums"),
    [
        (0.0, 1.0, 0.0, "separate"),
        (0.5, 1.0, -0.0, "separate"),
        (-0.0, 1.0, 0.0, ""),
        (0.0, np.inf, 0.0, ""),
        (0.0, 1.0, 0.5, ""),
        *((0.0, 1.0, 0.0, sums) for sums in ("fused", "flushed")),
    ],
)
def test_zeros_around_a_real_map_are_left_out_where_that_gives_the_same_bits(
    bias: float, weight: float, value: float, sums: str
) -> None:
    s = Sketch()
    x = s.apply(Pad((0, 1, 2, 0), (0, 2, 0, 0), "constant", value), s.input((1, 4, 4, 2), DType.F32, None))
    weights = np.full((3, 3, 3, 2), -1, np.float32)
    weights[0, 0, 0, 0], weights[1] = weight, 1e-30
    kernel, offset = s.const(weights), s.const(np.array([0.25, bias, -1], np.float32))
    op = FloatConv2D(Window(3), Window(3), 1, sums=sums or "separate")  # type: ignore[arg-type]
    graph = s.graph(s.apply(op, x, kernel, offset))
    folded = fold_pad(graph)
    assert (folded is not graph) == (sums == "separate")
    for least in (0.0, -0.0, -1.5, -1e-30):
        feeds = {"x": np.full((1, 4, 4, 2), least, np.float32)}
        before, after = (run_graph(g, feeds)[g.outputs[0].value].view(np.uint32) for g in (graph, folded))
        np.testing.assert_array_equal(before, after)


def test_pads_of_another_value_of_channels_or_with_readers_stay() -> None:
    for before, value, mode in [
        ((0, 1, 1, 0), 0, "constant"),
        ((0, 1, 1, 1), 3, "constant"),
        ((0, 1, 1, 0), 3, "edge"),
    ]:
        net = Net()
        x = net.op(Pad(before, (0, 0, 0, 0), mode, value), net.input(1, 8, 8, 3))  # type: ignore[arg-type]
        graph = net.output(net.conv(x, 4))
        assert fold_pad(graph) is graph
    net = Net()
    x = net.op(Pad((0, 1, 1, 0), (0, 0, 0, 0), "constant", 3), net.input(1, 8, 8, 3))
    graph = net.output(net.conv(x, 4), net.lut(x))
    assert fold_pad(graph) is graph
    assert len(only(graph, Conv2D)) == 1
