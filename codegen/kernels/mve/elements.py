"""Elementwise operators on 8-bit values: sums and products of two computed tensors, tables, limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array, DType
from codegen.kernels.common import channels, only_dynamic
from codegen.kernels.kernel import adapted
from codegen.kernels.mve.common import ISA, is_fast, lane_factors
from codegen.kernels.unary import byte_table
from codegen.ops import Add, Clamp, Lut, Mul
from codegen.ops.add import Scaling, left_shift, shared_shift, tflite_scalings

_HALF: Scaling = (1 << 30, 0)
_LEFT = left_shift(DType.S8)


@dataclass(frozen=True, slots=True)
class MveBinaryContext:
    """Literals of a sum or product; `first` and `second` are the operands in the primitive's order."""

    form: str
    mode: str
    unsigned: bool
    minus: bool
    first: int
    second: int
    channels: int


@dataclass(frozen=True, slots=True)
class MveElementContext:
    """Literals of a table or a limit."""

    form: str
    unsigned: bool
    channels: int


def _bytes_alike(node: NodeView, *, outputs: bool) -> bool:
    """Whether all inputs are of one 8-bit type, and with `outputs` the output is of 8 bits too."""
    kinds = {x.dtype for x in node.ins}
    eight = (DType.S8, DType.U8)
    return len(kinds) == 1 and kinds <= set(eight) and (not outputs or node.outs[0].dtype in eight)


def _accepts_binary(node: NodeView, isa: str) -> bool:
    op = node.op
    if isa != ISA or not isinstance(op, Add | Mul) or node.dynamic != (0, 1) or not _bytes_alike(node, outputs=True):
        return False
    if node.ins[0].shape != node.ins[1].shape or node.ins[0].shape != node.outs[0].shape:
        return False
    if isinstance(op, Mul):
        return is_fast(op.requant) and not op.requant.per_channel
    if op.mode != "tflite":
        return op.mode == "single"
    multiplier, exponent = tflite_scalings(op.a, op.b, op.y_quant, _LEFT)[2]
    return exponent <= -1 or multiplier == 0


def _binary_context(node: NodeView) -> MveBinaryContext:
    op = node.op
    assert isinstance(op, Add | Mul)
    swapped = isinstance(op, Add) and op.mode == "tflite" and not _second_is_exact(op)
    return MveBinaryContext(
        form="mul" if isinstance(op, Mul) else f"add_{op.mode}",
        mode=op.requant.mode if isinstance(op, Mul) else op.mode,
        unsigned=node.ins[0].dtype is DType.U8,
        minus=swapped and isinstance(op, Add) and op.sign < 0,
        first=1 if swapped else 0,
        second=0 if swapped else 1,
        channels=channels(node.outs[0].shape),
    )


def _second_is_exact(op: Add) -> bool:
    """In TFLite's sum the operand of the larger scale is halved, which a left shift by one less does exactly."""
    return tflite_scalings(op.a, op.b, op.y_quant, _LEFT)[1] == _HALF


def _binary_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    if isinstance(op, Mul):
        multiplier, shift = lane_factors(op.requant, 1)
        r = op.requant
        numbers = [multiplier[0], shift[0], *_output(r.zero_point, r.low, r.high), op.a_zero_point, op.b_zero_point]
    else:
        assert isinstance(op, Add)
        numbers = _single_sum(op) if op.mode == "single" else _tflite_sum(op)
    return (Field("numbers", np.array(numbers, np.int32)),)


def _output(zero_point: int, low: int, high: int) -> tuple[int, int, int]:
    """Zero point, and the bounds less the zero point."""
    return zero_point, low - zero_point, high - zero_point


def _single_sum(op: Add) -> list[int]:
    ma, mb, shift = shared_shift(op.a, op.b, op.y_quant)
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


def _accepts_lut(node: NodeView, isa: str) -> bool:
    return isa == ISA and isinstance(node.op, Lut) and only_dynamic(node) and _bytes_alike(node, outputs=True)


def _accepts_clamp(node: NodeView, isa: str) -> bool:
    return isa == ISA and isinstance(node.op, Clamp) and only_dynamic(node) and _bytes_alike(node, outputs=True)


def _element_context(node: NodeView) -> MveElementContext:
    x = node.ins[0]
    form = "lut" if isinstance(node.op, Lut) else "clamp"
    return MveElementContext(form, x.dtype is DType.U8, channels(x.shape))


def _lut_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Lut)
    table: Array = byte_table(op.table, node.ins[0].dtype, op.y_dtype)
    return (Field("table", table.view(np.uint8)),)


def _clamp_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Clamp)
    return (Field("bounds", np.array([op.low, op.high], np.int32)),)


def _explain(node: NodeView) -> str:
    lanes = 4 if isinstance(node.op, Add | Mul) else 16
    return f"Helium, {lanes} elements at a time"


BINARY = adapted(
    "mve_binary",
    "mve/binary.c.j2",
    "pixels",
    _accepts_binary,
    _binary_context,
    _binary_params,
    explain=_explain,
)
LUT = adapted("mve_lut", "mve/element.c.j2", "pixels", _accepts_lut, _element_context, _lut_params, explain=_explain)
CLAMP = adapted(
    "mve_clamp", "mve/element.c.j2", "pixels", _accepts_clamp, _element_context, _clamp_params, explain=_explain
)
