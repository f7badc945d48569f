"""Softmax over the channels of each pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.op import NodeView
from codegen.ir.program import Field, Kernel
from codegen.lower.kernels.common import channels, only_dynamic
from codegen.ops import Softmax
from codegen.ops.softmax import exp_table, reciprocal


@dataclass(frozen=True, slots=True)
class SoftmaxContext:
    """Elements per pixel."""

    channels: int


def _accepts(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Softmax) and only_dynamic(node)


def _context(node: NodeView) -> SoftmaxContext:
    return SoftmaxContext(channels(node.ins[0].shape))


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Softmax)
    numerator, shift = reciprocal(op.y_quant)
    return (
        Field("power", np.array(exp_table(op.x_quant), np.uint32)),
        Field("reciprocal", np.array([numerator >> 32, numerator & 0xFFFFFFFF], np.uint32)),
        Field("step", np.array([op.y_quant.zero_point, op.y_dtype.high, shift], np.int32)),
    )


SOFTMAX = Kernel("softmax", "softmax.c.j2", "pixels", _accepts, _context, _params)
