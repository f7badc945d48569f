"""ConvInteger and MatMulInteger: their zero points may be left out.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import TypeUnsupported, ZeroPointBad
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.frontends.onnx.real.window import conv_windows
from codegen.real.integer import ConvInteger, MatMulInteger


def conv_integer(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ConvInteger."""
    x, windows = conv_windows(r, node)
    op = ConvInteger(windows, node.integer("group", 1, low=1))
    return [r.apply(op, [x, *_sides(r, node)[1:]], node)]


def matmul_integer(r: Reading, node: OnnxNode) -> Sequence[str]:
    """MatMulInteger."""
    return [r.apply(MatMulInteger(), _sides(r, node), node)]


def _sides(r: Reading, node: OnnxNode) -> list[str]:
    """Both sides and their zero points."""
    sides = [r.value(node, 0), r.value(node, 1)]
    return [*sides, *(_zero(r, node, 2 + i, side) for i, side in enumerate(sides))]


def _zero(r: Reading, node: OnnxNode, index: int, side: str) -> str:
    dtype = r.type(side).dtype
    if dtype not in (np.int8, np.uint8):
        raise TypeUnsupported(f"a product of {dtype}", where=node.where)
    zero = r.optional(node, index)
    if zero is None:
        return r.constant(f"{node.outputs[0]}:zero{index - 2}", np.zeros((), dtype))
    if r.type(zero).dtype != dtype:
        raise ZeroPointBad(f"a zero point of type {r.type(zero).dtype} for a tensor of type {dtype}", where=node.where)
    return zero


TRANSLATORS: Table = {
    ("", "ConvInteger"): conv_integer,
    ("", "MatMulInteger"): matmul_integer,
}
