"""Chains of functions between two quantizations once ended in too deep a recursion, or took time without end.

A chain was evaluated from within: a step called the one before it, and a step that uses a tensor twice called it twice.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.frontends.onnx import import_onnx
from codegen.golden.interpreter import run_graph
from codegen.ops import Lut
from codegen.settle.chain import Function
from tests.unit.frontends.models import Net, saved


@pytest.mark.parametrize(
    ("operator", "length", "operands", "expected"),
    [("Neg", 1501, 1, [100, 0, -1, -100]), ("Mul", 60, 2, [127, 0, 0, 127]), ("Add", 60, 2, [-128, 0, 127, 127])],
)
def test_a_long_chain_is_one_table(
    operator: str, length: int, operands: int, expected: list[int], tmp_path: Path
) -> None:
    net = Net()
    y = net.qdq(net.input((1, 4)))
    for _ in range(length):
        y = net.op(operator, *(y,) * operands)
    graph = import_onnx(saved(net.model(net.qdq(y)), tmp_path), mode="single")
    assert [type(node.op) for node in graph.nodes] == [Lut]
    feeds = {graph.inputs[0].value: np.array([[-100, 0, 1, 100]], np.int8)}
    assert run_graph(graph, feeds)[graph.outputs[0].value].tolist() == [expected]


def test_a_composition_evaluates_each_step_once() -> None:
    calls = []

    def plus(*terms: np.ndarray) -> np.ndarray:
        calls.append(len(terms))
        return np.asarray(sum(terms))

    chain = Function(plus)
    for _ in range(50):
        chain = Function(plus, inner=(chain, chain))
    assert chain.apply(np.array([1.0, -3.0])).tolist() == [2.0**50, -3 * 2.0**50]
    assert calls == [1, *[2] * 50]
