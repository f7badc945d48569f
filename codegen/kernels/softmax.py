"""Softmax over the channels of each pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import DType
from codegen.kernels.common import (
    RequantContext,
    channels,
    only_dynamic,
    requant_context,
    requant_fields,
)
from codegen.kernels.kernel import adapted
from codegen.ops import LogSoftmax, Softmax, Softmax16, log_softmax, softmax16
from codegen.ops.softmax import SUM_BITS, exp_table, fixed_exp_table, reciprocal


@dataclass(frozen=True, slots=True)
class SoftmaxContext:
    """Elements per pixel; `wide` where powers are products of two tables, as those of 16-bit numbers."""

    channels: int
    wide: bool


@dataclass(frozen=True, slots=True)
class FixedContext:
    """Literals of TFLite's form: elements per pixel, shifts, and the output type's bounds."""

    channels: int
    sum_shift: int
    shift: int
    lowest: int
    highest: int


def _accepts(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Softmax) and not node.op.is_tflite and only_dynamic(node)


def _accepts_fixed(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Softmax) and node.op.is_tflite and only_dynamic(node)


def _context(node: NodeView) -> SoftmaxContext:
    return SoftmaxContext(channels(node.ins[0].shape), _is_wide(node))


def _is_wide(node: NodeView) -> bool:
    return node.ins[0].dtype is DType.S16


def _params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Softmax)
    numerator, shift = reciprocal(op.y_quant)
    coarse = Field("coarse", np.array(exp_table(op.x_quant, 256 * op.beta), np.uint32))
    return (
        Field("power", np.array(exp_table(op.x_quant, op.beta), np.uint32)),
        *((coarse,) if _is_wide(node) else ()),
        Field("reciprocal", np.array([numerator >> 32, numerator & 0xFFFFFFFF], np.uint32)),
        Field("step", np.array([op.y_quant.zero_point, op.y_dtype.high, shift], np.int32)),
    )


def _fixed_context(node: NodeView) -> FixedContext:
    op = node.op
    assert isinstance(op, Softmax)
    dtype = op.y_dtype
    shift = SUM_BITS + 31 - 8 * dtype.bytes
    return FixedContext(channels(node.ins[0].shape), SUM_BITS, shift, dtype.low, dtype.high)


def _fixed_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Softmax)
    return (Field("power", np.array(fixed_exp_table(op.x_quant, op.beta), np.int32)),)


def _accepts_16(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Softmax16) and only_dynamic(node)


def _params_16(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, Softmax16)
    return (
        Field("step", np.array([op.multiplier, op.exponent], np.int32)),
        Field("power", np.array(softmax16.exp_table(), np.int16)),
        Field("inverse", np.array(softmax16.reciprocal_table(), np.int16)),
    )


@dataclass(frozen=True, slots=True)
class LogContext:
    """Elements per pixel, the integer bits of the logarithm and of the sum, and the shifts that both are brought by."""

    channels: int
    input_bits: int
    sum_bits: int
    sum_shift: int
    sum_half: int
    shift: int
    rq: RequantContext


@dataclass(frozen=True, slots=True)
class FixedLogContext:
    """Elements per pixel, the integer bits of differences and of their sum, and the shift to steps of the output."""

    channels: int
    input_bits: int
    sum_bits: int
    shift: int


def _accepts_log(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, LogSoftmax) and not node.op.is_tflite and only_dynamic(node)


def _accepts_log_fixed(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, LogSoftmax) and node.op.is_tflite and only_dynamic(node)


def _log_context(node: NodeView) -> LogContext:
    op = node.op
    assert isinstance(op, LogSoftmax)
    return LogContext(
        channels=channels(node.ins[0].shape),
        input_bits=log_softmax.INPUT_BITS,
        sum_bits=log_softmax.SUM_BITS,
        sum_shift=log_softmax.SUM_SHIFT,
        sum_half=1 << log_softmax.SUM_SHIFT >> 1,
        shift=log_softmax.LOG_BITS - log_softmax.fraction_bits(op),
        rq=requant_context(log_softmax.log_requant(op)),
    )


def _log_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, LogSoftmax)
    return (
        *requant_fields(log_softmax.log_requant(op)),
        Field("depth", np.array(log_softmax.depth_table(op), np.int32)),
        Field("power", np.array(exp_table(op.x_quant), np.uint32)),
    )


def _log_fixed_context(node: NodeView) -> FixedLogContext:
    bits = (log_softmax.INPUT_BITS, log_softmax.SUM_BITS)
    return FixedLogContext(channels(node.ins[0].shape), *bits, log_softmax.SHIFT)


def _log_fixed_params(node: NodeView) -> tuple[Field, ...]:
    op = node.op
    assert isinstance(op, LogSoftmax)
    depths, powers = log_softmax.tables(op.x_quant)
    return (
        Field("depth", np.array(depths, np.int32)),
        Field("power", np.array(powers, np.int32)),
        Field("back", np.array(log_softmax.reverse(op.x_quant), np.int32)),
    )


SOFTMAX = adapted("softmax", "softmax.c.j2", "pixels", _accepts, _context, _params)
SOFTMAX_FIXED = adapted("softmax_fixed", "softmax_fixed.c.j2", "pixels", _accepts_fixed, _fixed_context, _fixed_params)
SOFTMAX16 = adapted("softmax16", "softmax16.c.j2", "pixels", _accepts_16, _context, _params_16)
LOG_SOFTMAX = adapted("log_softmax", "log_softmax.c.j2", "pixels", _accepts_log, _log_context, _log_params)
LOG_SOFTMAX_FIXED = adapted(
    "log_softmax_fixed", "log_softmax_fixed.c.j2", "pixels", _accepts_log_fixed, _log_fixed_context, _log_fixed_params
)
