"""A number without axes has no channels that tiles of a scratchpad could share out."""

from __future__ import annotations

from codegen import api
from codegen.build import Net


def test_a_number_without_axes_compiles_for_a_scratchpad() -> None:
    net = Net("scalar")
    net.output(net.onnx.Exp(net.onnx.ReduceSum(net.input("x", (4, 5)), keepdims=0)))
    assert api.verify(net.to_onnx(), target="sophgo-like").equal
