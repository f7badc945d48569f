"""Networks whose inputs are single numbers: an array without axes stays one on its way to golden and to the C."""

from __future__ import annotations

import numpy as np

from codegen.api import verify
from codegen.build import Net


def test_an_input_without_axes_is_verified() -> None:
    net = Net()
    net.output(net.onnx.Pow(net.input("x", (3,)), net.input("k", ())))
    assert verify(net.to_onnx(), samples=2).equal


def test_a_sum_keeps_the_axis_that_a_reshape_gave_it() -> None:
    """The sum of a number without axes and a constant of one axis has one; the Reshape in front must stay there."""
    net = Net()
    net.output(net.onnx.Add(net.onnx.Reshape(net.input("x", ()), [1]), np.ones(1, np.float32)))
    assert verify(net.to_onnx(), samples=2).equal
