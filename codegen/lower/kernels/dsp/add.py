"""Elementwise sums of bytes in mode `single`, four at a time: one factor each, one shift, one saturation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.op import NodeView
from codegen.ir.program import Field, Kernel
from codegen.ir.quant import DType
from codegen.lower.kernels.common import range_field
from codegen.lower.kernels.fast import saturation
from codegen.ops import Add
from codegen.ops.add import shared_shift

_BYTES = (DType.S8, DType.U8)
_INT32 = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class SumContext:
    """Literals: types of the operands, elements per pixel, what the output saturates to (FastRequant.saturate)."""

    a_t: str
    b_t: str
    y_t: str
    channels: int
    saturate: str


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    if isa != "armv7em" or not isinstance(op, Add) or op.mode != "single":
        return False
    alike = node.dynamic == (0, 1) and node.ins[0].shape == node.ins[1].shape == node.outs[0].shape
    return alike and all(t.dtype in _BYTES for t in (*node.ins, *node.outs)) and _sums(op) is not None


def _sums(op: Add) -> tuple[int, int, int, int] | None:
    """Factors, offset and shift such that 2 * y = ((offset + ma * a + mb * b) >> shift), before saturation.

    The output's zero point and one half are in the offset.  None where that leaves 32 bits or the shift is 0.
    """
    ma, mb, shift = shared_shift(op.a, op.b, op.y_quant)
    mb *= op.sign
    centre = ((2 * op.y_quant.zero_point + 1) << (shift - 1)) - ma * op.a.zero_point - mb * op.b.zero_point
    reach = abs(centre) + 255 * (abs(ma) + abs(mb))
    return (ma, mb, centre, shift - 1) if shift > 0 and reach <= _INT32 else None


def _context(node: NodeView) -> SumContext:
    op = node.op
    assert isinstance(op, Add)
    a, b = node.ins
    y = node.outs[0]
    return SumContext(a.dtype.ctype, b.dtype.ctype, y.dtype.ctype, y.shape[-1], saturation(op.low, op.high))


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Add)
    return (Field("sum", np.array(_sums(op), np.int32)), range_field(op.y_quant.zero_point, op.low, op.high))


def _explain(node: NodeView) -> str:
    return "both factors on a common shift, zero points and rounding in one offset"


ADD = Kernel("dsp_add", "dsp_add.c.j2", "pixels", _accepts, _context, _params, explain=_explain)
