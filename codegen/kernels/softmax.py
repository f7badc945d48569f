"""Softmax over the channels of each pixel."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType
from codegen.kernels.common import RequantContext, channels, requant_context, requant_fields
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import LogSoftmax, Softmax, Softmax16, log_softmax, softmax16
from codegen.ops.softmax import SUM_BITS, exp_table, fixed_exp_table, reciprocal
from codegen.records import record

_WORD_BITS = 32
_FIXED = ("lam_fixed.h", "lam_requant.h")


@record
class SoftmaxContext:
    """Elements per pixel; `wide` where powers are products of two tables, as those of 16-bit numbers.

    `high`: results lie in the upper halves of products of 32 bits, from which they are shifted.
    """

    channels: int
    wide: bool
    high: bool = False


@record
class FixedContext:
    """Literals of TFLite's form: elements per pixel, shifts, and the output type's bounds."""

    channels: int
    sum_shift: int
    shift: int
    lowest: int
    highest: int


@record
class LogContext:
    """Elements per pixel, the integer bits of the logarithm and of the sum, and the shifts that both are brought by."""

    channels: int
    input_bits: int
    sum_bits: int
    sum_shift: int
    sum_half: int
    shift: int
    rq: RequantContext
    wide: bool


@record
class FixedLogContext:
    """Elements per pixel, the integer bits of differences and of their sum, and the shift to steps of the output."""

    channels: int
    input_bits: int
    sum_bits: int
    shift: int


def _fit(node: NodeOf[Softmax]) -> Fit | None:
    op, x = node.op, node.ins[0]
    if op.is_tflite:
        return None
    wide = x.dtype is DType.S16
    numerator, shift = reciprocal(op.y_quant)
    coarse = Field("coarse", np.array(exp_table(op.x_quant, 256 * op.beta), np.uint32)) if wide else None
    params = (
        Field("power", np.array(exp_table(op.x_quant, op.beta), np.uint32)),
        *((coarse,) if coarse else ()),
        Field("reciprocal", np.array([numerator >> 32, numerator & 0xFFFFFFFF], np.uint32)),
        Field("step", np.array([op.y_quant.zero_point, op.y_dtype.high, shift], np.int32)),
    )
    return Fit(
        SoftmaxContext(channels(x.shape), wide, high=shift >= _WORD_BITS),
        params,
        headers=("lam_power.h",) if wide else (),
    )


def _fit_fixed(node: NodeOf[Softmax]) -> Fit | None:
    op = node.op
    if not op.is_tflite:
        return None
    y = op.y_dtype
    context = FixedContext(channels(node.ins[0].shape), SUM_BITS, SUM_BITS + 31 - 8 * y.bytes, y.low, y.high)
    return Fit(context, (Field("power", np.array(fixed_exp_table(op.x_quant, op.beta), np.int32)),))


def _fit_16(node: NodeOf[Softmax16]) -> Fit:
    op, x = node.op, node.ins[0]
    params = (
        Field("step", np.array([op.multiplier, op.exponent], np.int32)),
        Field("power", np.array(softmax16.exp_table(), np.int16)),
        Field("inverse", np.array(softmax16.reciprocal_table(), np.int16)),
    )
    return Fit(SoftmaxContext(channels(x.shape), x.dtype is DType.S16), params)


def _fit_log(node: NodeOf[LogSoftmax]) -> Fit | None:
    op = node.op
    if op.is_tflite:
        return None
    requant, wide = log_softmax.log_requant(op), node.ins[0].dtype is DType.S16
    context = LogContext(
        channels=channels(node.ins[0].shape),
        input_bits=log_softmax.INPUT_BITS,
        sum_bits=log_softmax.SUM_BITS,
        sum_shift=log_softmax.SUM_SHIFT,
        sum_half=1 << log_softmax.SUM_SHIFT >> 1,
        shift=log_softmax.LOG_BITS - log_softmax.fraction_bits(op),
        rq=requant_context(requant),
        wide=wide,
    )
    power = Field("power", np.array(exp_table(op.x_quant), np.uint32))
    if wide:
        depth = Field("depth", np.array(log_softmax.depth_scaling(op), np.int32))
        coarse = Field("coarse", np.array(exp_table(op.x_quant, 256), np.uint32))
        return Fit(context, (*requant_fields(requant), depth, power, coarse), headers=("lam_power.h",))
    depth = Field("depth", np.array(log_softmax.depth_table(op), np.int32))
    return Fit(context, (*requant_fields(requant), depth, power))


def _fit_log_fixed(node: NodeOf[LogSoftmax]) -> Fit | None:
    quant = node.op.x_quant
    if not node.op.is_tflite:
        return None
    bits = (log_softmax.INPUT_BITS, log_softmax.SUM_BITS)
    depths, powers = log_softmax.tables(quant)
    params = (
        Field("depth", np.array(depths, np.int32)),
        Field("power", np.array(powers, np.int32)),
        Field("back", np.array(log_softmax.reverse(quant), np.int32)),
    )
    return Fit(FixedLogContext(channels(node.ins[0].shape), *bits, log_softmax.SHIFT), params)


SOFTMAX = Kernel("softmax", "softmax.c.j2", "pixels", (Softmax,), _fit, one_input=True, program_memory=True)
SOFTMAX_FIXED = Kernel(
    "softmax_fixed", "softmax_fixed.c.j2", "pixels", (Softmax,), _fit_fixed, one_input=True, headers=_FIXED
)
SOFTMAX16 = Kernel("softmax16", "softmax16.c.j2", "pixels", (Softmax16,), _fit_16, one_input=True, headers=_FIXED)
LOG_SOFTMAX = Kernel(
    "log_softmax", "log_softmax.c.j2", "pixels", (LogSoftmax,), _fit_log, one_input=True, headers=_FIXED
)
LOG_SOFTMAX_FIXED = Kernel(
    "log_softmax_fixed",
    "log_softmax_fixed.c.j2",
    "pixels",
    (LogSoftmax,),
    _fit_log_fixed,
    one_input=True,
    headers=_FIXED,
)

KERNELS: tuple[Kernel[Any], ...] = (SOFTMAX, SOFTMAX_FIXED, SOFTMAX16, LOG_SOFTMAX, LOG_SOFTMAX_FIXED)
