"""Convolutions and matrix products in every spelling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from codegen.errors import CompileError, ModelRejected
from codegen.frontends import read_real
from codegen.ir.quant import Mode
from codegen.ops import Conv2D, Dense

from .models import Net, agrees, imported, kinds


def conv_model(
    shape: tuple[int, ...], weights: tuple[int, ...], bias: bool = True, **attributes: Any
) -> onnx.ModelProto:
    net = Net()
    x = net.qdq(net.input(shape), 0.05, 3)
    scales = np.linspace(0.004, 0.02, weights[0]).astype(np.float32)
    w = net.weights(net.ints(*weights), scales)
    inputs = [x, w]
    if bias:
        inputs.append(net.bias(net.rng.integers(-2000, 2000, weights[0]), np.float32(0.05) * scales))
    y = net.op("Conv", *inputs, **attributes)
    return net.model(net.qdq(y, 0.3, -5))


CONVS = {
    "plain": ((1, 3, 8, 9), (4, 3, 3, 3), {}),
    "pads_strides": ((1, 3, 9, 8), (4, 3, 3, 3), {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
    "groups": ((1, 4, 8, 8), (6, 2, 3, 2), {"group": 2}),
    "depthwise": ((1, 5, 8, 8), (5, 1, 3, 3), {"group": 5, "pads": [1, 1, 1, 1]}),
    "multiplier": ((1, 3, 8, 8), (6, 1, 3, 3), {"group": 3}),
    "dilations": ((1, 2, 11, 12), (3, 2, 3, 3), {"dilations": [2, 3]}),
    "same_upper": ((1, 2, 7, 8), (3, 2, 3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    "same_lower": ((1, 2, 7, 8), (3, 2, 2, 4), {"auto_pad": "SAME_LOWER"}),
    "valid": ((1, 2, 7, 8), (3, 2, 3, 3), {"auto_pad": "VALID"}),
    "one_axis": ((1, 3, 20), (4, 3, 5), {"pads": [2, 2], "strides": [2]}),
    "kernel_shape": ((1, 2, 5, 5), (3, 2, 1, 3), {"kernel_shape": [1, 3]}),
}


@pytest.mark.parametrize("name", CONVS)
@pytest.mark.parametrize("mode", ["ort", "single"])
def test_conv_equals_onnx_runtime(name: str, mode: Mode, tmp_path: Path) -> None:
    shape, weights, attributes = CONVS[name]
    agrees(conv_model(shape, weights, **attributes), tmp_path, mode=mode)


def transposed_model(
    shape: tuple[int, ...], weights: tuple[int, ...], per_channel: bool = True, **attributes: Any
) -> onnx.ModelProto:
    net = Net()
    x = net.qdq(net.input(shape), 0.05, 3)
    group = attributes.get("group", 1)
    scales = np.linspace(0.004, 0.02, weights[1]).astype(np.float32) if per_channel else np.float32(0.01)
    w = net.weights(net.ints(*weights), scales, axis=1)
    each = np.tile(np.broadcast_to(scales, weights[1]), group)
    b = net.bias(net.rng.integers(-2000, 2000, weights[1] * group), np.float32(0.05) * each)
    return net.model(net.qdq(net.op("ConvTranspose", x, w, b, **attributes), 0.3, -5))


TRANSPOSED = {
    "plain": ((1, 3, 5, 6), (3, 4, 3, 3), {}),
    "twice": ((1, 3, 5, 6), (3, 4, 2, 2), {"strides": [2, 2]}),
    "pads": ((1, 3, 5, 6), (3, 4, 4, 3), {"strides": [2, 3], "pads": [1, 0, 2, 1]}),
    "output_padding": ((1, 3, 5, 6), (3, 4, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
    "holes": ((1, 3, 4, 5), (3, 4, 2, 1), {"strides": [3, 2]}),
    "dilations": ((1, 2, 4, 5), (2, 3, 3, 3), {"dilations": [2, 3], "strides": [2, 2]}),
    "groups": ((1, 4, 5, 5), (4, 3, 3, 2), {"group": 2, "strides": [2, 1]}),
    "depthwise": ((1, 5, 5, 5), (5, 1, 4, 4), {"group": 5, "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "same_upper": ((1, 2, 5, 6), (2, 3, 3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    "same_lower": ((1, 2, 5, 6), (2, 3, 3, 3), {"auto_pad": "SAME_LOWER", "strides": [2, 3]}),
    "same_with_gaps": ((1, 3, 5, 6), (3, 4, 2, 2), {"auto_pad": "SAME_LOWER", "strides": [3, 3]}),
    "valid": ((1, 2, 5, 6), (2, 3, 3, 3), {"auto_pad": "VALID", "strides": [2, 2]}),
    "output_shape": ((1, 2, 5, 6), (2, 3, 3, 3), {"output_shape": [10, 12], "strides": [2, 2]}),
    "larger_output": ((1, 2, 5, 6), (2, 3, 2, 2), {"output_shape": [10, 18], "strides": [2, 3]}),
    "one_axis": ((1, 3, 9), (3, 4, 5), {"pads": [2, 1], "strides": [2]}),
}


@pytest.mark.parametrize("name", TRANSPOSED)
@pytest.mark.parametrize("mode", ["ort", "single"])
def test_transposed_conv_equals_onnx_runtime(name: str, mode: Mode, tmp_path: Path) -> None:
    shape, weights, attributes = TRANSPOSED[name]
    agrees(transposed_model(shape, weights, **attributes), tmp_path, mode=mode)


def test_transposed_conv_takes_one_scale_and_a_relu(tmp_path: Path) -> None:
    graph = agrees(transposed_model((1, 3, 5, 6), (3, 4, 2, 2), per_channel=False, strides=[2, 2]), tmp_path)
    assert kinds(graph) == ["ConvTranspose2D"]


def test_transposed_conv_is_read_over_any_axes(tmp_path: Path) -> None:
    path, net = tmp_path / "m.onnx", Net()
    y = net.op(
        "ConvTranspose",
        net.input((1, 1, *(2,) * 5)),
        net.const(np.ones((1, 3, *(2,) * 5), np.float32)),
        auto_pad="VALID",
    )
    path.write_bytes(net.model(y).SerializeToString())
    graph = read_real(path)
    assert graph.type(graph.outputs[0]).shape == (1, 3, *(3,) * 5)


@pytest.mark.parametrize(
    ("weights", "attributes", "code"),
    [
        ((2, 4, 3, 3), {}, "LAM-IMPORT-014"),
        ((3, 4, 3, 3), {"pads": [4, 4, 4, 4]}, "LAM-IMPORT-014"),
    ],
)
def test_transposed_conv_refusals(
    weights: tuple[int, ...], attributes: dict[str, Any], code: str, tmp_path: Path
) -> None:
    with pytest.raises(CompileError, match=code):
        imported(transposed_model((1, 3, 5, 6), weights, **attributes), tmp_path)


@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose", "LpPool"])
@pytest.mark.parametrize("is_quantized", [True, False])
def test_windows_over_four_axes_are_beyond_what_is_supported(kind: str, is_quantized: bool, tmp_path: Path) -> None:
    """ONNX's shape inference finds nothing wrong with them: the refusal does not blame the model."""
    net = Net()
    x, w = net.input((1, 2, *(3,) * 4)), net.ints(2, 2, *(2,) * 4)
    x = net.qdq(x) if is_quantized else x
    weights = net.weights(w) if is_quantized else net.const(w, np.float32)
    y = net.op(kind, x, kernel_shape=[2] * 4) if kind == "LpPool" else net.op(kind, x, weights)
    model = net.model(net.qdq(y) if is_quantized else y)
    onnx.shape_inference.infer_shapes(model, strict_mode=True)
    with pytest.raises(ModelRejected, match=f"LAM-IMPORT-022 .*{kind}") as caught:
        imported(model, tmp_path)
    assert "contradicts" not in str(caught.value)


