"""The RealGraph's operators against ONNX's own tests of its operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CompileError
from codegen.ir.real import RealGraph, RealType
from codegen.ir.shape import Window
from codegen.real.engine import RealEngine
from codegen.real.product import MatMul
from codegen.real.reduce import Reduce
from codegen.real.window import Conv
from tests.support.node_tests import NodeTest, node_tests, read

FEWEST = 1666
"""Tests that are read; a change may only read more."""


def _type(graph: RealGraph, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    return graph.type(name).shape, graph.type(name).dtype


def _agrees(found: np.ndarray, wanted: np.ndarray, case: NodeTest) -> bool:
    if (found.shape, found.dtype) != (wanted.shape, wanted.dtype):
        return False
    half = 2e-2 if wanted.dtype == np.float16 else 1e-5
    return np.allclose(found, wanted, rtol=case.rtol, atol=max(case.atol, half), equal_nan=True)


def test_every_node_test_that_is_read_gives_what_onnx_says(tmp_path: Path) -> None:
    done, wrong = 0, []
    for name, case in node_tests().items():
        try:
            graph = read(case, tmp_path)
        except CompileError:
            continue
        done += 1
        for exact in (True, False):
            found = RealEngine(graph, exact=exact).run({n: case.feeds[n] for n in graph.inputs})
            results = zip(found.values(), case.expected, strict=True)
            right = all(_agrees(a, b, case) for a, b in results)
            promised = all((a.shape, a.dtype) == _type(graph, n) for n, a in found.items())
            if not (right and promised):
                wrong.append((name, exact))
    assert not wrong
    assert done >= FEWEST


@pytest.mark.parametrize("kind", ["Conv", "MatMul", "ReduceSum"])
def test_exact_sums_keep_their_order(kind: str) -> None:
    """1 + 2^-24 ten times: from first to last nothing is added to 1; in another order something is."""
    terms = np.array([1.0] + [2.0**-24] * 10, np.float32)
    ones = np.ones(11, np.float32)
    if kind == "Conv":
        op, ins = Conv((Window(1),)), [terms.reshape(1, 11, 1), ones.reshape(1, 11, 1)]
    elif kind == "MatMul":
        op, ins = MatMul(), [terms.reshape(1, 11), ones.reshape(11, 1)]
    else:
        op, ins = Reduce("Sum", (0,)), [terms]
    (y,) = op.evaluate(ins)
    assert y.shape == op.infer([RealType(a.shape) for a in ins])[0].shape
    assert float(y.reshape(-1)[0]) == 1.0
    backwards = [np.ascontiguousarray(np.flip(a, int(np.argmax(a.shape)))) for a in ins]
    assert float(op.evaluate(backwards)[0].reshape(-1)[0]) > 1.0
