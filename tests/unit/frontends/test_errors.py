"""What is refused: each id with a model that earns it, the node and tensor named, all problems at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.errors import CompileError, ModelRejected
from codegen.frontends.onnx import import_onnx, reader, tensors, wire
from codegen.frontends.onnx.real.translators import QUANTIZED
from codegen.golden.interpreter import run_graph
from codegen.ir.quant import Array
from codegen.ops import Dequantize, Quantize, Transpose
from codegen.ops.float32 import FloatConv2D, FloatDense
from codegen.settle.forms import FORMS
from tests.support.onnx_files import onnx_graph

from .models import MICROSOFT, Net, saved

Spoil = Callable[[onnx.ModelProto], None]


def network(**attributes: Any) -> onnx.ModelProto:
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 5)), 0.05, 3)
    y = net.op("Conv", x, net.weights(net.ints(3, 2, 3, 3), np.array([0.01, 0.02, 0.03])), **attributes)
    return net.model(net.qdq(y, 0.1, 4))


def problems(model: onnx.ModelProto, folder: Path) -> list[CompileError]:
    with pytest.raises(ModelRejected) as caught:
        import_onnx(saved(model, folder), mode="single")
    return list(caught.value.problems())


def only_code(model: onnx.ModelProto, folder: Path) -> str:
    found = problems(model, folder)
    assert len({e.text() for e in found}) == 1, [e.text() for e in found]
    assert found[0].where
    assert found[0].hint
    return found[0].code


def node_of(model: onnx.ModelProto, op_type: str) -> onnx.NodeProto:
    return next(n for n in model.graph.node if n.op_type == op_type)


def constant_of(model: onnx.ModelProto, name: str) -> onnx.TensorProto:
    return next(t for t in model.graph.initializer if t.name == name)


def set_constant(model: onnx.ModelProto, name: str, array: Any) -> None:
    constant_of(model, name).CopyFrom(onnx.numpy_helper.from_array(np.asarray(array), name))


# The file


def test_missing_file(tmp_path: Path) -> None:
    for path in (tmp_path / "none.onnx", tmp_path):
        with pytest.raises(CompileError, match="LAM-IMPORT-002"):
            import_onnx(path, mode="single")


@pytest.mark.parametrize("data", [b"", b"<html></html>", b"\xff" * 40, b"version https://git-lfs.github.com/spec/v1\n"])
def test_file_that_is_no_model(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(CompileError, match="LAM-IMPORT-003"):
        import_onnx(path, mode="single")


def test_truncation_anywhere_is_refused(tmp_path: Path) -> None:
    data = network().SerializeToString()
    path = tmp_path / "model.onnx"
    for size in range(0, len(data) - 1, 7):
        path.write_bytes(data[:size])
        with pytest.raises(CompileError, match="LAM-IMPORT-0"):
            import_onnx(path, mode="single")


def test_flipped_bytes_never_escape_as_other_exceptions(tmp_path: Path) -> None:
    data = bytearray(network().SerializeToString())
    rng = np.random.default_rng(1)
    path = tmp_path / "model.onnx"
    for _ in range(400):
        damaged = bytearray(data)
        for at in rng.integers(0, len(data), rng.integers(1, 4)):
            damaged[at] = rng.integers(0, 256)
        path.write_bytes(damaged)
        with contextlib.suppress(CompileError):
            import_onnx(path, mode="single")


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    attribute = helper.make_attribute("a", 1)
    data = attribute.SerializeToString()
    for _ in range(300):  # graph in attribute in node in graph
        node = _field(5, data)
        data = _field(6, _field(1, node)) + b"\xa0\x01\x05"
    path = tmp_path / "model.onnx"
    path.write_bytes(_field(7, _field(1, _field(5, data))))
    with pytest.raises(CompileError, match="LAM-IMPORT-003"):
        import_onnx(path, mode="single")


def test_many_empty_nodes_are_refused_before_parsing(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(_field(7, b"\x0a\x00" * (wire.MAX_FIELDS + 1)))
    with pytest.raises(CompileError, match="LAM-IMPORT-004"):
        import_onnx(path, mode="single")


def test_large_file_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_FILE_BYTES", 100)
    with pytest.raises(CompileError, match="LAM-IMPORT-004"):
        import_onnx(saved(network(), tmp_path), mode="single")


def _field(number: int, data: bytes) -> bytes:
    size, out = len(data), bytearray([number << 3 | 2])
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes(out) + bytes([size]) + data


@pytest.mark.parametrize("location", ["gone.data", "../outside.data", "/etc/passwd", "link.data", "short.data"])
def test_external_data(location: str, tmp_path: Path) -> None:
    (tmp_path / "outside.data").write_bytes(bytes(1000))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.data").symlink_to(tmp_path / "outside.data")
    (folder / "short.data").write_bytes(bytes(10))
    model = network()
    tensor = next(t for t in model.graph.initializer if len(t.dims) == 4)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", "54")):
        tensor.external_data.add(key=key, value=value)
    assert only_code(model, folder) == "LAM-IMPORT-00" + ("5" if location in ("gone.data", "short.data") else "6")


@pytest.mark.parametrize(("key", "value"), [("offset", "-1"), ("length", "many"), ("location", "")])
def test_external_data_that_is_malformed(key: str, value: str, tmp_path: Path) -> None:
    (tmp_path / "w.data").write_bytes(bytes(54))
    model = network()
    tensor = next(t for t in model.graph.initializer if len(t.dims) == 4)
    tensor.data_location = TensorProto.EXTERNAL
    for name, given in ({"location": "w.data"} | {key: value}).items():
        tensor.external_data.add(key=name, value=given)
    assert only_code(model, tmp_path) == "LAM-IMPORT-018"


@pytest.mark.parametrize("version", [0, 999])
def test_operator_set_that_is_not_known(version: int, tmp_path: Path) -> None:
    model = network()
    del model.opset_import[:]
    if version:
        model.opset_import.append(helper.make_opsetid("", version))
    with pytest.raises(CompileError, match="LAM-IMPORT-026"):
        import_onnx(saved(model, tmp_path), mode="single")


def test_float_model_names_what_is_unknown(tmp_path: Path) -> None:
    net = Net()
    assert only_code(net.model(net.op("Relu", net.op("Strange", net.input((1, 2))))), tmp_path) == "LAM-IMPORT-007"


def test_recursive_and_exploding_functions(tmp_path: Path) -> None:
    opset = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]

    def function(name: str, inner: str) -> onnx.FunctionProto:
        body = [helper.make_node(inner, [a], [b], domain="mine") for a, b in ("xt", "ty")]
        return helper.make_function("mine", name, ["x"], ["y"], body, opset)

    for functions in ([function("F", "F")], [function(f"F{i}", f"F{i + 1}") for i in range(40)]):
        net = Net()
        y = net.op(functions[0].name, net.qdq(net.input((1, 2))), domain="mine")
        net.functions = functions
        model = net.model(y)
        model.opset_import.append(helper.make_opsetid("mine", 1))
        with pytest.raises(CompileError, match="LAM-IMPORT-027"):
            import_onnx(saved(model, tmp_path), mode="single")


# The graph


def _drop_node(model: onnx.ModelProto) -> None:
    model.graph.node.remove(node_of(model, "DequantizeLinear"))


def _write_twice(model: onnx.ModelProto) -> None:
    conv = node_of(model, "Conv")
    model.graph.node.append(helper.make_node("Tanh", [conv.input[0]], [conv.output[0]]))


def _loop(model: onnx.ModelProto) -> None:
    first, last = node_of(model, "QuantizeLinear"), model.graph.node[-1]
    first.input[0] = last.output[0]


def _subgraph(model: onnx.ModelProto) -> None:
    body = onnx_graph([], [], [], name="body")
    model.graph.node.append(helper.make_node("Unroll", ["x"], ["u"], name="steps", domain="own", body=body))


def _no_output(model: onnx.ModelProto) -> None:
    del model.graph.output[:]


def _unknown_output(model: onnx.ModelProto) -> None:
    model.graph.output.append(helper.make_tensor_value_info("nowhere", TensorProto.FLOAT, None))


def _same_output(model: onnx.ModelProto) -> None:
    model.graph.output.append(model.graph.output[0])


def _constant_output(model: onnx.ModelProto) -> None:
    model.graph.initializer.append(numpy_helper.from_array(np.array([2**40]), "wide"))
    model.graph.output.append(helper.make_tensor_value_info("wide", TensorProto.INT64, None))


def _twice_an_initializer(model: onnx.ModelProto) -> None:
    model.graph.initializer.append(model.graph.initializer[0])


def _dynamic_height(model: onnx.ModelProto) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "height"


def _no_shape(model: onnx.ModelProto) -> None:
    model.graph.input[0].type.tensor_type.ClearField("shape")


def _zero_dimension(model: onnx.ModelProto) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 0


def _huge_dimension(model: onnx.ModelProto) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_value = 2**40


def _string_input(model: onnx.ModelProto) -> None:
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING


def _missing_weights(model: onnx.ModelProto) -> None:
    del node_of(model, "Conv").input[1:]


def _sparse(model: onnx.ModelProto) -> None:
    model.graph.sparse_initializer.add().values.name = "s"


GRAPHS: list[tuple[Spoil, str]] = [
    (_drop_node, "LAM-IMPORT-015"),
    (_write_twice, "LAM-IMPORT-016"),
    (_twice_an_initializer, "LAM-IMPORT-016"),
    (_loop, "LAM-IMPORT-017"),
    (_subgraph, "LAM-IMPORT-021"),
    (_sparse, "LAM-IMPORT-021"),
    (_no_output, "LAM-IMPORT-015"),
    (_unknown_output, "LAM-IMPORT-015"),
    (_same_output, "LAM-IMPORT-016"),
    (_constant_output, "LAM-IMPORT-029"),
    (_dynamic_height, "LAM-IMPORT-009"),
    (_no_shape, "LAM-IMPORT-009"),
    (_zero_dimension, "LAM-IMPORT-009"),
    (_huge_dimension, "LAM-IMPORT-004"),
    (_string_input, "LAM-IMPORT-070"),
    (_missing_weights, "LAM-IMPORT-015"),
]


@pytest.mark.parametrize(("spoil", "code"), GRAPHS)
def test_graph_that_is_not_well_formed(spoil: Spoil, code: str, tmp_path: Path) -> None:
    model = network()
    spoil(model)
    assert only_code(model, tmp_path) == code


def test_every_unknown_operator_is_listed_and_nothing_behind_it(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 4)), 0.05)
    y = net.op("Conv", net.op("Foo", x, domain="acme"), net.op("Bar", x))
    y = net.qdq(net.op("Relu", y), 0.05)
    z = net.qdq(net.op("Baz", x), 0.05)
    found = problems(net.model(y, z), tmp_path)
    assert [e.code for e in found] == ["LAM-IMPORT-007"] * 3
    assert ["acme.Foo" in found[0].text(), "Bar" in found[1].text(), "Baz" in found[2].text()] == [True] * 3


# Quantization


@pytest.mark.parametrize("scale", [np.nan, np.inf, 0.0, -0.1, 1e-40])
def test_scale_that_is_not_a_positive_normal_number(scale: float, tmp_path: Path) -> None:
    model = network()
    set_constant(model, node_of(model, "QuantizeLinear").input[1], np.float32(scale))
    assert only_code(model, tmp_path) == "LAM-IMPORT-010"


def test_scale_that_is_not_float(tmp_path: Path) -> None:
    model = network()
    set_constant(model, node_of(model, "QuantizeLinear").input[1], np.int32(1))
    assert only_code(model, tmp_path) == "LAM-IMPORT-010"


def test_zero_point_of_another_type(tmp_path: Path) -> None:
    model = network()
    node = model.graph.node[-1]
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.uint8(4), "other"))
    node.input[2] = "other"
    assert only_code(model, tmp_path) == "LAM-IMPORT-011"


def test_zero_point_of_another_length(tmp_path: Path) -> None:
    model = network()
    set_constant(model, node_of(model, "QuantizeLinear").input[2], np.zeros(2, np.int8))
    assert only_code(model, tmp_path) == "LAM-IMPORT-011"


def test_scales_that_fit_no_axis(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 5)), 0.05, 3)
    y = net.op("Conv", x, net.weights(net.ints(3, 2, 3, 3), np.full(4, 0.01)))
    assert only_code(net.model(net.qdq(y)), tmp_path) == "LAM-IMPORT-012"


@pytest.mark.parametrize("shape", [(3, 1), (), (2,)])
def test_bias_of_another_shape_than_its_scales(shape: tuple[int, ...], tmp_path: Path) -> None:
    net = Net()
    x = net.q(net.input((1, 2, 6, 5)), 0.05, 3)
    scales = net.const(np.full(3, 0.01, np.float32)), net.const(np.zeros(3, np.int8))
    bias = net.const(np.zeros(shape, np.int32))
    inner, outer = net.params(0.05, 3), net.params(0.1)
    y = net.op("QLinearConv", x, *inner, net.const(net.ints(3, 2, 3, 3)), *scales, *outer, bias)
    assert only_code(net.model(net.op("DequantizeLinear", y, *outer)), tmp_path) == "LAM-IMPORT-019"


@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose"])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_weights_without_axes(op_type: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 5)), 0.05, 3)
    y = net.op(op_type, x, net.weights(net.ints(*shape) if shape else np.int8(3), 0.01), kernel_shape=[3, 3])
    assert only_code(net.model(net.qdq(y)), tmp_path) == "LAM-IMPORT-014"


def test_axis_outside_the_tensor(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 5)), 0.05, 3)
    y = net.op("Conv", x, net.weights(net.ints(3, 2, 3, 3), np.full(3, 0.01), axis=7))
    assert only_code(net.model(net.qdq(y)), tmp_path) == "LAM-IMPORT-012"


def _real_result(model: onnx.ModelProto, x: Array, folder: Path) -> Array:
    """What a network of one input gives, in the arithmetic of real numbers."""
    graph = import_onnx(saved(model, folder), mode="single")
    return run_graph(graph, {graph.inputs[0].value: x})[graph.outputs[0].value]


def test_activations_with_a_scale_per_channel_are_real_numbers(tmp_path: Path) -> None:
    net, values = Net(), np.array([0.1, 0.2], np.float32)
    scales, zeros = net.const(values, np.float32), net.const([0, 0], np.int8)
    y = net.op("QuantizeLinear", net.input((1, 2, 6, 5)), scales, zeros, axis=1)
    x = np.random.default_rng(0).normal(0, 12, (1, 6, 5, 2)).astype(np.float32)
    made = _real_result(net.model(net.op("DequantizeLinear", y, scales, zeros, axis=1)), x, tmp_path)
    np.testing.assert_array_equal(made, np.clip(np.round(x / values), -128, 127) * values)


def test_block_wise_scales_are_real_numbers(tmp_path: Path) -> None:
    net, values = Net(), np.linspace(0.1, 0.8, 8, dtype=np.float32).reshape(4, 2)
    scales = net.const(values, np.float32)
    y = net.op(
        "DequantizeLinear", net.op("QuantizeLinear", net.input((4, 4)), scales, block_size=2), scales, block_size=2
    )
    x, each = np.random.default_rng(0).normal(0, 40, (4, 4)).astype(np.float32), np.repeat(values, 2, 1)
    made = _real_result(net.model(net.op("Relu", y), opset=21), x, tmp_path)
    np.testing.assert_array_equal(made, np.clip(np.round(x / each), 0, 255) * each)


def test_dynamic_quantization(tmp_path: Path) -> None:
    net = Net()
    q, scale, zero = net.op("DynamicQuantizeLinear", net.input((1, 4)), outputs=3)
    y = net.op("Cast", net.op("MatMulInteger", q, net.const(net.ints(4, 4)), zero), to=1)
    assert only_code(net.model(net.op("Mul", y, scale), q), tmp_path) == "LAM-IMPORT-025"


def test_scale_computed_by_the_network(tmp_path: Path) -> None:
    net = Net()
    y = net.op("QuantizeLinear", net.input((1, 4)), net.input((), name="s"), net.const(0, np.int8))
    assert only_code(net.model(net.dq(y)), tmp_path) == "LAM-IMPORT-023"


USES: dict[str, Callable[[Net, str], str]] = {
    "output": lambda net, y: y,
    "product": lambda net, y: net.qdq(net.op("Conv", y, net.weights(net.ints(2, 2, 1, 1)))),
    "sum": lambda net, y: net.qdq(net.op("Add", y, y)),
    "concat": lambda net, y: net.qdq(net.op("Concat", y, y, axis=1)),
    "pool": lambda net, y: net.qdq(net.op("GlobalAveragePool", y)),
}


@pytest.mark.parametrize("name", USES)
def test_a_result_used_without_quantization_is_real_numbers(name: str, tmp_path: Path) -> None:
    net = Net()
    y = net.op("Conv", net.qdq(net.input((1, 2, 6, 5))), net.weights(net.ints(2, 2, 1, 1)))
    graph = import_onnx(saved(net.model(USES[name](net, y)), tmp_path), mode="single")
    made = [node for node in graph.nodes if isinstance(node.op, FloatConv2D)]
    assert made
    assert isinstance(graph.producers[made[0].inputs[0]].op, Transpose | Dequantize)
    assert any(isinstance(node.op, Dequantize) for node in graph.nodes)
    assert any(isinstance(node.op, Quantize) for node in graph.nodes) == (name != "output")


def test_a_float_input_used_without_quantization_is_real_numbers(tmp_path: Path) -> None:
    net = Net()
    y = net.op("MatMul", net.input((1, 4)), net.weights(net.ints(4, 4)))
    graph = import_onnx(saved(net.model(net.qdq(y)), tmp_path), mode="single")
    assert [type(node.op) for node in graph.nodes] == [FloatDense, Quantize]


def test_bias_beyond_32_bits(tmp_path: Path) -> None:
    net = Net()
    w, b = net.weights(net.ints(2, 2, 1, 1), 1e-9), net.const([1e6, 0.0], np.float32)
    y = net.op("Conv", net.qdq(net.input((1, 2, 6, 5))), w, b)
    assert only_code(net.model(net.qdq(y)), tmp_path) == "LAM-IMPORT-028"


def test_factor_of_a_product_that_is_infinite(tmp_path: Path) -> None:
    net = Net()
    y = net.op("MatMul", net.qdq(net.input((1, 4))), net.weights(net.ints(4, 4)))
    y = net.op("Mul", y, net.const(np.float32(np.inf)))
    assert only_code(net.model(net.qdq(y)), tmp_path) == "LAM-IMPORT-010"


def test_requantization_that_no_multiplier_expresses(tmp_path: Path) -> None:
    net = Net()
    y = net.op("MatMul", net.qdq(net.input((1, 4)), 1e6), net.weights(net.ints(4, 4), 1e6))
    found = problems(net.model(net.qdq(y, 1e-6)), tmp_path)
    assert [e.code for e in found] == ["LAM-FIXEDPOINT-001"]
    assert "(QuantizeLinear)" in found[0].text()


# Operators


@pytest.mark.parametrize(
    "attributes",
    [
        {"strides": [-1, 1]},
        {"strides": [0, 1]},
        {"strides": [1]},
        {"strides": 2},
        {"strides": [1.0, 1.0]},
        {"pads": [1, 1]},
        {"pads": [-1, 0, 0, 0]},
        {"pads": [2**40, 0, 0, 0]},
        {"dilations": [0, 0]},
        {"dilations": [2**62, 1]},
        {"group": 0},
        {"auto_pad": "SOME"},
        {"auto_pad": b"\xff\xfe"},
        {"kernel_shape": [3]},
    ],
)
def test_attribute_out_of_range(attributes: dict[str, Any], tmp_path: Path) -> None:
    assert only_code(network(**attributes), tmp_path) == "LAM-IMPORT-013"


@pytest.mark.parametrize("attributes", [{"kernel_shape": [2, 2]}, {"group": 3}])
def test_weights_that_do_not_fit_their_attributes(attributes: dict[str, Any], tmp_path: Path) -> None:
    assert only_code(network(**attributes), tmp_path) == "LAM-IMPORT-014"


def test_window_larger_than_its_input_names_the_node(tmp_path: Path) -> None:
    found = problems(network(dilations=[9, 9]), tmp_path)
    assert len(found) == 1
    assert "(Conv)" in found[0].text()


OPERATORS: list[tuple[str, tuple[int, ...], Callable[[Net, str], Any]]] = [
    ("013", (1, 2, 6, 5), lambda net, x: net.op("MaxPool", x)),
    ("013", (1, 2, 6, 5), lambda net, x: net.op("LeakyRelu", x, alpha=float("nan"))),
    ("013", (1, 4, 6, 5), lambda net, x: net.op("DepthToSpace", x, blocksize=0)),
    ("013", (1, 4), lambda net, x: net.op("Concat", x, x)),
    ("013", (1, 4), lambda net, x: net.op("Concat", x, x, axis=5)),
    ("013", (1, 4), lambda net, x: net.op("Softmax", x, axis=3)),
    ("013", (1, 2, 6, 5), lambda net, x: net.op("Resize", x, "", net.const([1, 1, 2, 2], np.float32), mode="fancy")),
    ("013", (1, 4), lambda net, x: net.op("Add", x, net.op("Constant"))),
    ("014", (1, 4), lambda net, x: net.op("MatMul", x, net.weights(net.ints(5, 4)))),
    ("014", (1, 4), lambda net, x: net.op("Gemm", x, net.weights(net.ints(4, 3)), net.const(np.zeros(5), np.float32))),
    ("014", (1, 4), lambda net, x: net.op("Reshape", x, net.const([3, -1], np.int64))),
    ("014", (1, 4), lambda net, x: net.op("Reshape", x, net.const([-1, -1], np.int64))),
    ("014", (1, 4), lambda net, x: net.op("Reshape", x, net.const([1.0, 4.0], np.float32))),
    ("014", (1, 4), lambda net, x: net.op("Squeeze", x, net.const([1], np.int64))),
    ("014", (1, 4), lambda net, x: net.op("Unsqueeze", x, net.const([0, 0], np.int64))),
    ("014", (1, 4), lambda net, x: net.op("Transpose", x, perm=[0, 0])),
    ("014", (1, 4), lambda net, x: net.op("Gather", x, net.const([4], np.int64), axis=1)),
    ("014", (1, 4), lambda net, x: net.op("Expand", x, net.const([3, 3], np.int64))),
    ("014", (1, 4), lambda net, x: net.op("Pad", x, net.const([1, 1], np.int64))),
    ("078", (1, 4), lambda net, x: net.op("Slice", x, net.const([4], np.int64), net.const([4], np.int64))),
    ("078", (1, 4), lambda net, x: net.op("Slice", x, net.const([9], np.int64), net.const([9], np.int64))),
    ("014", (1, 4), lambda net, x: net.op("Split", x, net.const([1, 1], np.int64), axis=1, outputs=2)[0]),
    ("014", (1, 4), lambda net, x: net.op("GlobalAveragePool", x)),
    ("014", (1, 4), lambda net, x: net.op("ReduceMean", x, axes=[5])),
    ("014", (1, 4), lambda net, x: net.op("Concat", x, net.op("Reshape", x, net.const([4], np.int64)), axis=0)),
    ("014", (1, 4), lambda net, x: net.op("Clip", x, net.const([0.0, 1.0], np.float32))),
    ("014", (1, 2, 6, 5), lambda net, x: net.op("Resize", x, "", net.const([1, 1, 0, 2], np.float32))),
    ("014", (1, 2, 6, 5), lambda net, x: net.op("AveragePool", x, kernel_shape=[2, 2], pads=[2, 2, 2, 2])),
    ("014", (1, 2, 6, 5), lambda net, x: net.op("PRelu", x, net.const(np.arange(4).reshape(2, 2, 1, 1), np.float32))),
    ("076", (1, 2, 6, 5), lambda net, x: net.op("BatchNormalization", x, *_normal(net), training_mode=1)),
    ("010", (1, 4), lambda net, x: net.op("Mul", x, net.const([1, 2, np.inf, 4], np.float32))),
    ("010", (1, 4), lambda net, x: net.op("Div", x, net.const([1, 2, 0, 4], np.float32))),
    ("014", (1, 4), lambda net, x: net.op("Add", x, net.const([1, 2, 3], np.float32))),
    ("019", (1, 4), lambda net, x: net.op("Equal", x, x)),
    ("019", (1, 4), lambda net, x: net.op("Cast", x, to=TensorProto.INT64)),
    ("019", (1, 2, 6, 5), lambda net, x: net.op("Conv", x, net.const(np.full((1, 2, 1, 1), np.nan), np.float32))),
    ("023", (1, 4), lambda net, x: net.op("Reshape", x, net.input((2,), TensorProto.INT8, "s"))),
    ("004", (1, 4), lambda net, x: net.op("Expand", x, net.const([2**20, 2**20, 1, 4], np.int64))),
    ("004", (1, 4), lambda net, x: net.op("Add", x, net.op("ConstantOfShape", net.const([2**40], np.int64)))),
    ("014", (1, 4), lambda net, x: net.op("Add", x, net.op("Add", net.const([1.0, 2]), net.const([1.0, 2, 3])))),
    ("014", (1, 4), lambda net, x: net.op("Add", x, net.op("Gather", net.const([1.0]), net.const([7], np.int64)))),
    ("018", (1, 4), lambda net, x: net.op("Reshape", x, _short_tensor(net))),
    ("070", (1, 4), lambda net, x: net.op("Reshape", x, _string_tensor(net))),
]


def _normal(net: Net) -> list[str]:
    """Factor, offset, mean and variance of two channels."""
    return [net.const([1.0, 2], np.float32) for _ in range(4)]


def _short_tensor(net: Net) -> str:
    net.constants.append(TensorProto(name="short", data_type=TensorProto.INT64, dims=[2], raw_data=bytes(7)))
    return "short"


def _string_tensor(net: Net) -> str:
    net.constants.append(TensorProto(name="text", data_type=TensorProto.STRING, dims=[1], string_data=[b"a"]))
    return "text"


@pytest.mark.parametrize(("code", "shape", "make"), OPERATORS)
def test_operator_in_a_form_that_is_refused(
    code: str, shape: tuple[int, ...], make: Callable[[Net, str], Any], tmp_path: Path
) -> None:
    net = Net()
    y = net.qdq(make(net, net.qdq(net.input(shape), 0.05, 3)), 0.05, 3)
    assert only_code(net.model(y), tmp_path) == f"LAM-IMPORT-{code}"


def test_concatenated_scales_of_qlinear_concat_are_complete(tmp_path: Path) -> None:
    net = Net()
    q = net.q(net.input((1, 4)))
    y = net.op("QLinearConcat", *net.params(), q, net.const(np.float32(0.05)), domain=MICROSOFT, axis=1)
    assert only_code(net.model(net.dq(y)), tmp_path) == "LAM-IMPORT-014"


def test_all_problems_come_at_once_each_with_its_place(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 5)), 0.05)
    a = net.qdq(net.op("Conv", x, net.weights(net.ints(3, 2, 3, 3)), strides=[-1, 1]))
    b = net.qdq(net.op("Foo", x))
    c = net.qdq(net.op("Sigmoid", x), scale=float("nan"))
    found = problems(net.model(net.op("Concat", a, b, c, axis=1)), tmp_path)
    assert [e.code for e in found] == ["LAM-IMPORT-013", "LAM-IMPORT-007", "LAM-IMPORT-010"]
    assert all("node" in e.where for e in found)


def test_limits_are_what_they_say() -> None:
    assert tensors.MAX_ELEMENTS == 2**25
    assert reader.MAX_FILE_BYTES == 512 * 2**20


def test_refusal_names_the_form_and_why_it_is_not_read(tmp_path: Path) -> None:
    net = Net()
    y = net.op("BatchNormalization", net.qdq(net.input((1, 1, 4)), 0.05, 3), *[net.const([1.0])] * 4, training_mode=1)
    (error,) = problems(net.model(net.qdq(y, 0.05, 3), opset=19, ir_version=9), tmp_path)
    assert error.code == "LAM-IMPORT-076"
    assert error.found.startswith("BatchNormalization in training: a form for training")
    assert error.hint.startswith("export the model for inference")


def test_forms_are_written_of_operators_that_are_read() -> None:
    assert {("", name) for name in FORMS} <= QUANTIZED
