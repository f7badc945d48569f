"""Elementwise operators on 8-bit values: sums and products of two computed tensors, tables, limits."""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field, Told
from codegen.ir.op import NodeOf, NodeView
from codegen.ir.quant import Array, DType
from codegen.kernels.common import channels
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.mve.common import MVE, is_fast, lane_factors
from codegen.kernels.unary import byte_table
from codegen.kernels.weighted import BYTES
from codegen.ops import Add, Clamp, Lut, Mul
from codegen.ops.add import Scaling, left_shift, tflite_scalings
from codegen.records import record

_HALF: Scaling = (1 << 30, 0)
_LEFT = left_shift(DType.S8)
_HEADERS = ("lam_mve_elements.h",)


@record
class MveBinaryContext:
    """Literals of a sum or product; `first` and `second` are the operands in the primitive's order.

    `rectified`: no sum is below the zero point, as behind a ReLU.
    """

    form: str
    mode: str
    unsigned: bool
    minus: bool
    rectified: bool
    first: int
    second: int
    channels: int

    @property
    def told(self) -> Told:
        """The number of elements, which is asked for once."""
        return Told(("channels",), row=1.0)


@record
class MveElementContext:
    """Literals of a table or a limit."""

    form: str
    unsigned: bool
    channels: int


def _bytes_alike(node: NodeView) -> bool:
    """Whether all inputs are of one 8-bit type, and the output is of 8 bits too."""
    kinds = {x.dtype for x in node.ins}
    return len(kinds) == 1 and kinds <= set(BYTES) and node.outs[0].dtype in BYTES


def _fit_binary(node: NodeOf[Add | Mul]) -> Fit | None:
    op = node.op
    if node.dynamic != (0, 1) or not _bytes_alike(node):
        return None
    if node.ins[0].shape != node.ins[1].shape or node.ins[0].shape != node.outs[0].shape:
        return None
    fast = _fast_sum(op) if isinstance(op, Add) else is_fast(op.requant) and not op.requant.per_channel
    return Fit(_binary_context(node), _binary_params(op), why=_why(4)) if fast else None


def _fast_sum(op: Add) -> bool:
    if op.formula != "tflite":
        return op.formula == "single" and op.rounding == "half_up"
    multiplier, exponent = tflite_scalings(op.a, op.b, op.y_quant, _LEFT)[2]
    return exponent <= -1 or multiplier == 0


def _binary_context(node: NodeOf[Add | Mul]) -> MveBinaryContext:
    op = node.op
    swapped = isinstance(op, Add) and op.mode == "tflite" and not _second_is_exact(op)
    return MveBinaryContext(
        form="mul" if isinstance(op, Mul) else f"add_{op.formula}",
        mode=op.requant.mode if isinstance(op, Mul) else op.formula,
        unsigned=node.ins[0].dtype is DType.U8,
        minus=swapped and isinstance(op, Add) and op.sign < 0,
        rectified=isinstance(op, Add) and op.low >= op.y_quant.zero_point,
        first=1 if swapped else 0,
        second=0 if swapped else 1,
        channels=channels(node.outs[0].shape),
    )


def _second_is_exact(op: Add) -> bool:
    """In TFLite's sum the operand of the larger scale is halved, which a left shift by one less does exactly."""
    return tflite_scalings(op.a, op.b, op.y_quant, _LEFT)[1] == _HALF


def _binary_params(op: Add | Mul) -> tuple[Field, ...]:
    return (Field("numbers", np.array(_sum(op) if isinstance(op, Add) else _product(op), np.int32)),)


def _sum(op: Add) -> list[int]:
    return _single_sum(op) if op.formula == "single" else _tflite_sum(op)


def _product(op: Mul) -> list[int]:
    r = op.requant
    multiplier, shift = lane_factors(r, 1)
    outer = _output(r.zero_point, r.low, r.high)
    return [int(multiplier[0]), int(shift[0]), *outer, op.a_zero_point, op.b_zero_point]


def _output(zero_point: int, low: int, high: int) -> tuple[int, int, int]:
    """Zero point, and the bounds less the zero point."""
    return zero_point, low - zero_point, high - zero_point


def _single_sum(op: Add) -> list[int]:
    ma, mb, shift = op.single_steps()
    mb *= op.sign
    offset = (1 << (shift - 1)) - ma * op.a.zero_point - mb * op.b.zero_point
    return [ma, mb, offset, -shift, op.y_quant.zero_point, op.low, op.high]


def _tflite_sum(op: Add) -> list[int]:
    """Numbers of lam_mve_add_tflite: the operand with two roundings, the exact one, the output."""
    scale_a, scale_b, (my, ey) = tflite_scalings(op.a, op.b, op.y_quant, _LEFT)
    if _second_is_exact(op):
        rounded, factors, exact, sign = op.a, scale_a, op.b, op.sign
    else:
        rounded, factors, exact, sign = op.b, scale_b, op.a, 1
    # a factor of one half, which takes no right shift, is one shift more to either side
    left, exponent = (_LEFT + 1, -1) if factors == _HALF else (_LEFT, min(factors[1], -1))
    half = sign << (_LEFT - 1)
    return [
        1 << left,
        factors[0],
        exponent,
        -rounded.zero_point << left,
        half,
        -exact.zero_point * half,
        my,
        min(ey, -1),
        op.y_quant.zero_point,
        op.low,
        op.high,
    ]


def _fit_lut(node: NodeOf[Lut]) -> Fit | None:
    if not _bytes_alike(node):
        return None
    table: Array = byte_table(node.op.table, node.ins[0].dtype, node.op.y_dtype)
    return Fit(_element_context(node, "lut"), (Field("table", table.view(np.uint8)),), why=_why(16))


def _fit_clamp(node: NodeOf[Clamp]) -> Fit | None:
    if not _bytes_alike(node):
        return None
    bounds = Field("bounds", np.array([node.op.low, node.op.high], np.int32))
    return Fit(_element_context(node, "clamp"), (bounds,), why=_why(16))


def _element_context(node: NodeView, form: str) -> MveElementContext:
    x = node.ins[0]
    return MveElementContext(form, x.dtype is DType.U8, channels(x.shape))


def _why(lanes: int) -> str:
    return f"Helium, {lanes} elements at a time"


BINARY: Kernel[Add | Mul] = Kernel(
    "mve_binary", "mve/binary.c.j2", "pixels", (Add, Mul), _fit_binary, MVE, headers=_HEADERS
)
LUT = Kernel("mve_lut", "mve/element.c.j2", "pixels", (Lut,), _fit_lut, MVE, one_input=True, headers=_HEADERS)
CLAMP = Kernel("mve_clamp", "mve/element.c.j2", "pixels", (Clamp,), _fit_clamp, MVE, one_input=True, headers=_HEADERS)
