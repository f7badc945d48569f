"""Inputs and outputs, options, and files of every age."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.errors import CompileError, OptionBad
from codegen.frontends import read_real
from codegen.frontends.onnx import import_onnx
from codegen.ir.quant import DType
from codegen.real.engine import RealEngine

from .models import Net, agrees, imported, kinds, saved

NHWC = (0, 2, 3, 1)


def network(opset: int = 17, ir_version: int = 8) -> onnx.ModelProto:
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 5)), 0.05, 3)
    y = net.op("Conv", x, net.weights(net.ints(3, 2, 3, 3), 0.01))
    return net.model(net.qdq(y, 0.1, 4), opset=opset, ir_version=ir_version)


def test_borders_are_nhwc_and_quantized(tmp_path: Path) -> None:
    graph = agrees(network(), tmp_path)
    (face,), (result,) = graph.inputs, graph.outputs
    assert (face.name, face.model_shape, face.model_dtype, face.perm) == ("x", (1, 2, 6, 5), "float32", NHWC)
    assert graph.type(face.value).shape == (1, 6, 5, 2)
    assert graph.type(face.value).dtype is DType.S8
    assert (result.model_shape, result.model_dtype, result.perm) == ((1, 3, 4, 3), "float32", NHWC)
    assert graph.type(result.value).shape == (1, 4, 3, 3)


def test_model_layout_is_kept_on_demand(tmp_path: Path) -> None:
    graph = agrees(network(), tmp_path, io_layout="model")
    assert graph.inputs[0].perm is None
    assert graph.type(graph.inputs[0].value).shape == (1, 2, 6, 5)


def test_model_type_is_kept_on_demand(tmp_path: Path) -> None:
    graph = agrees(network(), tmp_path, io_type="model")
    assert graph.type(graph.inputs[0].value).dtype is DType.F32
    assert kinds(graph) == ["Quantize", "Conv2D", "Dequantize"]


def test_input_quantized_twice_stays_float(tmp_path: Path) -> None:
    net = Net()
    x = net.input((2, 6))
    parts = [net.op("Tanh", net.qdq(x, scale, 3)) for scale in (0.05, 0.02)]
    graph = agrees(net.model(net.qdq(net.op("Add", *(net.qdq(p, 1 / 128) for p in parts)), 1 / 64)), tmp_path)
    assert kinds(graph) == ["Quantize", "Quantize", "Lut", "Lut", "Add"]
    net = Net()
    x = net.input((2, 6))
    parts = [net.op("Tanh", net.qdq(x, 0.05, 3)) for _ in range(2)]
    graph = agrees(net.model(net.qdq(net.op("Add", *(net.qdq(p, 1 / 128) for p in parts)), 1 / 64)), tmp_path)
    assert "Quantize" not in kinds(graph)


def test_model_that_is_nhwc_already_keeps_its_order(tmp_path: Path) -> None:
    net = Net()
    x = net.op("Transpose", net.qdq(net.input((1, 6, 5, 2)), 0.05, 3), perm=[0, 3, 1, 2])
    y = net.op("Conv", x, net.weights(net.ints(3, 2, 3, 3), 0.01))
    y = net.op("Transpose", net.qdq(y, 0.1, 4), perm=[0, 2, 3, 1])
    graph = agrees(net.model(net.qdq(y, 0.1, 4)), tmp_path)
    assert graph.inputs[0].perm is None
    assert graph.outputs[0].perm is None


def turned(net: Net, *, padded: bool = True, quantized: bool = True) -> tuple[str, str]:
    """A scale and a border of the NHWC pixels, a convolution, a bias and a function behind it, NHWC again."""
    held = net.qdq if quantized else (lambda x, scale, zero: x)
    x = held(net.input((1, 6, 5, 2)), 0.05, 3)
    scaled = held(net.op("Mul", x, held(net.const(np.float32([0.5, 0.25])), 0.01, 0)), 0.0213, 0)
    if padded:
        scaled = held(net.op("Pad", scaled, net.const([0, 1, 0, 0, 0, 0, 1, 0])), 0.0213, 0)
    x = net.op("Transpose", scaled, perm=[0, 3, 1, 2])
    y = held(net.op("Conv", x, net.weights(net.ints(3, 2, 3, 3), 0.01)), 0.103, 4)
    y = net.op("Transpose", y, perm=[0, 2, 3, 1])
    y = held(net.op("Add", y, held(net.const(np.float32([1, 2, 3])), 0.05, 0)), 0.103, 4)
    return scaled, held(net.op("Relu", y), 0.103, 4)


@pytest.mark.parametrize("quantized", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_pixels_changed_before_and_behind_a_models_own_transposes_keep_its_order(
    padded: bool, quantized: bool, tmp_path: Path
) -> None:
    net = Net()
    y = turned(net, padded=padded, quantized=quantized)[1]
    graph = agrees(net.model(y, opset=19, ir_version=9), tmp_path)
    assert graph.inputs[0].perm is None
    assert graph.type(graph.inputs[0].value).shape == (1, 6, 5, 2)
    assert graph.outputs[0].perm is None
    assert graph.type(graph.outputs[0].value).shape == (1, 5 if padded else 4, 4 if padded else 3, 3)


def test_pixels_that_are_read_untransposed_too_say_nothing_of_their_order(tmp_path: Path) -> None:
    net = Net()
    scaled, y = turned(net, quantized=False)
    summed = net.op("ReduceSum", scaled, net.const([1]), keepdims=1)
    graph = agrees(net.model(summed, y, opset=19, ir_version=9), tmp_path)
    assert graph.inputs[0].perm == NHWC
    assert [face.perm for face in graph.outputs] == [NHWC, None]


@pytest.mark.parametrize("quantized", [True, False])
@pytest.mark.parametrize("name", ["x", "z"])
def test_an_input_that_is_added_behind_the_last_transpose_is_nhwc_as_well(
    name: str, quantized: bool, tmp_path: Path
) -> None:
    net = Net()
    held = net.qdq if quantized else (lambda x, scale, zero: x)
    x = held(net.input((1, 6, 5, 3)), 0.05, 3)
    other = x if name == "x" else held(net.input((1, 6, 5, 3), name=name), 0.05, 3)
    y = net.op("Transpose", x, perm=[0, 3, 1, 2])
    y = held(net.op("Conv", y, net.weights(net.ints(3, 3, 3, 3), 0.01), pads=[1, 1, 1, 1]), 0.1, 2)
    y = net.op("Transpose", y, perm=[0, 2, 3, 1])
    graph = agrees(net.model(held(net.op("Sub", other, y), 0.1, 0)), tmp_path)
    assert [face.perm for face in graph.inputs] == [None] * len(net.inputs)
    assert graph.outputs[0].perm is None


def test_output_moves_behind_its_dequantize(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Conv", net.qdq(net.input((1, 2, 6, 5)), 0.05, 3), net.weights(net.ints(8, 2, 3, 3), 0.01))
    y = net.op("DepthToSpace", net.qdq(y, 0.1, 4), blocksize=2)
    graph = agrees(net.model(y), tmp_path)
    assert kinds(graph) == ["Conv2D", "DepthToSpace"]


def test_relu_at_the_output_is_exact(tmp_path: Path) -> None:
    net = Net()
    graph = agrees(net.model(net.op("Relu", net.qdq(net.input((2, 6)), 0.05, 3))), tmp_path)
    assert kinds(graph) == ["Clamp"]


def test_unused_input_is_noted(tmp_path: Path) -> None:
    net = Net()
    net.input((2, 6), name="idle")
    y = net.qdq(net.op("Tanh", net.qdq(net.input((2, 6)), 0.05, 3)), 1 / 128)
    graph = agrees(net.model(y), tmp_path)
    assert "input 'idle' is not used" in graph.notes
    assert [i.name for i in graph.inputs] == ["idle", "x"]


def sliced_to_nothing(*, alone: bool) -> onnx.ModelProto:
    """A network with an output of no elements, beside another one or alone."""
    made = network()
    last = made.graph.node[-1].output[0]
    made.graph.initializer.extend(numpy_helper.from_array(np.array([at]), name) for name, at in (("at", 0), ("on", 2)))
    made.graph.node.append(helper.make_node("Slice", [last, "at", "at", "on"], ["nothing"]))
    if alone:
        del made.graph.output[:]
    made.graph.output.append(helper.make_tensor_value_info("nothing", TensorProto.FLOAT, None))
    return made


def test_an_output_without_elements_is_left_out(tmp_path: Path) -> None:
    whole, less = imported(network(), tmp_path), imported(sliced_to_nothing(alone=False), tmp_path)
    assert less.outputs == whole.outputs
    assert kinds(less) == kinds(whole)
    assert {*less.notes} - {*whole.notes} == {"output 'nothing' has no elements, and is left out"}


def test_a_network_that_computes_nothing_is_refused_as_such(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="LAM-IMPORT-078"):
        imported(sliced_to_nothing(alone=True), tmp_path)


@pytest.mark.parametrize("opset", range(10, onnx.defs.onnx_opset_version() + 1))
def test_every_operator_set_since_10(opset: int, tmp_path: Path) -> None:
    newest = 24  # of this ONNX Runtime
    ir_version = 4 if opset < 13 else 8 if opset < 21 else 10
    model = network(min(opset, newest), ir_version)
    graph = agrees(model, tmp_path)
    assert kinds(graph) == ["Conv2D"]
    if opset > newest:
        assert kinds(imported(network(opset, 10), tmp_path)) == ["Conv2D"]


@pytest.mark.parametrize("opset", [10, 11, 12])
def test_old_spellings_are_raised(opset: int, tmp_path: Path) -> None:
    net = Net()
    y = net.qdq(net.input((1, 2, 6, 5)), 0.05, 3)
    y = net.op("Unsqueeze", net.op("Squeeze", y, axes=[0]), axes=[0])
    first, _ = net.op("Split", y, axis=2, split=[4, 2], outputs=2)
    mean = net.qdq(net.op("ReduceMean", net.qdq(first, 0.05, 3), axes=[3], keepdims=0), 0.0237, 3)
    y = net.op("Softmax", mean, axis=1)
    graph = agrees(net.model(net.qdq(y, 1 / 256, -128), opset=opset, ir_version=4), tmp_path)
    assert any("was raised to 13" in note for note in graph.notes)


def test_what_the_converter_gets_wrong_is_read_as_it_is(tmp_path: Path) -> None:
    """Hardmax went over all axes from one on until operator set 13."""
    net = Net(2)
    y = net.op("Hardmax", net.qdq(net.input((2, 3, 5)), 1.5, 3), axis=1)
    path = saved(net.model(net.qdq(y, 0.01, 3), opset=11), tmp_path)
    x = np.random.default_rng(1).normal(0, 20, (2, 3, 5)).astype(np.float32)
    (name,) = (graph := read_real(path)).inputs
    (ours,) = RealEngine(graph).run({name: x}).values()
    (theirs,) = onnxruntime.InferenceSession(path).run(None, {name: x})
    assert any("read as it is: no converter knows its Hardmax" in note for note in graph.notes)
    np.testing.assert_array_equal(ours, theirs)


def test_initializers_listed_as_inputs_are_constants(tmp_path: Path) -> None:
    model = network(10, 3)
    for tensor in model.graph.initializer:
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    graph = agrees(model, tmp_path)
    assert len(graph.inputs) == 1


def test_unsorted_nodes_are_sorted(tmp_path: Path) -> None:
    model = network()
    nodes = list(model.graph.node)[::-1]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    assert kinds(imported(model, tmp_path)) == ["Conv2D"]


def test_functions_of_the_model_are_inlined(tmp_path: Path) -> None:
    model = network()
    conv = next(n for n in model.graph.node if n.op_type == "Conv")
    body = [helper.make_node("Conv", ["x", "w"], ["t"]), helper.make_node("Relu", ["t"], ["y"])]
    opset = [helper.make_opsetid("", 17)]
    model.functions.append(helper.make_function("mine", "ConvRelu", ["x", "w"], ["y"], body, opset))
    model.opset_import.append(helper.make_opsetid("mine", 1))
    conv.op_type, conv.domain = "ConvRelu", "mine"
    graph = agrees(model, tmp_path)
    assert kinds(graph) == ["Conv2D"]


def test_external_data_beside_the_model(tmp_path: Path) -> None:
    model = network()
    onnx.save(model, tmp_path / "model.onnx", save_as_external_data=True, location="model.data", size_threshold=0)
    assert (tmp_path / "model.data").is_file()
    assert kinds(import_onnx(tmp_path / "model.onnx", mode="single")) == ["Conv2D"]


def test_four_bit_weights_are_read(tmp_path: Path) -> None:
    net = Net()
    w = helper.make_tensor("w", TensorProto.INT4, [3, 2, 1, 1], [1, -8, 7, 0, -1, 3])
    net.constants.append(w)
    scale, zero = net.const(np.float32(0.1)), helper.make_tensor("z", TensorProto.INT4, [], [0])
    net.constants.append(zero)
    y = net.op("Conv", net.qdq(net.input((1, 2, 3, 3)), 0.05, 3), net.op("DequantizeLinear", "w", scale, "z"))
    graph = imported(net.model(net.qdq(y, 0.1, 4), opset=21, ir_version=10), tmp_path)
    (node,) = [n for n in graph.nodes if type(n.op).__name__ == "Conv2D"]
    weights = graph.values[node.inputs[1]].data
    assert weights is not None
    assert weights.reshape(-1).tolist() == [1, -8, 7, 0, -1, 3]


def test_half_float_scales_are_read(tmp_path: Path) -> None:
    net = Net()
    q = net.op("QuantizeLinear", net.input((2, 6)), net.const(np.float16(0.05)), net.const(3, np.int8))
    y = net.op("DequantizeLinear", q, net.const(np.float16(0.05)), net.const(3, np.int8))
    graph = imported(net.model(net.qdq(net.op("Tanh", y), 1 / 128), opset=19, ir_version=9), tmp_path)
    assert graph.type(graph.inputs[0].value).quant is not None


def test_typed_fields_hold_numbers_as_well_as_bytes(tmp_path: Path) -> None:
    model = network()
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        plain = helper.make_tensor(tensor.name, tensor.data_type, array.shape, array.reshape(-1).tolist())
        tensor.CopyFrom(plain)
    agrees(model, tmp_path)


@pytest.mark.parametrize("option", [{"mode": "pow"}, {"io_type": "float"}, {"io_layout": "nchw"}])
def test_unknown_options_are_refused(option: dict[str, str], tmp_path: Path) -> None:
    path = saved(network(), tmp_path)
    with pytest.raises(OptionBad):
        import_onnx(path, **({"mode": "single"} | option))  # type: ignore[arg-type]
