"""The spellings of a product with dynamically quantized inputs, and what is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from codegen.errors import ModelRejected
from codegen.frontends.onnx.real import read_real
from codegen.golden.interpreter import run_graph
from codegen.ir.quant import Array
from codegen.real.engine import RealEngine

from .models import MICROSOFT, Net, imported, oracle, saved

U8 = np.uint8
Scaled = Callable[[Net, str, str, str], str]


def inner(net: Net, y: str, x: str, w: str) -> str:
    return str(net.op("Mul", y, net.op("Mul", x, w)))


SPELLINGS: dict[str, Scaled] = {
    "as ONNX Runtime": inner,
    "scales first": lambda net, y, x, w: net.op("Mul", net.op("Mul", w, x), y),
    "weights' scale first": lambda net, y, x, w: net.op("Mul", net.op("Mul", y, w), x),
    "input's scale first": lambda net, y, x, w: net.op("Mul", w, net.op("Mul", x, y)),
}


def rounded(net: Net, x: str) -> list[str]:
    return list(net.op("DynamicQuantizeLinear", x, outputs=3))


def dense(net: Net, q: list[str], ints: Array, zero: Array | None, scale: Any, way: Scaled = inner) -> str:
    given = () if zero is None else (net.const(zero),)
    y = net.op("Cast", net.op("MatMulInteger", q[0], net.const(ints), q[2], *given), to=1)
    return way(net, y, q[1], net.const(scale, np.float32))


def numbers(model: onnx.ModelProto, folder: Path, x: Array) -> Array:
    """Those of the model as it is read; no value in it is an integer that is computed."""
    graph = read_real(saved(model, folder))
    assert not any(v.data is None and v.type.dtype.kind in "iu" for v in graph.values.values())
    assert any("take their inputs as they are" in note for note in graph.notes)
    return next(iter(RealEngine(graph).run({"x": x}).values()))


def agrees(model: onnx.ModelProto, folder: Path, x: Array, wanted: Array, weights: Array) -> None:
    """With the product of real numbers, and with ONNX Runtime's as far as it rounds inputs."""
    found, (theirs,) = numbers(model, folder, x), oracle(model, {"x": x})
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())
    step = (max(x.max(), 0) - min(x.min(), 0)) / 255
    assert (np.abs(found - theirs) <= step * np.abs(weights).sum() + 1e-5).all()


X = np.random.default_rng(3).standard_normal((3, 12)).astype(np.float32)


@pytest.mark.parametrize("way", SPELLINGS)
@pytest.mark.parametrize("dtype", [np.int8, U8])
@pytest.mark.parametrize("each", [False, True])
def test_product(way: str, dtype: Any, each: bool, tmp_path: Path) -> None:
    net = Net()
    q, ints = rounded(net, net.input(X.shape)), net.ints(12, 5, low=0, high=120, dtype=dtype)
    scale = np.linspace(0.01, 0.05, 5, dtype=np.float32) if each else np.float32(0.02)
    zero = np.arange(3, 8).astype(dtype) if each else np.asarray(7, dtype)
    weights = (ints.astype(np.float32) - zero) * scale
    model = net.model(dense(net, q, ints, zero, scale, SPELLINGS[way]))
    agrees(model, tmp_path, X, X @ weights, np.abs(weights).sum(0).max())


def test_weights_without_a_zero_point_and_one_rounding_for_several_products(tmp_path: Path) -> None:
    net = Net()
    q, ints, zero = rounded(net, net.input(X.shape)), net.ints(12, 5), np.asarray(3, np.int8)
    parts = [dense(net, q, ints, given, np.float32(0.02)) for given in (None, zero)]
    weights = (2 * ints.astype(np.float32) - 3) * np.float32(0.02)
    agrees(net.model(net.op("Add", *parts)), tmp_path, X, X @ weights, 2 * np.abs(weights).sum(0).max())


