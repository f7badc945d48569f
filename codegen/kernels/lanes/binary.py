"""Sums, differences and products of two computed tensors of bytes that lie alike, sixteen elements at a time."""

from __future__ import annotations

from functools import partial

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.kernels.binary import add_fields
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.lanes.common import Processor, factor_fields, mode_name, takes_factors
from codegen.kernels.weighted import BYTES
from codegen.ops import Add, Mul
from codegen.ops.add import left_shift, tflite_scalings
from codegen.records import record

_LARGEST_PRODUCT = 255 * 255


@record
class LanesBinaryContext:
    """Literals: the operator and its mode, the types, elements of a pixel."""

    op: str
    mode: str
    sign: int
    saturates: bool
    a_signed: bool
    b_signed: bool
    type: str
    channels: int


def _fit(on: Processor, node: NodeOf[Add | Mul]) -> Fit | None:
    op, y = node.op, node.outs[0]
    if node.dynamic != (0, 1) or y.dtype not in BYTES:
        return None
    if any(x.shape != y.shape or x.dtype not in BYTES for x in node.ins):
        return None
    takes = _takes_scales(op) if isinstance(op, Add) else takes_factors(op.requant, y.dtype, _LARGEST_PRODUCT)
    return Fit(_context(node), _params(op), why=f"{on.name}: 16 elements at a time") if takes else None


def _takes_scales(op: Add) -> bool:
    """Whether the shifts have the signs that lam_lanes_binary.h shifts by."""
    if op.formula == "single":
        return op.rounding == "half_up" and 0 <= op.single_steps()[2] <= 31
    if op.mode == "tflite":
        (_, a), (_, b), (_, y) = tflite_scalings(op.a, op.b, op.y_quant, left_shift(op.y_dtype))
        return all(-31 <= e <= 0 for e in (a, b)) and -31 <= y < 0
    return True


def _mode_and_bounds(op: Add | Mul) -> tuple[str, tuple[int, int]]:
    if isinstance(op, Add):
        return op.formula.upper(), (op.low, op.high)
    assert op.requant is not None
    return mode_name(op.requant, _LARGEST_PRODUCT), (op.requant.low, op.requant.high)


def _context(node: NodeOf[Add | Mul]) -> LanesBinaryContext:
    op, y = node.op, node.outs[0]
    a, b = node.ins
    mode, bounds = _mode_and_bounds(op)
    return LanesBinaryContext(
        op="sum" if isinstance(op, Add) else "product",
        mode=mode,
        sign=op.sign if isinstance(op, Add) else 1,
        saturates=bounds == (y.dtype.low, y.dtype.high),
        a_signed=a.dtype is DType.S8,
        b_signed=b.dtype is DType.S8,
        type=y.dtype.name,
        channels=y.shape[-1] if y.shape else 1,
    )


def _params(op: Add | Mul) -> tuple[Field, ...]:
    if isinstance(op, Add):
        return add_fields(op)
    zeros = np.array([op.a_zero_point, op.b_zero_point], np.int32)
    return (*factor_fields(op.requant, _LARGEST_PRODUCT), Field("zero", zeros))


def binary_kernel(on: Processor) -> Kernel[Add | Mul]:
    """The kernel for a processor."""
    name, fit, headers = f"{on.name}_binary", partial(_fit, on), ("lam_lanes_binary.h",)
    return Kernel(name, "lanes/binary.c.j2", "pixels", (Add, Mul), fit, on.needs, headers=headers)
