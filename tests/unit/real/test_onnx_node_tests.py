"""The RealGraph's operators against ONNX's own tests of its operators."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from codegen.ir.real import RealType
from codegen.ir.shape import Window
from codegen.real.product import MatMul
from codegen.real.reduce import Reduce
from codegen.real.window import Conv
from tests.support import node_page
from tests.support.node_tests import results

FEWEST = 1700
"""Tests that are read; a change may only read more."""


def test_every_node_test_that_is_read_gives_what_onnx_says() -> None:
    read = {name: result for name, result in results().items() if not result.refusal}
    assert [name for name, result in read.items() if not result.right] == []
    assert len(read) >= FEWEST


@pytest.mark.skipif(onnx.__version__ != node_page.ONNX, reason=f"the page counts the tests of onnx {node_page.ONNX}")
def test_the_page_of_operators_is_what_the_tests_say() -> None:
    assert node_page.PAGE.read_text(encoding="utf-8") == node_page.page(), "run `make docs`"


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