@pytest.mark.parametrize("dtype", [np.int8, U8])
@pytest.mark.parametrize("each", [False, True])
def test_convolution(dtype: type, each: bool, tmp_path: Path) -> None:
    net, x = Net(), np.random.default_rng(2).standard_normal((1, 4, 6, 6)).astype(np.float32)
    (q, x_scale, x_zero), ints = rounded(net, net.input(x.shape)), net.ints(6, 2, 3, 3, low=0, high=120, dtype=dtype)
    scale = np.linspace(0.01, 0.05, 6, dtype=np.float32).reshape(1, 6, 1, 1) if each else np.float32(0.02)
    y = net.op("ConvInteger", q, net.const(ints), x_zero, net.const(9, dtype), group=2, pads=[1] * 4)
    made = net.model(inner(net, net.op("Cast", y, to=1), x_scale, net.const(scale)))
    weights = (ints.astype(np.float32) - 9) * (scale.reshape(6, 1, 1, 1) if each else scale)
    real = Net()
    float_one = real.model(real.op("Conv", real.input(x.shape), real.const(weights), group=2, pads=[1] * 4))
    agrees(made, tmp_path, x, oracle(float_one, {"x": x})[0], np.abs(weights).sum((1, 2, 3)).max())


def test_factors_that_are_no_scales_of_weights_are_multiplied_to_the_result(tmp_path: Path) -> None:
    net = Net()
    q, ints, factors = rounded(net, net.input(X.shape)), net.ints(12, 5), np.array([[0.1], [-0.2], [0.3]], np.float32)
    model = net.model(dense(net, q, ints, np.asarray(2, np.int8), factors))
    weights = ints.astype(np.float32) - 2
    agrees(model, tmp_path, X, X @ weights * factors, 0.3 * np.abs(weights).sum(0).max())


