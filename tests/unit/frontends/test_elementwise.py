"""Elementwise operators and functions: which table, clamp or operator they become."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from codegen.ir.quant import Mode
from codegen.ops import Lut

from .models import MICROSOFT, Net, agrees, compare, imported, kinds

S8 = (0.05, 3, np.int8)

FUNCTIONS: list[tuple[str, dict[str, Any]]] = [
    ("Abs", {}),
    ("Atan", {}),
    ("Ceil", {}),
    ("Celu", {"alpha": 2.0}),
    ("Cos", {}),
    ("Elu", {"alpha": 0.5}),
    ("Erf", {}),
    ("Exp", {}),
    ("Floor", {}),
    ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}),
    ("HardSwish", {}),
    ("LeakyRelu", {}),
    ("LeakyRelu", {"alpha": 0.3}),
    ("Mish", {}),
    ("Neg", {}),
    ("Round", {}),
    ("Selu", {}),
    ("Shrink", {"lambd": 1.0, "bias": 0.3}),
    ("Sigmoid", {}),
    ("Sign", {}),
    ("Sin", {}),
    ("Softplus", {}),
    ("Softsign", {}),
    ("Tanh", {}),
    ("ThresholdedRelu", {"alpha": 0.7}),
]


@pytest.mark.parametrize(("name", "attributes"), FUNCTIONS)
@pytest.mark.parametrize("mode", ["ort", "single", "tflite"])
def test_function_is_one_table(name: str, attributes: dict[str, Any], mode: Mode, tmp_path: Path) -> None:
    if mode != "ort" and name in ("Ceil", "Floor", "Round", "Shrink", "ThresholdedRelu"):
        pytest.skip("at a jump, 0.05 * 20 in float32 is another number than in float64")
    net = Net()
    y = net.op(name, net.qdq(net.input((2, 300)), *S8), **attributes)
    graph = agrees(net.model(net.qdq(y, 0.0413, -9), opset=20, ir_version=9), tmp_path, mode=mode)
    assert kinds(graph) == ["Lut"]


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_in_both_domains(approximate: str, tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((2, 300)), *S8)
    y = net.op("Gelu", x, approximate=approximate)
    agrees(net.model(net.qdq(y, 0.0413, -9), opset=20, ir_version=9), tmp_path)
    net = Net()
    y = net.op("Gelu", net.qdq(net.input((2, 300)), *S8), domain=MICROSOFT)
    agrees(net.model(net.qdq(y, 0.0413, -9)), tmp_path)


@pytest.mark.parametrize("mode", ["ort", "single", "tflite"])
def test_requantizing_is_a_table_and_equal_scales_are_nothing(mode: Mode, tmp_path: Path) -> None:
    net = Net()
    y = net.qdq(net.qdq(net.qdq(net.input((2, 300)), *S8), *S8), 0.07, 0)
    graph = agrees(net.model(y), tmp_path, mode=mode)
    assert kinds(graph) == ["Lut"]


def test_chain_of_functions_is_one_table(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((2, 300)), *S8)
    zero, three, six = (net.const(np.float32(c)) for c in (0, 3, 6))
    gate = net.op("Clip", net.op("Add", x, three), zero, six)
    y = net.op("Div", net.op("Mul", gate, x), six)
    graph = agrees(net.model(net.qdq(y, 0.0413, -9)), tmp_path)
    assert kinds(graph) == ["Lut"]
    assert isinstance(graph.nodes[0].op, Lut)
    assert graph.nodes[0].op.what == "Add+Clip+Mul+Div"


def test_silu_is_one_table(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((2, 300)), *S8)
    y = net.op("Mul", x, net.op("Sigmoid", x))
    assert kinds(agrees(net.model(net.qdq(y, 0.0413, -9)), tmp_path)) == ["Lut"]


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"])
@pytest.mark.parametrize("left", [False, True])
def test_scalar_constant_makes_a_table(op: str, left: bool, tmp_path: Path) -> None:
    net = Net()
    x, c = net.qdq(net.input((2, 300)), *S8), net.const(np.float32(2.0))
    x = net.op("Abs", x) if op in ("Pow", "Div") else x
    y = net.op(op, *((c, x) if left else (x, c)))
    graph = agrees(net.model(net.qdq(y, 0.2, -100)), tmp_path)
    assert kinds(graph) == ["Lut"]


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
@pytest.mark.parametrize("mode", ["ort", "single", "tflite"])
@pytest.mark.parametrize("shapes", [((1, 3, 4, 5), (1, 3, 4, 5)), ((1, 3, 4, 5), (1, 3, 1, 1)), ((2, 3, 5), (5,))])
def test_two_tensors(op: str, mode: Mode, shapes: tuple[tuple[int, ...], ...], tmp_path: Path) -> None:
    net = Net()
    a = net.qdq(net.input(shapes[0], name="a"), 0.05, 3)
    b = net.qdq(net.input(shapes[1], name="b"), 0.03, -20)
    graph = agrees(net.model(net.qdq(net.op(op, a, b), 0.0917, -4)), tmp_path, share=0.05, mode=mode)
    assert kinds(graph)[-1] in ("Add", "Mul")


SUMS = {
    "a + b + c": (("Add", "a", "b", "x"), ("Add", "x", "c", "y")),
    "a - b - c": (("Sub", "a", "b", "x"), ("Sub", "x", "c", "y")),
    "c - (a + b)": (("Add", "a", "b", "x"), ("Sub", "c", "x", "y")),
    "b - (c - (a - b))": (("Sub", "a", "b", "x"), ("Sub", "c", "x", "z"), ("Sub", "b", "z", "y")),
    "sum": (("Sum", "a", "b", "c", "y"),),
    "mean": (("Mean", "a", "b", "c", "y"),),
}


def summed(steps: Sequence[Sequence[str]], of_c: tuple[int, ...] = (1, 3, 4, 5)) -> onnx.ModelProto:
    net = Net()
    named = {
        name: net.qdq(net.input(shape, name=name), scale, zero)
        for name, shape, scale, zero in (
            ("a", (1, 3, 4, 5), 0.05, 3),
            ("b", (1, 3, 4, 5), 0.03, -20),
            ("c", of_c, 0.02, 90),
        )
    }
    for op, *ins, out in steps:
        named[out] = net.op(op, *(named[i] for i in ins))
    return net.model(net.qdq(named["y"], 0.0917, -4))


@pytest.mark.parametrize("steps", SUMS.values(), ids=SUMS)
@pytest.mark.parametrize("mode", ["single", "tflite"])
def test_sums_of_several_tensors_are_rounded_once(steps: Sequence[Sequence[str]], mode: Mode, tmp_path: Path) -> None:
    assert kinds(agrees(summed(steps), tmp_path, share=0.05, mode=mode)) == ["ScaledSum"]


@pytest.mark.parametrize(("of_c", "mode"), [((1, 3, 1, 1), "single"), ((1, 3, 4, 5), "ort"), ((1, 3, 4, 5), "mul8")])
def test_other_sums_of_several_tensors_are_real_numbers(of_c: tuple[int, ...], mode: Mode, tmp_path: Path) -> None:
    graph = agrees(summed(SUMS["sum"], of_c), tmp_path, mode=mode)
    assert "ScaledSum" not in kinds(graph)
    assert "FloatBinary" in kinds(graph)


def test_more_tensors_than_32_bits_hold_are_real_numbers(tmp_path: Path) -> None:
    for count, kind in ((15, "ScaledSum"), (16, "FloatBinary")):
        net = Net()
        ins = [net.qdq(net.input((2, 30), name=f"x{k}"), 0.0473 + 0.001 * k, 3) for k in range(count)]
        y = net.qdq(net.op("Sum", *ins), 0.2931, 3)
        assert kind in kinds(agrees(net.model(y), tmp_path, share=0.05, mode="single"))


@pytest.mark.parametrize("op", ["Max", "Min"])
@pytest.mark.parametrize("mode", ["ort", "single", "tflite"])
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16])
def test_extremes_of_tensors_of_several_scales(op: str, mode: Mode, kind: Any, tmp_path: Path) -> None:
    """Functions of them too, and more than two; each is rounded once, which keeps the order."""
    net, step = Net(), 0.0003 if kind is np.int16 else 0.05
    a, b, c = (
        net.qdq(net.input((1, 3, 4, 5), name=n), step * f, 3, kind) for n, f in (("a", 1), ("b", 0.7), ("c", 1.6))
    )
    y = net.op("Relu", net.op(op, a, net.op("Sigmoid", b), net.op("Neg", c)))
    y = net.qdq(y, step * 1.1, -4 if kind is np.int8 else 4, kind)
    share = 0.3 if kind is np.int16 else 0.05
    graph = agrees(net.model(y, opset=21, ir_version=10), tmp_path, share, mode=mode)
    assert kinds(graph).count("Extremum") == 2


def test_an_extreme_of_two_products_that_wait_for_their_scale(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 3, 4, 5)))
    a, b = (net.op("Conv", x, net.weights(net.ints(2, 3, 1, 1), 0.002)) for _ in range(2))
    graph = agrees(net.model(net.qdq(net.op("Max", a, b), 0.03, 2)), tmp_path)
    assert kinds(graph) == ["Conv2D", "Conv2D", "Extremum"]


@pytest.mark.parametrize("mode", ["ort", "single", "tflite"])
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16])
@pytest.mark.parametrize("shapes", [((1, 3, 4, 5), (1, 3, 4, 5)), ((2, 3, 5), (5,)), ((5,), (2, 3, 5))])
def test_quotients_of_two_tensors(mode: Mode, kind: Any, shapes: tuple[tuple[int, ...], ...], tmp_path: Path) -> None:
    """Divisors of either sign, near zero too, where quotients end at an end of the range."""
    net, step = Net(), 1e-4 if kind is np.int16 else 0.02
    a, b = (net.qdq(net.input(s, name=n), 0.05, 7, kind) for s, n in zip(shapes, "ab", strict=True))
    y = net.qdq(net.op("Div", a, b), step, 1, kind)
    assert kinds(agrees(net.model(y, opset=21, ir_version=10), tmp_path, mode=mode))[-1] == "Div"


def test_a_quantized_constant_over_a_tensor_is_a_quotient(tmp_path: Path) -> None:
    net = Net()
    c = net.weights(net.ints(3, 1, 1), 0.03, zero=5)
    y = net.op("Div", c, net.qdq(net.input((1, 3, 4, 5)), 0.05, -128))
    assert kinds(agrees(net.model(net.qdq(y, 0.0917, 3)), tmp_path)) == ["Div"]


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
@pytest.mark.parametrize("left", [False, True])
def test_quantized_constant_operand(op: str, left: bool, tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 3, 4, 5)), 0.05, 130, np.uint8)
    c = net.weights(net.ints(3, 1, 1), 0.03, zero=5)
    y = net.op(op, *((c, x) if left else (x, c)))
    graph = agrees(net.model(net.qdq(y, 0.0917, 100, np.uint8)), tmp_path)
    assert kinds(graph) == ["Add" if op != "Mul" else "Mul"]


def test_relu_folds_into_an_addition(tmp_path: Path) -> None:
    net = Net()
    a, b = net.qdq(net.input((2, 50), name="a"), 0.05, 3), net.qdq(net.input((2, 50), name="b"), 0.03)
    graph = agrees(net.model(net.qdq(net.op("Relu", net.op("Add", a, b)), 0.05, -100)), tmp_path)
    assert kinds(graph) == ["Add"]


def test_mixed_signs_are_brought_to_one_type(tmp_path: Path) -> None:
    net = Net()
    a = net.qdq(net.input((2, 50), name="a"), 0.05, 3)
    b = net.qdq(net.input((2, 50), name="b"), 0.03, 100, np.uint8)
    graph = agrees(net.model(net.qdq(net.op("Add", a, b), 0.05, 90, np.uint8)), tmp_path)
    assert kinds(graph) == ["Lut", "Add"]


def test_relu_before_an_operator_is_written_as_a_clamp(tmp_path: Path) -> None:
    net = Net()
    x = net.op("Relu", net.qdq(net.input((2, 6)), 0.05, 3))
    graph = agrees(net.model(net.qdq(net.op("MatMul", x, net.weights(net.ints(6, 4), 0.01)), 0.1, 4)), tmp_path)
    assert kinds(graph) == ["Clamp", "Dense"]


def test_clip_with_attributes_of_old_operator_sets(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Clip", net.qdq(net.input((2, 300)), *S8), min=-1.0, max=2.0)
    agrees(net.model(net.qdq(y, 0.0413, -9), opset=10, ir_version=5), tmp_path)


def test_prelu_with_one_slope_is_leaky_relu(tmp_path: Path) -> None:
    net = Net()
    y = net.op("PRelu", net.qdq(net.input((1, 3, 4, 5)), *S8), net.const(np.full((3, 1, 1), 0.25), np.float32))
    assert kinds(agrees(net.model(net.qdq(y, 0.0413, -9)), tmp_path)) == ["Lut"]


SLOPES = [0.25, -0.5, 1.75]


@pytest.mark.parametrize("mode", ["ort", "single", "tflite"])
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_prelu_with_a_slope_per_channel(mode: Mode, kind: type, tmp_path: Path) -> None:
    net = Net()
    slope = net.const(np.reshape(SLOPES, (3, 1, 1)), np.float32)
    y = net.op("PRelu", net.qdq(net.input((1, 3, 20, 5)), 0.05, 100, kind), slope)
    assert kinds(agrees(net.model(net.qdq(y, 0.0413, 90, kind)), tmp_path, mode=mode)) == ["PRelu"]


def test_prelu_with_a_quantized_slope(tmp_path: Path) -> None:
    net = Net()
    y = net.op("PRelu", net.qdq(net.input((1, 3, 20, 5)), *S8), net.weights(net.ints(3, 1, 1), 0.01, zero=4))
    graph = agrees(net.model(net.qdq(y, 0.0413, -9)), tmp_path)
    assert kinds(graph) == ["PRelu"]


def test_prelu_with_a_slope_quantized_per_channel(tmp_path: Path) -> None:
    net = Net()
    slope = net.weights(net.ints(3, 1, 1), [0.01, 0.002, 0.005])
    y = net.op("PRelu", net.qdq(net.input((1, 3, 20, 5)), *S8), slope)
    assert kinds(agrees(net.model(net.qdq(y, 0.0413, -9)), tmp_path)) == ["PRelu"]


@pytest.mark.parametrize("mode", ["ort", "single", "tflite"])
@pytest.mark.parametrize("shape", [(1, 3, 20, 5), (3, 1, 1), (5,), (1,)])
def test_prelu_with_a_computed_slope(mode: Mode, shape: tuple[int, ...], tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 3, 20, 5)), *S8)
    slope = net.qdq(net.input(shape, name="slope"), 0.01, 120, np.uint8)
    y = net.op("Relu", net.op("PRelu", x, slope))
    graph = agrees(net.model(net.qdq(y, 0.0413, -100)), tmp_path, mode=mode)
    assert "PRelu" in kinds(graph)


@pytest.mark.parametrize("mode", ["ort", "single"])
@pytest.mark.parametrize(("axis", "opset"), [(-1, 17), (1, 17), (2, 13), (1, 11), (3, 11), (2, 10)])
def test_softmax_over_any_axis(mode: Mode, axis: int, opset: int, tmp_path: Path) -> None:
    net = Net()
    y = net.op("Softmax", net.qdq(net.input((1, 3, 4, 5)), *S8), axis=axis)
    model = net.model(net.qdq(y, 1 / 256, -128), opset=opset, ir_version=5)
    graph = agrees(model, tmp_path, mode=mode)
    assert "Softmax" in kinds(graph)


@pytest.mark.parametrize("mode", ["ort", "single", "tflite"])
@pytest.mark.parametrize(("axis", "opset"), [(-1, 17), (1, 17), (2, 13), (1, 11), (3, 11)])
def test_log_softmax_over_any_axis(mode: Mode, axis: int, opset: int, tmp_path: Path) -> None:
    net = Net()
    y = net.op("LogSoftmax", net.qdq(net.input((1, 3, 4, 5)), *S8), axis=axis)
    model = net.model(net.qdq(y, 0.0413, 120), opset=opset, ir_version=5)
    graph = agrees(model, tmp_path, mode=mode)
    assert "LogSoftmax" in kinds(graph)


@pytest.mark.parametrize(
    ("scale", "zero", "kind"), [(1 / 16, 127, np.int8), (0.2, 255, np.uint8), (0.001, 32767, np.int16)]
)
def test_log_softmax_at_other_scales(scale: float, zero: int, kind: type, tmp_path: Path) -> None:
    net = Net()
    y = net.op("LogSoftmax", net.qdq(net.input((20, 60)), 0.11, 130, np.uint8))
    model = net.model(net.qdq(y, scale, zero, kind), opset=21, ir_version=10)
    agrees(model, tmp_path, spread=8.0)
    # TFLite's own form, where it applies, is coarser
    assert compare(model, tmp_path, mode="tflite", spread=8.0).largest <= 1.001


def test_identity_dropout_and_casts_between_floats_are_nothing(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Cast", net.op("Dropout", net.op("Identity", net.qdq(net.input((2, 30)), *S8))), to=1)
    graph = agrees(net.model(net.qdq(y, *S8)), tmp_path)
    assert kinds(graph) == ["Reshape"]  # a network input is not given out as an output


def test_two_names_of_one_tensor_are_two_outputs(tmp_path: Path) -> None:
    net = Net()
    y = net.qdq(net.op("Sigmoid", net.qdq(net.input((2, 30)), *S8)), 1 / 256, -128)
    graph = agrees(net.model(y, net.op("Identity", y)), tmp_path)
    assert len({o.value for o in graph.outputs}) == 2


def test_tables_of_tflite_mode_are_its_requantization(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Relu", net.qdq(net.input((2, 300)), *S8))
    assert compare(net.model(net.qdq(y, 0.07, -128)), tmp_path, "tflite").largest <= 1.001


def test_dequantize_with_another_scale_reads_integers_anew(tmp_path: Path) -> None:
    net = Net()
    q = net.q(net.input((2, 30)), 0.05, 3)
    graph = agrees(net.model(net.qdq(net.op("Tanh", net.dq(q, 0.02, -4)), 1 / 128)), tmp_path)
    assert kinds(graph) == ["Lut", "Lut"]


def test_source_names_follow_the_last_name_of_the_numbers(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Relu", net.qdq(net.input((2, 30)), *S8))
    model = net.model(net.qdq(y, 0.07, -128))
    graph = imported(model, tmp_path)
    (node,) = graph.nodes
    assert graph.values[node.outputs[0]].source == model.graph.node[-2].output[0]
    assert graph.values[graph.inputs[0].value].source == model.graph.node[0].output[0]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_cast_of_quantized_numbers_to_their_own_type_is_nothing(dtype: Any, tmp_path: Path) -> None:
    """PyTorch's FX exporter writes QuantizeLinear, Cast, DequantizeLinear."""
    net = Net()
    target = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    q = net.op("Cast", net.q(net.input((1, 4)), 0.05, 3, dtype), to=target)
    y = net.qdq(net.op("Relu", net.dq(q, 0.05, 3, dtype)), 0.05, 3, dtype)
    assert kinds(agrees(net.model(y), tmp_path)) == ["Clamp"]