def test_conv_without_bias_has_zeros(tmp_path: Path) -> None:
    graph = agrees(conv_model((1, 2, 5, 5), (3, 2, 3, 3), bias=False), tmp_path)
    (node,) = [n for n in graph.nodes if isinstance(n.op, Conv2D)]
    bias = graph.values[node.inputs[2]].data
    assert bias is not None
    assert not bias.any()


def test_conv_relu_and_clip_fold_into_the_clamp(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 6)), 0.05, 3)
    y = net.op("Conv", x, net.weights(net.ints(3, 2, 3, 3), 0.01))
    y = net.op("Clip", net.op("Relu", y), "", net.const(np.float32(4.0)))
    graph = agrees(net.model(net.qdq(y, 0.04, -100)), tmp_path)
    assert kinds(graph) == ["Conv2D"]
    (node,) = [n for n in graph.nodes if isinstance(n.op, Conv2D)]
    assert isinstance(node.op, Conv2D)
    assert node.op.requant is not None
    assert (node.op.requant.low, node.op.requant.high) == (-100, 0)
    assert node.note == "Conv + Relu + Clip + QuantizeLinear -> Conv2D, per-tensor, requant ort"
    assert len(node.source) == 4


@pytest.mark.parametrize(("first", "second", "bounds"), [((1, 2), (-1, 0.5), (0.5, 0.5)), ((-2, -1), (0, 3), (0, 0))])
def test_clips_that_leave_one_number_fold_into_it(
    first: tuple[float, float], second: tuple[float, float], bounds: tuple[float, float], tmp_path: Path
) -> None:
    net = Net()
    y = net.op("Conv", net.qdq(net.input((1, 2, 6, 6)), 0.05, 3), net.weights(net.ints(3, 2, 3, 3), 0.01))
    for ends in (first, second):
        y = net.op("Clip", y, *(net.const(np.float32(end)) for end in ends))
    (node,) = [n for n in agrees(net.model(net.qdq(y, 0.125, 5)), tmp_path).nodes if isinstance(n.op, Conv2D)]
    assert isinstance(node.op, Conv2D)
    assert node.op.requant is not None
    assert [(q - 5) * 0.125 for q in (node.op.requant.low, node.op.requant.high)] == list(bounds)


