"""Windows over one to three axes, of one image or several: real numbers and 8-bit ones beside ONNX Runtime, and C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from codegen.frontends.onnx import import_onnx
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from tests.support.onnx_files import onnx_model, port
from tests.support.together import check_c_is_golden
from tests.support.tools import require_tool

KINDS = ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool")
COMPUTED = {"Conv": "a computed weight", "ConvTranspose": "a computed weight"}


def _attributes(rng: np.random.Generator, kind: str, axes: int) -> dict[str, object]:
    """Kernel, strides, dilations and pads that ONNX Runtime takes."""
    kernel = rng.integers(1, 4, axes)
    dilations = rng.integers(1, 3, axes)
    extent = (kernel - 1) * dilations + 1
    pads = rng.integers(0, np.minimum(kernel if kind.endswith("Pool") else extent, 3), (2, axes))
    found: dict[str, object] = {
        "kernel_shape": kernel.tolist(),
        "strides": rng.integers(1, 4, axes).tolist(),
        "dilations": dilations.tolist(),
        "pads": pads.reshape(-1).tolist(),
    }
    if kind == "AveragePool":
        found["count_include_pad"] = int(rng.integers(2))
    if kind == "LpPool":
        found["p"] = int(rng.integers(1, 4))
    if kind.endswith("Pool"):
        found["ceil_mode"] = int(rng.integers(2)) if kind != "LpPool" else 0
    return found


def float_model(rng: np.random.Generator, kind: str, axes: int, batch: int, *, known: bool = True) -> onnx.ModelProto:
    """One operator on real numbers; its weights are a second input where they are not `known`."""
    groups = int(rng.integers(1, 3)) if kind.startswith("Conv") else 1
    channels, share = 2 * groups, int(rng.integers(1, 4))
    attributes = _attributes(rng, kind, axes)
    size = [batch, channels, *rng.integers(7, 10, axes).tolist()]
    inputs, constants, given = ["x"], dict[str, Array](), [port("x", size)]
    if kind.startswith("Conv"):
        attributes["group"] = groups
        kernel = attributes["kernel_shape"]
        assert isinstance(kernel, list)
        shape = [share * groups, 2, *kernel] if kind == "Conv" else [channels, share, *kernel]
        inputs += ["w", "b"]
        weights = {"w": rng.standard_normal(shape).astype(np.float32)}
        constants = (weights if known else {}) | {"b": rng.standard_normal(share * groups).astype(np.float32)}
        given += [] if known else [port("w", shape)]
    node = helper.make_node(kind, inputs, ["y"], "n", **attributes)
    model = onnx_model([node], given, [port("y")], constants, sets=19, ir_version=9)
    return onnx.shape_inference.infer_shapes(model)


def outsider(model: onnx.ModelProto, feeds: dict[str, Array]) -> Array:
    """What ONNX Runtime says."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (y,) = session.run(None, feeds)
    return np.asarray(y)


def imported(model: onnx.ModelProto, folder: Path) -> Graph:
    path = folder / "model.onnx"
    onnx.save(model, path)
    return import_onnx(path, mode="ort", io_layout="model")


def fed(rng: np.random.Generator, model: onnx.ModelProto) -> dict[str, Array]:
    shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input}
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def drawn(kind: str, axes: int, batch: int, seed: int) -> tuple[onnx.ModelProto, dict[str, Array]]:
    rng = np.random.default_rng([KINDS.index(kind), axes, batch, seed])
    model = float_model(rng, kind, axes, batch, known=kind not in COMPUTED or seed != 2)
    return model, fed(rng, model)


CASES = [(kind, axes, batch, seed) for kind in KINDS for axes in (1, 2, 3) for batch in (1, 3) for seed in range(3)]


@pytest.mark.parametrize("kind", KINDS)
def test_windows_of_real_numbers_are_those_of_onnxruntime(kind: str, tmp_path: Path) -> None:
    for case in (c for c in CASES if c[0] == kind):
        model, feeds = drawn(*case)
        graph = imported(model, tmp_path)
        found = run_graph(graph, feeds)[graph.outputs[0].value]
        wanted = outsider(model, feeds)
        assert found.shape == wanted.shape, case
        assert np.allclose(found, wanted, rtol=1e-4, atol=1e-4), case


def test_windows_in_c_are_golden_to_the_bit(tmp_path: Path) -> None:
    require_tool("gcc")
    graphs, feeds = list[Graph](), list[dict[str, Array]]()
    for case in CASES[::4]:
        model, given = drawn(*case)
        graphs.append(imported(model, tmp_path))
        feeds.append(given)
    check_c_is_golden(graphs, feeds, tmp_path / "project")


def quantized_model(rng: np.random.Generator, kind: str, axes: int, batch: int) -> onnx.ModelProto:
    """A convolution or a maximum of 8-bit numbers, as QuantizeLinear and DequantizeLinear spell it."""
    model = float_model(rng, kind, axes, batch)
    (node,) = model.graph.node
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    added = [numpy_helper.from_array(np.float32(s), n) for n, s in (("sx", 0.02), ("sw", 0.03), ("sy", 0.06))]
    added += [numpy_helper.from_array(np.int8(z), n) for n, z in (("zx", 3), ("zw", 0), ("zy", -5))]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "sx", "zx"], ["xq"], "q"),
        helper.make_node("DequantizeLinear", ["xq", "sx", "zx"], ["xd"], "d"),
    ]
    node.input[0], node.output[0] = "xd", "yf"
    pool = kind == "MaxPool"
    if not pool:
        ints = np.clip(np.rint(constants["w"] / 0.03), -127, 127).astype(np.int8)
        bias = np.rint(constants["b"] / (0.02 * 0.03)).astype(np.int32)
        added += [numpy_helper.from_array(ints, "wq"), numpy_helper.from_array(bias, "bq")]
        added += [
            numpy_helper.from_array(np.float32(0.02) * np.float32(0.03), "sb"),
            numpy_helper.from_array(np.int32(0), "zb"),
        ]
        nodes += [
            helper.make_node("DequantizeLinear", ["wq", "sw", "zw"], ["w"], "dw"),
            helper.make_node("DequantizeLinear", ["bq", "sb", "zb"], ["b"], "db"),
        ]
        del model.graph.initializer[:]
    out = ("sx", "zx") if pool else ("sy", "zy")
    nodes += [
        node,
        helper.make_node("QuantizeLinear", ["yf", *out], ["yq"], "qy"),
        helper.make_node("DequantizeLinear", ["yq", *out], ["y"], "dy"),
    ]
    model.graph.initializer.extend(added)
    kept = [*nodes]
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model


@pytest.mark.parametrize("kind", ["Conv", "MaxPool"])
def test_windows_of_8_bit_numbers_are_those_of_onnxruntime(kind: str, tmp_path: Path) -> None:
    for axes, batch in ((1, 3), (2, 3), (3, 1), (3, 2)):
        rng = np.random.default_rng([axes, batch])
        model = quantized_model(rng, kind, axes, batch)
        feeds = fed(rng, model)
        graph = imported(model, tmp_path)
        (port,) = graph.inputs
        x = np.clip(np.rint(feeds["x"] / np.float32(0.02)) + 3, -128, 127).astype(np.int8)
        found = run_graph(graph, {port.value: x})[graph.outputs[0].value]
        assert found.dtype == np.int8, "in integers"
        scale, zero = (0.02, 3) if kind == "MaxPool" else (0.06, -5)
        wanted = np.rint(outsider(model, feeds) / scale) + zero
        assert np.abs(found - wanted).max() <= 1, (kind, axes, batch)
        if kind == "MaxPool":
            assert (found == wanted).all()
