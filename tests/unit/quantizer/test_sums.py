"""Which tensor is added to a layer's result."""

from __future__ import annotations

import numpy as np

from codegen.ir.real import RealGraph, RealNode, RealOp, RealType, RealValue
from codegen.quantizer.sums import added_behind
from codegen.real.elementwise import Binary, Function

PLANE, BIAS = (1, 4), (4,)


def graph(*nodes: tuple[RealOp, tuple[str, ...], str], outputs: tuple[str, ...] = ("z",)) -> RealGraph:
    made = tuple(RealNode(out, op, ins, (out,), out, type(op).__name__) for op, ins, out in nodes)
    names = dict.fromkeys(["x", *(n for node in made for n in node.inputs + node.outputs)])
    values = {n: RealValue(n, RealType(PLANE)) for n in names}
    for name in ("b", "c"):
        values[name] = RealValue(name, RealType(BIAS), np.ones(BIAS, np.float32))
    return RealGraph("g", values, made, ("x",), outputs, "onnx")


ADD, RELU = Binary("Add"), Function("Relu")


def test_both_operands_of_a_sum() -> None:
    found = added_behind(graph((RELU, ("x",), "y"), (ADD, ("y", "s"), "z")), ())
    assert found["y"] == "s"
    assert found["s"] == "y"


def test_a_bias_may_come_between() -> None:
    nodes = (RELU, ("x",), "y"), (ADD, ("y", "b"), "v"), (ADD, ("s", "v"), "z")
    assert added_behind(graph(*nodes), {"b"})["y"] == "s"
    assert "y" not in added_behind(graph(*nodes), ())


def test_what_is_read_elsewhere_or_goes_through_a_function_has_none() -> None:
    assert "y" not in added_behind(graph((RELU, ("x",), "y"), (ADD, ("y", "s"), "z"), (RELU, ("y",), "w")), ())
    assert "y" not in added_behind(graph((RELU, ("x",), "y"), (ADD, ("y", "s"), "z"), outputs=("z", "y")), ())
    assert "y" not in added_behind(graph((RELU, ("x",), "y"), (RELU, ("y",), "v"), (ADD, ("v", "s"), "z")), ())


def test_a_tensor_added_to_itself_and_a_constant_have_none() -> None:
    assert added_behind(graph((RELU, ("x",), "y"), (ADD, ("y", "y"), "z")), ()) == {}
    assert "y" not in added_behind(graph((RELU, ("x",), "y"), (ADD, ("y", "c"), "z")), ())
