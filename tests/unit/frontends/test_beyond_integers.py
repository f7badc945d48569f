"""Operators between integers whose limits are known with the result's scale: real numbers are in their place there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.frontends.onnx.survey import survey_onnx
from codegen.ir.graph import Graph
from tests.unit.frontends.models import Net, compare, imported, saved

WORD, FINE_WORD = (2e-4, 0, np.int16), (3e-5, 0, np.int16)
Build = Callable[[Net], str]


def reduced(kind: str, count: int, x: tuple[Any, ...], y: tuple[Any, ...]) -> Build:
    """A reduction of so many numbers."""

    def build(net: Net) -> str:
        axes = net.const(np.array([1]), np.int64)
        return net.qdq(net.op(kind, net.qdq(net.input((2, count)), *x), axes), *y)

    return build


def summed(net: Net) -> str:
    """Two tensors of scales so different that no shift holds both."""
    a, b = net.qdq(net.input((1, 4)), 1e30), net.qdq(net.input((1, 4), name="b"), 0.05)
    return net.qdq(net.op("Add", a, b), 0.05)


def normal(factor: float) -> Build:
    """A normalization whose factor is more than the result's steps hold."""

    def build(net: Net) -> str:
        scale = net.const(np.full(7, factor), np.float32)
        return net.qdq(net.op("LayerNormalization", net.qdq(net.input((2, 7))), scale))

    return build


def long_rows(net: Net) -> str:
    """Rows of more entries than LogSoftmax's sum holds, and bounds that follow it."""
    y = net.op("LogSoftmax", net.qdq(net.input((1, 5000)), 0.1))
    low, high = (net.const(np.float32(bound)) for bound in (-12, -7))
    return net.qdq(net.op("Clip", y, low, high), 0.1)


def rugged(net: Net) -> str:
    """A function of more straight pieces than one has."""
    return net.qdq(net.op("Sin", net.qdq(net.input((6, 50)), 0.05, 0, np.int16)), 3e-5, 0, np.int16)


def bounded(net: Net) -> str:
    """The larger of a sum that has no form and a constant for each row: the sum is asked for its integers within."""
    axes, low = net.const(np.array([1]), np.int64), net.const(np.array([[3.0], [-2.0]]), np.float32)
    total = net.op("ReduceSum", net.qdq(net.input((2, 20000)), 0.05), axes)
    return net.qdq(net.op("Max", total, low), 10.0)


CASES: dict[str, Build] = {
    "LogSoftmax": long_rows,
    "ReduceSum": reduced("ReduceSum", 20000, (0.05,), (10.0,)),
    "ReduceMean": reduced("ReduceMean", 40000, WORD, FINE_WORD),
    "ReduceL1": reduced("ReduceL1", 3, (1e-3,), (1e-30,)),
    "ReduceL2": reduced("ReduceL2", 12, WORD, (1e-15, 0, np.int16)),
    "Add": summed,
    "LayerNormalization": normal(1e30),
    "Sin": rugged,
    "Max": bounded,
}


def computes_reals(graph: Graph) -> bool:
    """Whether a layer between the borders makes float32 numbers."""
    return any(graph.type(o).dtype.is_float for node in graph.nodes for o in node.outputs)


@pytest.mark.parametrize("name", CASES)
def test_a_network_has_real_numbers_where_an_operator_has_no_integers(name: str, tmp_path: Path) -> None:
    """Beside ONNX Runtime, which computes with real numbers there too."""
    net = Net()
    y = CASES[name](net)
    found = compare(net.model(y, opset=21, ir_version=10), tmp_path, "single")
    assert computes_reals(found.graph)
    assert found.largest <= 1.001


@pytest.mark.parametrize(("name", "limit"), [("LogSoftmax", "at most 4095 channels"), ("Add", "below 2^19 times")])
def test_its_layer_says_which_limit_it_was(name: str, limit: str, tmp_path: Path) -> None:
    """Not that its result is read as real numbers, which it is not."""
    net = Net()
    graph = imported(net.model(CASES[name](net), opset=21, ir_version=10), tmp_path)
    notes = [node.note for node in graph.nodes if name in node.note]
    assert notes
    assert all(limit in note for note in notes), notes


@pytest.mark.parametrize("name", CASES)
def test_a_survey_of_it_finds_real_numbers_too(name: str, tmp_path: Path) -> None:
    """It reads the network as importing does, which has nothing to refuse."""
    net = Net()
    path = saved(net.model(CASES[name](net), opset=21, ir_version=10), tmp_path)
    found = survey_onnx(path, mode="single")
    assert found.problems == ()
    assert found.graph is not None
    assert computes_reals(found.graph)
