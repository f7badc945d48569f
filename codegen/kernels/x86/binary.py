"""Sums, differences and products of two computed tensors of bytes that lie alike, sixteen elements at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import DType
from codegen.kernels.binary import add_fields
from codegen.kernels.kernel import adapted
from codegen.kernels.x86.common import BYTES, ISAS, factor_fields, takes_factors
from codegen.ops import Add, Mul
from codegen.ops.add import left_shift, shared_shift, tflite_scalings

_LARGEST_PRODUCT = 255 * 255


@dataclass(frozen=True, slots=True)
class X86BinaryContext:
    """Literals: the operator and its mode, the types, elements of a pixel."""

    op: str
    mode: str
    sign: int
    saturates: bool
    a_signed: bool
    b_signed: bool
    type: str
    channels: int


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    if isa not in ISAS or not isinstance(op, Add | Mul) or node.dynamic != (0, 1):
        return False
    (y,) = node.outs
    if any(x.shape != y.shape or x.dtype not in BYTES for x in node.ins) or y.dtype not in BYTES:
        return False
    if isinstance(op, Mul):
        return takes_factors(op.requant, y.dtype, _LARGEST_PRODUCT)
    return _takes_scales(op)


def _takes_scales(op: Add) -> bool:
    """Whether the shifts have the signs that lam_x86_binary.h shifts by."""
    if op.mode == "single":
        return 0 <= shared_shift(op.a, op.b, op.y_quant)[2] <= 31
    if op.mode == "tflite":
        (_, a), (_, b), (_, y) = tflite_scalings(op.a, op.b, op.y_quant, left_shift(op.y_dtype))
        return all(-31 <= e <= 0 for e in (a, b)) and -31 <= y < 0
    return True


def _mode_and_bounds(op: Add | Mul) -> tuple[str, tuple[int, int]]:
    if isinstance(op, Add):
        return op.mode, (op.low, op.high)
    assert op.requant is not None
    return op.requant.mode, (op.requant.low, op.requant.high)


def _context(node: NodeView) -> X86BinaryContext:
    op, y = node.op, node.outs[0]
    assert isinstance(op, Add | Mul)
    a, b = node.ins
    mode, bounds = _mode_and_bounds(op)
    return X86BinaryContext(
        op="sum" if isinstance(op, Add) else "product",
        mode=mode.upper(),
        sign=op.sign if isinstance(op, Add) else 1,
        saturates=bounds == (y.dtype.low, y.dtype.high),
        a_signed=a.dtype is DType.S8,
        b_signed=b.dtype is DType.S8,
        type=y.dtype.name,
        channels=y.shape[-1] if y.shape else 1,
    )


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    if isinstance(op, Add):
        return add_fields(op)
    assert isinstance(op, Mul)
    zeros = np.array([op.a_zero_point, op.b_zero_point], np.int32)
    return (*factor_fields(op.requant, _LARGEST_PRODUCT), Field("zero", zeros))


def _explain(node: NodeView) -> str:
    return "x86: 16 elements at a time"


BINARY = adapted("x86_binary", "x86/binary.c.j2", "pixels", _accepts, _context, _params, explain=_explain)
