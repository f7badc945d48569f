"""Elementwise sums of bytes, four at a time, the zero points and the rounding in one offset wherever they can be.

`single`: 2 * y = (offset + Ma * a + Mb * b) >> shift.  `double`: TFLite scales each operand by a factor of at most one
half; of one half exactly the operand of the larger scale, which is a shift to the left and no rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.op import NodeView
from codegen.ir.program import Field, Kernel
from codegen.ir.quant import DType
from codegen.lower.kernels.common import range_field
from codegen.lower.kernels.fast import saturation
from codegen.ops import Add
from codegen.ops.add import Scaling, left_shift, shared_shift, tflite_scalings

_BYTES = (DType.S8, DType.U8)
_INT32 = (1 << 31) - 1
_HALF = (1 << 30, 0)
"""The multiplier and exponent of one half."""


@dataclass(frozen=True, slots=True)
class SumContext:
    """Literals: types of the operands, elements per pixel, what the output saturates to (FastRequant.saturate).

    `a_half`, `b_half`: the operand's factor is one half exactly (mode `double`).
    """

    mode: str
    sign: str
    a_t: str
    b_t: str
    y_t: str
    channels: int
    saturate: str
    a_half: bool = False
    b_half: bool = False


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    if isa != "armv7em" or not isinstance(op, Add):
        return False
    alike = node.dynamic == (0, 1) and node.ins[0].shape == node.ins[1].shape == node.outs[0].shape
    if not alike or any(t.dtype not in _BYTES for t in (*node.ins, *node.outs)):
        return False
    return _sums(op) is not None if op.mode == "single" else op.mode == "double" and _takes_scalings(op)


def _scalings(op: Add) -> tuple[Scaling, Scaling, Scaling]:
    return tflite_scalings(op.a, op.b, op.y_quant, left_shift(DType.S8))


def _takes_scalings(op: Add) -> bool:
    a, b, y = _scalings(op)
    return all(s == _HALF or s[1] < 0 for s in (a, b)) and y[1] < 0


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
    y = node.outs[0]
    double = op.mode == "double"
    a, b, _ = _scalings(op)
    return SumContext(
        mode=op.mode,
        sign="-" if double and op.sign < 0 else "+",
        a_t=node.ins[0].dtype.ctype,
        b_t=node.ins[1].dtype.ctype,
        y_t=y.dtype.ctype,
        channels=y.shape[-1],
        saturate=saturation(op.low, op.high),
        a_half=double and a == _HALF,
        b_half=double and b == _HALF,
    )


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Add)
    bounds = range_field(op.y_quant.zero_point, op.low, op.high)
    if op.mode == "single":
        return (Field("sum", np.array(_sums(op), np.int32)), bounds)
    less = [(m, max(-e - 1, 0)) for m, e in _scalings(op)]
    zeros = Field("zero", np.array([op.a.zero_point, op.b.zero_point], np.int32))
    return (Field("scaling", np.array(less, np.int32).reshape(-1)), zeros, bounds)


def _explain(node: NodeView) -> str:
    return "both factors on a common shift, zero points and rounding in one offset"


ADD = Kernel("dsp_add", "dsp_add.c.j2", "pixels", _accepts, _context, _params, explain=_explain)