def test_relu_between_two_roundings_stays_a_node(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 6)), 0.05, 3)
    y = net.qdq(net.op("Conv", x, net.weights(net.ints(3, 2, 3, 3), 0.01)), 0.1, 4)
    same = agrees(net.model(net.qdq(net.op("Relu", y), 0.1, 4)), tmp_path)
    assert kinds(same) == ["Conv2D", "Clamp"]
    net.nodes.pop(), net.nodes.pop()
    other = agrees(net.model(net.qdq(net.nodes[-1].output[0], 0.07, -100)), tmp_path)
    assert kinds(other) == ["Conv2D", "Lut"]
    assert "rounded before" in other.nodes[-2].note


@pytest.mark.parametrize("zero", [0, 128, 90])
def test_weights_with_a_zero_point_keep_their_meaning(zero: int, tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 6)), 0.05, 130, np.uint8)
    w = net.weights(net.ints(3, 2, 3, 3, low=0, high=255, dtype=np.uint8), 0.01, zero=zero)
    graph = agrees(net.model(net.qdq(net.op("Conv", x, w), 0.3, 120, np.uint8)), tmp_path)
    (node,) = [n for n in graph.nodes if isinstance(n.op, Conv2D)]
    assert graph.type(node.inputs[1]).dtype.value == ("s8" if zero == 128 else "s16")


def test_weights_quantized_in_the_graph_are_folded(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 6)), 0.05, 3)
    scales, zeros = net.const([0.01, 0.02, 0.03], np.float32), net.const([0, 0, 0], np.int8)
    w = net.const(net.rng.normal(0, 0.5, (3, 2, 3, 3)), np.float32)
    w = net.op("QuantizeLinear", w, scales, zeros, axis=0)
    w = net.op("DequantizeLinear", w, scales, zeros, axis=0)
    b = net.const(net.rng.normal(0, 1, 3), np.float32)
    graph = agrees(net.model(net.qdq(net.op("Conv", x, w, b), 0.1, 4)), tmp_path)
    assert kinds(graph) == ["Conv2D"]


