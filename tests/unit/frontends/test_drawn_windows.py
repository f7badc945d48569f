"""Convolutions and pools with attributes drawn at random, beside ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, RuntimeException

from codegen.errors import ModelRejected
from codegen.golden.interpreter import run_graph
from tests.unit.frontends.models import Compared, Net, compare, imported

KINDS = ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool")
DRAWS = 60
REFUSALS = (Fail, InvalidArgument, RuntimeException)
"""Of ONNX Runtime: dilations and places left over with auto_pad, of some operators, and padding as wide as a kernel."""


class Drawn:
    """An operator over one to three axes, with a map and weights that fit it."""

    def __init__(self, kind: str, seed: int) -> None:
        self.kind, self.rng = kind, np.random.default_rng(seed)
        axes = int(self.rng.integers(1, 4))
        self.kernel = self._numbers(1, 5, axes)
        self.shape = (int(self.rng.integers(1, 3)), 2, *self._numbers(3, 9 if axes < 3 else 7, axes))
        self.attributes: dict[str, Any] = {"strides": self._numbers(1, 5, axes)}
        if kind.endswith("Pool"):
            self.attributes |= {"kernel_shape": self.kernel, "ceil_mode": int(self.rng.integers(2))}
        if self._now_and_then(0.4):
            self.attributes["dilations"] = self._numbers(1, 4, axes)
        self._pad(axes)
        if kind == "AveragePool":
            self.attributes["count_include_pad"] = int(self.rng.integers(2))
        if kind == "LpPool":
            self.attributes["p"] = int(self.rng.integers(1, 4))
        if kind == "ConvTranspose":
            self._size(axes)

    def model(self) -> Any:
        net = Net(int(self.rng.integers(2**31)))
        weights = {"Conv": (3, 2, *self.kernel), "ConvTranspose": (2, 3, *self.kernel)}.get(self.kind)
        given = [] if weights is None else [net.const(net.rng.normal(0, 1, weights), np.float32)]
        return net.model(net.op(self.kind, net.input(self.shape), *given, **self.attributes), opset=22, ir_version=10)

    def is_dilated(self) -> bool:
        """Whether windows have holes, which ONNX Runtime's pools do not see where they pad themselves."""
        dilations = self.attributes.get("dilations", [1] * len(self.kernel))
        same = self.attributes.get("auto_pad", "").startswith("SAME")
        return same and any(d > 1 and k > 1 for d, k in zip(dilations, self.kernel, strict=True))

    def _numbers(self, low: int, high: int, count: int) -> list[int]:
        return [int(n) for n in self.rng.integers(low, high, count)]

    def _now_and_then(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def _pad(self, axes: int) -> None:
        how = str(self.rng.choice(["pads", "none", "VALID", "SAME_UPPER", "SAME_LOWER"]))
        if how == "pads":
            self.attributes["pads"] = [int(self.rng.integers(self.kernel[i % axes])) for i in range(2 * axes)]
        elif how != "none":
            self.attributes["auto_pad"] = how

    def _size(self, axes: int) -> None:
        if self._now_and_then(0.4):
            dilations = self.attributes.get("dilations", [1] * axes)
            most = [max(pair) for pair in zip(self.attributes["strides"], dilations, strict=True)]
            self.attributes["output_padding"] = [int(self.rng.integers(m)) for m in most]
        elif self._now_and_then(0.3):
            self.attributes.pop("pads", None)
            sizes = zip(self.shape[2:], self.attributes["strides"], self.kernel, strict=True)
            self.attributes["output_shape"] = [(n - 1) * s + int(self.rng.integers(1, k + 1)) for n, s, k in sizes]


def compared_with(drawn: Drawn, folder: Path) -> Compared | None:
    """The operator beside ONNX Runtime's; None where that refuses it, or where no window fits."""
    try:
        return compare(drawn.model(), folder, runs=1)
    except REFUSALS:
        return None
    except ModelRejected as error:
        if "does not fit into" in str(error):
            return None
        raise


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_windows_are_those_of_onnxruntime(kind: str, tmp_path: Path) -> None:
    """Of most draws there is something to compare; what ONNX Runtime refuses, or has no places, is passed over."""
    compared = 0
    for seed in range(DRAWS):
        drawn = Drawn(kind, seed)
        if drawn.is_dilated() and kind != "ConvTranspose":
            continue
        found = compared_with(drawn, tmp_path)
        if found is None:
            continue
        assert found.largest < 1e-4, (drawn.shape, drawn.kernel, drawn.attributes)
        compared += 1
    assert compared > DRAWS // 2


SPARED = (("Conv", (3, 2, 1)), ("AveragePool", ()), ("LpPool", ()))
"""Operators whose windows of one place stride over those left over, and their weights."""


@pytest.mark.parametrize(("kind", "weights"), SPARED)
@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("length", range(2, 9))
def test_places_left_over_are_taken_from_both_ends(
    kind: str, weights: tuple[int, ...], auto_pad: str, length: int, tmp_path: Path
) -> None:
    net = Net()
    given = [net.const(net.rng.normal(0, 1, weights), np.float32)] if weights else []
    attributes: dict[str, Any] = {} if weights else {"kernel_shape": [1]}
    y = net.op(kind, net.input((1, 2, length)), *given, strides=[8], auto_pad=auto_pad, **attributes)
    assert compare(net.model(y, opset=22, ir_version=10), tmp_path, runs=1).largest < 1e-4


def quantized_pool(kind: str) -> Any:
    """A pool of windows of one place that leave places over."""
    net = Net()
    y = net.op(kind, net.qdq(net.input((1, 2, 8, 7))), kernel_shape=[1, 1], strides=[4, 3], auto_pad="SAME_UPPER")
    return net.model(net.qdq(y), opset=21, ir_version=10)


def test_quantized_windows_leave_places_over_too(tmp_path: Path) -> None:
    """ONNX Runtime refuses such a MaxPool; of one place it is what the mean is."""
    assert compare(quantized_pool("AveragePool"), tmp_path, "single", runs=1).largest < 1e-3
    x = np.random.default_rng(3).integers(-128, 128, (1, 8, 7, 2)).astype(np.int8)
    made = []
    for kind in ("AveragePool", "MaxPool"):
        graph = imported(quantized_pool(kind), tmp_path)
        made.append(run_graph(graph, {graph.inputs[0].value: x})[graph.outputs[0].value])
    assert np.array_equal(made[0], made[1])


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("length", range(4, 10))
def test_a_valid_pool_is_rounded_up(kind: str, length: int, tmp_path: Path) -> None:
    net = Net()
    y = net.op(kind, net.input((1, 2, length)), kernel_shape=[3], strides=[4], auto_pad="VALID", ceil_mode=1)
    assert compare(net.model(y, opset=22, ir_version=10), tmp_path, runs=1).largest < 1e-4


@pytest.mark.parametrize(
    "attributes",
    [
        {"kernel_shape": [5, 4, 3], "strides": [1, 2, 1], "pads": [2, 1, 1, 2, 2, 1]},
        {"kernel_shape": [3, 5, 5], "pads": [1, 2, 2, 1, 2, 2], "dilations": [2, 1, 1]},
        {"kernel_shape": [4, 3, 5], "strides": [2, 2, 2], "pads": [1, 1, 2, 2, 0, 2], "ceil_mode": 1},
    ],
)
def test_wide_averages_over_three_axes_are_integers(attributes: dict[str, Any], tmp_path: Path) -> None:
    """Where padding does not count, windows at the borders have too many sizes for one sum over rows side by side."""
    for zero, kind, finer in ((3, np.int8, 1.0), (120, np.uint8, 1.0), (-700, np.int16, 2.0**-7)):
        net = Net()
        x = net.qdq(net.input((2, 3, 7, 8, 9)), 0.05 * finer, zero, kind)
        y = net.op("AveragePool", x, **attributes)
        model = net.model(net.qdq(y, 0.02 * finer, zero - 9, kind), opset=21, ir_version=10)
        assert compare(model, tmp_path, "single", runs=2).largest <= 1.01
        graph = imported(model, tmp_path)
        assert not any(graph.type(o).dtype.is_float for node in graph.nodes for o in node.outputs)