def test_two_computed_sides(tmp_path: Path) -> None:
    net = Net()
    x = net.input(X.shape)
    left, right = rounded(net, x), rounded(net, net.op("Transpose", x, perm=[1, 0]))
    y = net.op("Cast", net.op("MatMulInteger", left[0], right[0], left[2], right[2]), to=1)
    found = numbers(net.model(net.op("Mul", y, net.op("Mul", left[1], right[1]))), tmp_path, X)
    np.testing.assert_allclose(found, X @ X.T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bias", [False, True])
def test_products_that_take_the_scales_back_themselves(bias: bool, tmp_path: Path) -> None:
    ints, scale = Net().ints(12, 5), np.linspace(0.01, 0.05, 5, dtype=np.float32)
    zero, b, weights = np.arange(5).astype(np.int8), np.arange(1, 6).astype(np.float32), (ints - np.arange(5)) * scale
    for name in ("DynamicQuantizeMatMul", "MatMulIntegerToFloat"):
        net = Net()
        x = net.input(X.shape)
        w, s, z, c = net.const(ints), net.const(scale), net.const(zero), net.const(b) if bias else ""
        q = rounded(net, x) if name != "DynamicQuantizeMatMul" else []
        given = (q[0], w, q[1], s, q[2], z, c) if q else (x, w, s, z, c)
        model = net.model(net.op(name, *given, domain=MICROSOFT))
        graph = read_real(saved(model, tmp_path))
        found, (theirs,) = next(iter(RealEngine(graph).run({"x": X}).values())), oracle(model, {"x": X})
        np.testing.assert_allclose(found, X @ weights + bias * b, rtol=1e-5, atol=1e-5)
        assert np.abs(found - theirs).max() <= np.ptp(X) / 255 * np.abs(weights).sum(0).max()


LSTM_X = np.random.default_rng(5).standard_normal((4, 1, 6)).astype(np.float32)


@pytest.mark.parametrize("dtype", [np.int8, U8])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("each", [False, True])
def test_lstm(dtype: Any, direction: str, each: bool, tmp_path: Path) -> None:
    """Its weights are turned, with a scale and a zero point for each direction, or for each of their rows.

    ONNX Runtime wants zero points of rows to be the same, and 0 for int8.
    """
    directions, hidden, rows = 1 + (direction == "bidirectional"), 5, 20
    count = (directions, rows) if each else (directions,)
    words: dict[str, Any] = {"hidden_size": hidden, "direction": direction, "outputs": 3}
    net, exact = Net(), Net()
    given, reals, side = list[Array](), list[str](), (directions, 1, -1)
    for entries in (6, hidden):
        ints = net.ints(directions, entries, rows, low=-60 if each and dtype is np.int8 else 0, high=127, dtype=dtype)
        scale, zero = net.rng.uniform(0.005, 0.02, count).astype(np.float32), net.ints(*count, low=50, high=70)
        zero = np.full(count, 0 if dtype is np.int8 else 60, np.int8) if each else zero
        given += [ints, scale, zero.astype(dtype)]
        weights = (ints.astype(np.float32) - zero.reshape(side)) * scale.reshape(side)
        reals.append(exact.const(weights.transpose(0, 2, 1)))
    w, r, *scaled = (net.const(given[i]) for i in (0, 3, 1, 2, 4, 5))
    bias, first = net.rng.normal(0, 0.3, (directions, 2 * rows)), net.rng.normal(0, 0.5, (2, directions, 1, hidden))
    more = [[n.const(a, np.float32) for a in (bias, *first)] for n in (net, exact)]
    x = net.input(LSTM_X.shape)
    y = net.op("DynamicQuantizeLSTM", x, w, r, more[0][0], "", *more[0][1:], "", *scaled, domain=MICROSOFT, **words)
    wanted = exact.op("LSTM", exact.input(LSTM_X.shape), *reals, more[1][0], "", *more[1][1:], **words)
    graph, model = read_real(saved(net.model(*y), tmp_path)), net.model(*y)
    found = list(RealEngine(graph).run({"x": LSTM_X}).values())
    assert any("LSTMs take their inputs and states as they are" in note for note in graph.notes)
    theirs, reals_there = oracle(model, {"x": LSTM_X}), oracle(exact.model(*wanted), {"x": LSTM_X})
    for ours, real, other in zip(found, reals_there, theirs, strict=True):
        np.testing.assert_allclose(ours, real, rtol=1e-5, atol=1e-5)
        assert np.abs(ours - other).max() <= 0.02


def test_an_lstm_whose_scales_do_not_fit_is_refused(tmp_path: Path) -> None:
    for scales, dtype, number in (((1, 3), np.int8, "014"), ((1,), U8, "019")):
        net = Net()
        x, one = net.input(LSTM_X.shape), net.const(np.full(scales, 0.01, np.float32))
        w, r, zero = net.const(net.ints(1, 6, 8)), net.const(net.ints(1, 2, 8)), net.const(np.zeros(1, dtype))
        y = net.op("DynamicQuantizeLSTM", x, w, r, *[""] * 5, one, zero, one, zero, domain=MICROSOFT, hidden_size=2)
        with pytest.raises(ModelRejected, match=f"LAM-IMPORT-{number}"):
            imported(net.model(y), tmp_path)


def refused(net: Net, folder: Path, *outputs: str) -> None:
    with pytest.raises(ModelRejected, match="LAM-IMPORT-025"):
        imported(net.model(*outputs), folder)


def test_integers_that_are_read_otherwise_are_refused(tmp_path: Path) -> None:
    ints, scale = Net().ints(12, 5), np.float32(0.1)
    net = Net()
    q = rounded(net, net.input(X.shape))
    refused(net, tmp_path, dense(net, q, ints, None, scale), q[0])
    net = Net()
    q, other = rounded(net, net.input(X.shape)), rounded(net, net.op("Relu", "x"))
    refused(net, tmp_path, dense(net, [q[0], other[1], q[2]], ints, None, scale))
    net = Net()
    q = rounded(net, net.input(X.shape))
    sums = net.op("MatMulInteger", q[0], net.const(ints), q[2])
    scaled = inner(net, net.op("Cast", sums, to=1), q[1], net.const(scale))
    refused(net, tmp_path, net.op("Add", scaled, net.op("Cast", sums, to=1)))


def test_rounding_of_a_constant_is_computed(tmp_path: Path) -> None:
    net = Net()
    y = dense(net, rounded(net, net.const(X)), net.ints(12, 5), None, np.float32(0.1))
    model = net.model(net.op("Add", net.input((3, 5)), y))
    graph = imported(model, tmp_path)
    feeds = {"x": np.zeros((3, 5), np.float32)}
    np.testing.assert_allclose(next(iter(run_graph(graph, feeds).values())), oracle(model, feeds)[0], rtol=1e-6)