def test_bias_of_another_scale_is_rounded_with_a_note(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 6)), 0.05, 3)
    w, b = net.weights(net.ints(3, 2, 3, 3), 0.01), net.bias(np.array([100, -200, 300]), 0.002)
    graph = agrees(net.model(net.qdq(net.op("Conv", x, w, b), 0.1, 4)), tmp_path)
    assert any("another scale" in note for note in graph.notes)


def test_bias_of_a_channel_without_weights_fits(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 2, 4, 4)), 0.05, 3)
    ints = net.ints(2, 2, 1, 1)
    ints[1] = 0
    w = net.weights(ints, np.array([0.01, 1e-12], np.float32))
    agrees(net.model(net.qdq(net.op("Conv", x, w, net.const([1.0, 2.5], np.float32)), 0.1, 4)), tmp_path)


def test_padded_bias_axis_that_contradicts_its_scales_is_found(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 6)), 0.05, 3)
    scales = np.linspace(0.01, 0.02, 4).astype(np.float32)
    w = net.weights(net.ints(6, 4), scales, axis=1)
    b = net.weights(np.array([[1, 2, 3, 4]], np.int32), np.float32(0.05) * scales, axis=0)
    model = net.model(net.qdq(net.op("Gemm", x, w, b), 0.1, 4))
    graph = imported(model, tmp_path)
    assert any("axis 1 is taken" in note for note in graph.notes)


@pytest.mark.parametrize(
    ("trans_b", "alpha", "beta", "bias"),
    [(0, 1.0, 1.0, (4,)), (1, 1.0, 1.0, (1, 4)), (1, 0.5, 2.0, (4,)), (0, -1.5, 0.0, (4,)), (0, 1.0, 1.0, ())],
)
def test_gemm_equals_onnx_runtime(
    trans_b: int, alpha: float, beta: float, bias: tuple[int, ...], tmp_path: Path
) -> None:
    net = Net()
    x = net.qdq(net.input((3, 6)), 0.05, 3)
    shape, axis = ((4, 6), 0) if trans_b else ((6, 4), 1)
    w = net.weights(net.ints(*shape), np.linspace(0.01, 0.02, 4), axis=axis)
    b = net.const(net.rng.normal(0, 1, bias), np.float32)
    y = net.op("Gemm", x, w, b, transB=trans_b, alpha=alpha, beta=beta)
    graph = agrees(net.model(net.qdq(y, 0.1, 4)), tmp_path)
    assert kinds(graph) == ["Dense"]


def test_gemm_transposes_its_left_side(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((6, 3)), 0.05, 3)
    y = net.op("Gemm", x, net.weights(net.ints(6, 4), 0.01), transA=1)
    agrees(net.model(net.qdq(y, 0.1, 4)), tmp_path)


@pytest.mark.parametrize("shape", [(6,), (2, 6), (2, 3, 6), (1, 2, 3, 6)])
def test_matmul_with_constant_right_side_is_dense(shape: tuple[int, ...], tmp_path: Path) -> None:
    net = Net()
    y = net.op("MatMul", net.qdq(net.input(shape), 0.05, 3), net.weights(net.ints(6, 4), 0.01))
    y = net.op("Add", y, net.const(net.rng.normal(0, 1, 4), np.float32))
    graph = agrees(net.model(net.qdq(y, 0.1, 4)), tmp_path)
    assert kinds(graph) == ["Dense"]


