"""codegen.build: every operator can be called, wrong calls are refused, and what is built runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import codegen
from codegen.build import Net, Tensor, Window, real_operators
from codegen.errors import CompileError
from codegen.frontends.onnx.real.translators import TRANSLATORS
from codegen.plugin import tools_with
from codegen.resources import resource_dir
from codegen.settle.float32.rules import FLOAT_RULES
from codegen.settle.rules import RULES
from codegen.settle.tflite.rules import RULES as TFLITE_RULES


def test_every_operator_that_is_read_can_be_called() -> None:
    net = Net()
    for domain, name in TRANSLATORS:
        assert callable(net.onnx[f"{domain}::{name}" if domain else name])
    for kind in (*RULES, *TFLITE_RULES, *FLOAT_RULES):
        assert kind in real_operators().values(), kind


@pytest.mark.parametrize("name", sorted(real_operators()))
def test_signatures_are_the_fields(name: str) -> None:
    kind = real_operators()[name]
    asked = inspect.signature(Net().real[name]).parameters
    fields = inspect.signature(kind).parameters
    assert list(asked)[1 : 1 + len(fields)] == list(fields)
    needed = [key for key, value in fields.items() if value.default is inspect.Parameter.empty]
    assert [key for key in needed if asked[key].default is not inspect.Parameter.empty] == []


def small(net: Net) -> Tensor:
    x = net.quantized(net.input("x", (1, 3, 8, 8)), 0.02)
    w = net.weights(np.random.default_rng(1).integers(-127, 128, (4, 3, 3, 3)).astype(np.int8), 0.01)
    return net.output(net.quantized(net.onnx.Conv(x, w, pads=[1, 1, 1, 1]), 0.05), "y")


def test_a_network_from_calls_is_compiled_and_verified(tmp_path: Path) -> None:
    net = Net("tiny")
    small(net)
    made = net.compile("cortex-m4", tmp_path / "out", goal="memory")
    assert made.manifest["name"] == "tiny"
    assert (made.path / "include" / "tiny.h").exists()
    found = codegen.verify(net.to_onnx(), samples=1)
    assert found.equal, found.first_difference


def test_the_numbers_are_numpys() -> None:
    net = Net()
    x = net.input("x", (2, 5))
    w = np.arange(15, dtype=np.float32).reshape(5, 3)
    net.output(net.onnx.Tanh(net.onnx.Add(net.onnx.MatMul(x, w), 0.5)), "y")
    given = np.linspace(-0.1, 0.1, 10, dtype=np.float32).reshape(2, 5)
    np.testing.assert_allclose(codegen.run(net.to_onnx(), given), np.tanh(given @ w + 0.5), atol=1e-6)


def test_a_scale_for_each_channel() -> None:
    net = Net()
    x = net.quantized(net.input("x", (1, 4, 6, 6)), 0.02)
    rng = np.random.default_rng(2)
    w = net.weights(rng.integers(-9, 9, (4, 1, 3, 3)).astype(np.int8), rng.uniform(0.01, 0.02, 4).astype(np.float32))
    net.output(net.quantized(net.onnx.Conv(x, w, group=4), 0.05, -3), "y")
    assert codegen.verify(net.to_onnx(), samples=1).equal


def test_a_network_of_tflites_definition_keeps_state(tmp_path: Path) -> None:
    """Of real numbers: what was seen so far, added up."""
    net = Net("sum", definition="tflite")
    x, s = net.input("x", (1, 4)), net.state(np.zeros((1, 4), np.float32))
    y = net.real.Binary(x, s, kind="Add")
    assert isinstance(y, Tensor)
    net.becomes(s, y)
    net.output(y, "y")
    project = net.compile("host", tmp_path / "out")
    with codegen.load(project) as network:
        one = np.ones((1, 4), np.float32)
        network.run(one)
        np.testing.assert_array_equal(network.run(one), 2 * one)


def test_a_plugins_operator_can_be_called(tmp_path: Path) -> None:
    plugin = resource_dir("examples") / "plugins" / "median" / "median_ops.py"
    net = Net("with_median", toolkit=tools_with([plugin]))
    x = net.quantized(net.input("x", (1, 2, 6, 5)), 0.02)
    y = net.onnx["example.median::MedianRows"](x, reach=1)
    net.output(net.quantized(y, 0.02), "y")
    made = net.compile("host", tmp_path / "out")
    assert [layer["operator"] for layer in made.manifest["layers"]] == ["MedianRows"]


NUMBERS: dict[str, Callable[[Net, Any], Any]] = {
    "Mul": lambda net, x: net.onnx.Mul(x, 2),
    "Add": lambda net, x: net.onnx.Add(1, x),
    "Add of a list": lambda net, x: net.onnx.Add(x, [1, 2, 3]),
    "Clip": lambda net, x: net.onnx.Clip(x, 0, 2),
    "Sum": lambda net, x: net.onnx.Sum(x, 3, x, 0.5),
    "Where": lambda net, x: net.onnx.Where(net.onnx.Less(x, 1), 0, x),
    "LeakyRelu": lambda net, x: net.onnx.LeakyRelu(x, alpha=1),
    "Constant": lambda net, x: net.onnx.Add(x, net.onnx.Constant(value=np.array([1.5, 2, 3]))),
    "ConstantOfShape": lambda net, x: net.onnx.Add(x, net.onnx.ConstantOfShape([3], value=np.array([2.5], np.float32))),
    "Reshape": lambda net, x: net.onnx.Reshape(x, [3, -1]),
}


@pytest.mark.parametrize("call", NUMBERS.values(), ids=NUMBERS)
def test_pythons_numbers_take_the_type_that_is_called_for(call: Callable[[Net, Any], Any]) -> None:
    """Golden and ONNX Runtime compute the same of the file."""
    from tests.support.outsider import ort_session

    net = Net()
    net.output(call(net, net.input("x", (2, 3))), "y")
    given = np.linspace(-4, 4, 6, dtype=np.float32).reshape(2, 3)
    theirs = ort_session(onnx.load_model_from_string(net.to_onnx())).run(None, {"x": given})[0]
    assert theirs.dtype == np.float32
    np.testing.assert_allclose(codegen.run(net.to_onnx(), given, "golden"), theirs, atol=1e-6)


def test_numbers_are_the_numbers_that_were_given() -> None:
    net = Net()
    x = net.input("x", (2, 3))
    net.output(net.onnx.Clip(net.onnx.LeakyRelu(net.onnx.Add(net.onnx.Mul(x, 2), 1), alpha=2), 0, 6), "y")
    given = np.linspace(-4, 4, 6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(codegen.run(net.to_onnx(), given, "golden"), np.clip(given * 2 + 1, 0, 6), atol=1e-6)


WRONG: dict[str, tuple[str, Callable[[Net, Any], Any]]] = {
    "no such operator": ("LAM-BUILD-001", lambda net, x: net.onnx.Convolution(x)),
    "no such real operator": ("LAM-BUILD-001", lambda net, x: net.real.conv(x)),
    "no such domain": ("LAM-BUILD-001", lambda net, x: net.onnx["nobody::Conv"](x)),
    "an attribute that it does not have": ("LAM-BUILD-002", lambda net, x: net.onnx.Relu(x, slope=1)),
    "an attribute left out": ("LAM-BUILD-002", lambda net, x: net.onnx.MaxPool(x)),
    "a field that it does not have": ("LAM-BUILD-002", lambda net, x: net.real.Transpose(x, order=(0, 1))),
    "a field left out": ("LAM-BUILD-002", lambda net, x: net.real.MaxPool(x)),
    "an attribute of another type": ("LAM-BUILD-002", lambda net, x: net.onnx.Softmax(x, axis=object())),
    "a tensor of another network": ("LAM-BUILD-003", lambda net, x: Net().onnx.Relu(x)),
    "a text": ("LAM-BUILD-003", lambda net, x: net.onnx.Relu("x")),
    "an object": ("LAM-BUILD-003", lambda net, x: net.onnx.Add(x, object())),
    "no output": ("LAM-BUILD-004", lambda net, x: net.to_onnx()),
    "two outputs alike": ("LAM-BUILD-004", lambda net, x: [net.output(x, "y"), net.output(x, "y")]),
    "two inputs alike": ("LAM-BUILD-004", lambda net, x: net.input("x", (1,))),
    "a zero point outside its type": ("LAM-BUILD-002", lambda net, x: net.quantized(x, 0.1, 300)),
    "a zero point that is not whole": ("LAM-BUILD-002", lambda net, x: net.quantized(x, 0.1, 1.5)),
    "a scale of text": ("LAM-BUILD-003", lambda net, x: net.quantized(x, "a")),
    "integers of no type": ("LAM-BUILD-002", lambda net, x: net.quantized(x, 0.1, 0, "zzz")),
    "no shape": ("LAM-BUILD-002", lambda net, x: net.input("y", None)),
    "a shape of text": ("LAM-BUILD-002", lambda net, x: net.input("y", "N")),
    "a shape of longer text": ("LAM-BUILD-002", lambda net, x: net.input("y", "abc")),
    "a shape of digits": ("LAM-BUILD-002", lambda net, x: net.input("y", "12")),
    "a shape of one number": ("LAM-BUILD-002", lambda net, x: net.input("y", 3)),
    "an open size": ("LAM-BUILD-002", lambda net, x: net.input("y", ("N", 3))),
    "a negative size": ("LAM-BUILD-002", lambda net, x: net.input("y", (1, -3))),
    "a size that is not whole": ("LAM-BUILD-002", lambda net, x: net.input("y", (1, 3.7))),
    "an empty name": ("LAM-BUILD-002", lambda net, x: net.input("", (1, 3))),
    "a number as name": ("LAM-BUILD-002", lambda net, x: net.input(3, (1, 3))),  # type: ignore[arg-type]
    "elements of no type": ("LAM-BUILD-002", lambda net, x: net.input("y", (1, 3), "zzz")),
    "elements of text": ("LAM-BUILD-002", lambda net, x: net.input("y", (1, 3), str)),
    "held by no Stored": ("LAM-BUILD-002", lambda net, x: net.input("y", (1, 3), held=3)),  # type: ignore[arg-type]
    "a constant of text": ("LAM-BUILD-003", lambda net, x: net.const("a")),
    "a ragged constant": ("LAM-BUILD-003", lambda net, x: net.const([[1], [1, 2]])),
    "a state of text": ("LAM-BUILD-003", lambda net, x: net.state("a")),  # type: ignore[arg-type]
    "an output of text": ("LAM-BUILD-003", lambda net, x: net.output("a")),  # type: ignore[arg-type]
    "an output of an array": ("LAM-BUILD-003", lambda net, x: net.output(np.ones(2))),  # type: ignore[arg-type]
    "an output called 3": ("LAM-BUILD-002", lambda net, x: net.output(x, 3)),  # type: ignore[arg-type]
    "no outputs": ("LAM-BUILD-002", lambda net, x: net.onnx.Relu(x, outputs=0)),
    "outputs of text": ("LAM-BUILD-002", lambda net, x: net.onnx.Relu(x, outputs="2")),
    "a node called 3": ("LAM-BUILD-002", lambda net, x: net.onnx.Relu(x, name=3)),
    "a window of nothing": ("LAM-BUILD-002", lambda net, x: net.real.MaxPool(x, windows=(Window(0, 2), Window(2)))),
    "a window that stays": ("LAM-BUILD-002", lambda net, x: net.real.MaxPool(x, windows=(Window(2, 0), Window(2)))),
    "windows of text": ("LAM-BUILD-002", lambda net, x: net.real.MaxPool(x, windows="ab")),
    "no weights": ("LAM-BUILD-002", lambda net, x: net.real.Conv(x, windows=(Window(2), Window(2)))),
    "one term": ("LAM-BUILD-002", lambda net, x: net.real.Binary(x, kind="Add")),
    "outputs held by 3": ("LAM-BUILD-002", lambda net, x: net.real.Function(x, name="Tanh", held=3)),
    "no state": ("LAM-BUILD-003", lambda net, x: net.becomes(x, x)),
    "a state of another shape": ("LAM-BUILD-002", lambda net, x: net.becomes(net.state(np.ones(2)), x)),
    "no operator": ("LAM-BUILD-002", lambda net, x: net.apply(3, x)),  # type: ignore[arg-type]
    "a class": ("LAM-BUILD-002", lambda net, x: net.apply(int, x)),  # type: ignore[arg-type]
    "an operator called 3": ("LAM-BUILD-001", lambda net, x: net.onnx[3]),  # type: ignore[index]
    "no such option": ("LAM-BUILD-002", lambda net, x: net.compile(goals="memory")),
    "no such definition": ("LAM-BUILD-002", lambda net, x: Net(definition="foo")),  # type: ignore[arg-type]
    "no toolkit": ("LAM-BUILD-002", lambda net, x: Net(toolkit=3)),  # type: ignore[arg-type]
    "a network without a name": ("LAM-BUILD-002", lambda net, x: Net("")),
    "half of a whole number": ("LAM-IMPORT-014", lambda net, x: net.onnx.Mul(net.onnx.Shape(x), 0.5)),
    "shapes that do not fit": ("LAM-", lambda net, x: net.onnx.MatMul(x, np.ones((7, 2), np.float32))),
    "a window that does not fit": ("LAM-", lambda net, x: net.real.MaxPool(x, windows=(Window(99), Window(99)))),
    "no input": ("LAM-", lambda net, x: net.onnx.Relu()),
    "a required input left out": ("LAM-", lambda net, x: net.onnx.Conv(x, None)),
    "an attribute out of range": ("LAM-", lambda net, x: net.onnx.Softmax(x, axis=9)),
}


@pytest.mark.parametrize(("code", "call"), WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_refused_and_the_network_is_as_it_was(code: str, call: Callable[[Net, Any], Any]) -> None:
    net = Net()
    x = net.input("x", (1, 3, 8, 8))
    with pytest.raises(CompileError) as refused:
        call(net, x)
    assert refused.value.code.startswith(code), refused.value
    assert net.const(np.ones(1, np.float32)).name == "const", "no constant is left"
    net.output(net.onnx.Relu(x), "fine")
    assert len(net.graph().nodes) == 1
