"""Sigmoid16: logistic and tanh of 16-bit numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.common import channels, only_dynamic
from codegen.kernels.kernel import adapted
from codegen.ops import Sigmoid16
from codegen.ops.sigmoid16 import sigmoid_table


@dataclass(frozen=True, slots=True)
class SigmoidContext:
    """Elements per pixel, and the function's name."""

    channels: int
    function: str


def _accepts(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Sigmoid16) and only_dynamic(node)


def _context(node: NodeView) -> SigmoidContext:
    op = node.op
    assert isinstance(op, Sigmoid16)
    return SigmoidContext(channels(node.ins[0].shape), op.function)


def _params(node: NodeView) -> tuple[Field, ...]:
    assert isinstance(node.op, Sigmoid16)
    return curve_fields(node.op)


def curve_fields(op: Sigmoid16) -> tuple[Field, ...]:
    """Params `steps` = [factor, half, shift] and `table`, as lam_logistic_s16 and lam_tanh_s16 take them."""
    return (
        Field("steps", np.array([op.multiplier, (1 << op.shift) >> 1, op.shift], np.int32)),
        Field("table", np.array(sigmoid_table(), np.uint16)),
    )


SIGMOID16 = adapted("sigmoid16", "sigmoid16.c.j2", "pixels", _accepts, _context, _params)
