"""A plan may have an output some way before its input: a Softmax along columns overwrote the next column there."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import codegen
from tests.support.onnx_files import onnx_model, ports_of


def network() -> bytes:
    """Softmax along the rows of what is not read again, beside products of it that are larger."""
    rng = np.random.default_rng(3)
    sizes = {"w2": (10, 3), "w4": (10, 3), "w5": (3, 3)}
    given = [numpy_helper.from_array(rng.normal(size=s).astype(np.float32), n) for n, s in sizes.items()]
    node = onnx.helper.make_node
    nodes = [
        node("Concat", ["a", "a"], ["twice"], axis=2),
        node("MatMul", ["twice", "w2"], ["first"]),
        node("Softmax", ["a"], ["shares"], axis=1),
        node("MatMul", ["twice", "w4"], ["second"]),
        node("MatMul", ["first", "w5"], ["third"]),
        node("Concat", ["second", "a"], ["beside"], axis=2),
    ]
    feeds = {"a": np.zeros((1, 6, 5), np.float32)}
    return onnx_model(nodes, ports_of(feeds), ["shares", "third", "beside"], given).SerializeToString()


@pytest.mark.parametrize("goal", ["memory", "balanced", "speed"])
def test_c_equals_golden(goal: str) -> None:
    feeds = {"a": np.random.default_rng(1).normal(size=(1, 6, 5)).astype(np.float32)}
    golden = codegen.run(network(), feeds, engine="golden")
    found = codegen.run(network(), feeds, engine="c", goal=goal)
    assert all(np.array_equal(golden[name], found[name]) for name in golden)