def test_weights_move_before_they_are_used(tmp_path: Path) -> None:
    net = Net()
    w = net.weights(net.ints(4, 6), np.linspace(0.01, 0.03, 4), axis=0)
    y = net.op("MatMul", net.qdq(net.input((2, 6)), 0.05, 3), net.op("Transpose", w, perm=[1, 0]))
    graph = agrees(net.model(net.qdq(y, 0.1, 4)), tmp_path)
    assert kinds(graph) == ["Dense"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3, 4), (4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (3, 4, 5)),
        ((4,), (2, 4, 5)),
        ((2, 3, 4), (4,)),
        ((4,), (4,)),
    ],
)
def test_matmul_of_two_computed_tensors(a: tuple[int, ...], b: tuple[int, ...], tmp_path: Path) -> None:
    net = Net()
    left, right = net.qdq(net.input(a, name="a"), 0.05, 3), net.qdq(net.input(b, name="b"), 0.04, -7)
    graph = agrees(net.model(net.qdq(net.op("MatMul", left, right), 0.3, 4)), tmp_path)
    assert "MatMul" in kinds(graph)


def test_matmul_with_constant_left_side(tmp_path: Path) -> None:
    net = Net()
    y = net.op("MatMul", net.weights(net.ints(3, 4), 0.02), net.qdq(net.input((4, 5)), 0.05, 3))
    graph = agrees(net.model(net.qdq(y, 0.3, 4)), tmp_path)
    assert kinds(graph) == ["MatMul"]


def test_gemm_of_two_computed_matrices(tmp_path: Path) -> None:
    net = Net()
    a, b = net.qdq(net.input((3, 4), name="a"), 0.05, 3), net.qdq(net.input((5, 4), name="b"), 0.04)
    agrees(net.model(net.qdq(net.op("Gemm", a, b, transB=1, alpha=0.5), 0.3, 4)), tmp_path)


def test_batch_normalization_behind_a_convolution_is_folded(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Conv", net.qdq(net.input((1, 2, 6, 6)), 0.05, 3), net.weights(net.ints(3, 2, 3, 3), 0.01))
    scale, bias, mean = (net.const(net.rng.normal(0, 1, 3), np.float32) for _ in range(3))
    variance = net.const([0.5, 1.0, 2.0], np.float32)
    y = net.op("Relu", net.op("BatchNormalization", y, scale, bias, mean, variance))
    graph = agrees(net.model(net.qdq(y, 0.1, -120)), tmp_path)
    assert kinds(graph) == ["Conv2D"]


def test_one_convolution_quantized_twice_is_written_twice(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Conv", net.qdq(net.input((1, 2, 6, 6)), 0.05, 3), net.weights(net.ints(3, 2, 3, 3), 0.01))
    graph = agrees(net.model(net.qdq(y, 0.1, 4), net.qdq(net.op("Relu", y), 0.05, -128)), tmp_path)
    assert kinds(graph) == ["Conv2D", "Conv2D"]


def test_sixteen_bit_activations(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((2, 6)), 0.001, 0, np.int16)
    y = net.op("MatMul", x, net.weights(net.ints(6, 4), 0.01))
    graph = agrees(net.model(net.qdq(y, 0.001, 0, np.int16), opset=21, ir_version=10), tmp_path, mode="single")
    (node,) = graph.nodes
    assert isinstance(node.op, Dense)
    assert graph.type(node.outputs[0]).dtype.value == "s16"


def test_bias_quantized_along_the_default_axis(tmp_path: Path) -> None:
    """Some exporters leave the axis of a bias of one dimension at 1."""
    net = Net()
    x = net.qdq(net.input((1, 3, 5, 5)), 0.05)
    bias = net.weights(np.array([100, -200, 300], np.int32), np.float32([0.0005, 0.001, 0.0015]), axis=1)
    weights = net.weights(net.ints(3, 3, 3, 3), np.float32([0.01, 0.02, 0.03]))
    graph = imported(net.model(net.qdq(net.op("Conv", x, weights, bias), 0.5)), tmp_path)
    (conv,) = [n for n in graph.nodes if type(n.op).__name__ == "Conv2D"]
    assert graph.values[conv.inputs[2]].data.tolist() == [100, -200, 300]
