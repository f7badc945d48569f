"""Sigmoid16: logistic and tanh of 16-bit numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.op import NodeView
from codegen.ir.program import Field, Kernel
from codegen.lower.kernels.common import channels, only_dynamic
from codegen.ops import Sigmoid16
from codegen.ops.sigmoid16 import sigmoid_table


@dataclass(frozen=True, slots=True)
class SigmoidContext:
    """Elements per pixel, and the literals of ops/sigmoid16.py: y = (d >= 0 ? r + up : down - r) >> last."""

    channels: int
    bits: int
    mask: int
    beyond: int
    up: int
    down: int
    last: int


def _accepts(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Sigmoid16) and only_dynamic(node)


def _context(node: NodeView) -> SigmoidContext:
    op = node.op
    assert isinstance(op, Sigmoid16)
    size = channels(node.ins[0].shape)
    if op.function == "logistic":
        return SigmoidContext(size, 9, 511, 0x7FFF << 10, 1 << 9, (1 << 25) + (1 << 9) - 1, 10)
    return SigmoidContext(size, 8, 255, 0xFFFF << 8, (1 << 7) - (1 << 23), (1 << 23) + (1 << 7) - 1, 8)


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Sigmoid16)
    return (
        Field("scaling", np.array([op.multiplier, (1 << op.shift) >> 1, op.shift], np.int32)),
        Field("table", np.array(sigmoid_table(), np.uint16)),
    )


SIGMOID16 = Kernel("sigmoid16", "sigmoid16.c.j2", "pixels", _accepts, _context, _params)
