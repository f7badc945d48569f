"""Limits hold up to their last number, and no further."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from codegen.errors import OperatorLimit
from codegen.ir.op import Op
from codegen.ir.quant import DType, Quant, TensorType
from codegen.ir.shape import Window
from codegen.ops import (
    AddN,
    AveragePool2D,
    CumulativeSum,
    Div,
    GlobalAveragePool,
    GlobalSum,
    L2Norm,
    LayerNorm,
    LogSoftmax,
    Recurrent,
    ResizeWeighted,
    ScaledSum,
    Sigmoid16,
    Softmax,
    Softmax16,
    SquaredDifference,
    TotalPool2D,
    check_limits,
    make_requant,
)
from codegen.ops.log_softmax import OUTPUT as LOG_OUTPUT
from codegen.ops.recurrent import GateSteps
from tests.contract.case import q

S8, S16, S32 = DType.S8, DType.S16, DType.S32
ONE = Quant(1.0)
TFLITE_SOFTMAX = Softmax(Quant(0.125), Quant(2.0**-8, -128), S8, "tflite")
SUM = GlobalSum(0, make_requant("single", 1.0, [2.0**-9], ONE, S8), S8, ONE)
MEAN = GlobalAveragePool(ONE, ONE, S16, -32768, 32767, "single")
LOG = LogSoftmax(q(0.1), LOG_OUTPUT, S8, "tflite")


def mean_of(h: int, w: int) -> Op:
    return AveragePool2D(Window(h), Window(w), True, ONE, ONE, S16, -32768, 32767, "single")


def total_of(h: int, w: int) -> Op:
    return TotalPool2D(Window(h), Window(w), "squares", 0, 0)


def t(*shape: int, dtype: DType = S8) -> TensorType:
    return TensorType(shape, dtype)


def sum_of(count: int, scale: float = 1.0) -> Op:
    return ScaledSum((q(scale),) * count, (1,) * count, ONE, S8, -128, 127)


def weighed(bits: int, more: int = 0) -> Op:
    window = (0, ((more << bits) + (1 << bits), -(more << bits)))
    shift = max(2 * bits - 30, 0)
    return ResizeWeighted((window,), ((0, (1 << bits,)),), bits, ONE, ONE, S8, -128, 127, "single", shift)


def log_to(scale: float) -> Op:
    return LogSoftmax(q(0.1), q(scale), S8, "single")


BYTE = (t(4),)
BYTES = (t(4), t(4))
ROW = (t(4, dtype=S16),)
WORDS = ROW * 2
CELL = Recurrent("rnn", ("tanh",), GateSteps((1,), (1,), (1,)), 0)
CELL_INS = (t(2, 1, 4, dtype=S32), t(4, 4), t(4, dtype=S32), t(1, 4, dtype=S16))
NORM = LayerNorm((1,), (0,), 0, 0, S8, ONE)
SIZES = {
    "REDUCTION-05": ((SUM, (t(1, 129, 127, 1),)), (SUM, (t(1, 128, 128, 1),))),
    "REDUCTION-08": ((L2Norm(0), (t(1, 32767),)), (L2Norm(0), (t(1, 32768),))),
    "REDUCTION-14": ((NORM, (t(1, 1 << 23),)), (NORM, (t(1, (1 << 23) + 1),))),
    "RESIZE-06": ((weighed(22), (t(1, 2, 1, 1),)), (weighed(23), (t(1, 2, 1, 1),))),
    "RESIZE-07": (
        (weighed(15, 1), (t(1, 2, 1, 1, dtype=S16),)),
        (weighed(15, 2), (t(1, 2, 1, 1, dtype=S16),)),
    ),
    "REDUCTION-17": ((sum_of(15), BYTE * 15), (sum_of(16), BYTE * 16)),
    "REDUCTION-10": ((AddN(ONE, ONE, -128, 127), BYTE * 15), (AddN(ONE, ONE, -128, 127), BYTE * 16)),
    "ACTIVATION-04": ((TFLITE_SOFTMAX, (t(1, 4095),)), (TFLITE_SOFTMAX, (t(1, 4096),))),
    "ACTIVATION-11": (
        (Softmax16(1 << 30, 1), (t(1, 32767, dtype=S16),)),
        (Softmax16(1 << 30, 1), (t(1, 32768, dtype=S16),)),
    ),
    "ACTIVATION-14": ((LOG, (t(1, 4095),)), (LOG, (t(1, 4096),))),
    "POOL-06": (
        (mean_of(127, 258), (t(1, 127, 258, 1, dtype=S16),)),
        (mean_of(128, 256), (t(1, 128, 256, 1, dtype=S16),)),
    ),
    "POOL-12": (
        (total_of(4095, 4097), (t(1, 4095, 4097, 1),)),
        (total_of(4096, 4096), (t(1, 4096, 4096, 1),)),
    ),
    "POOL-14": (
        (TotalPool2D(Window(1), Window(2), "product", 0, 0, 24), (t(1, 1, 2, 1),)),
        (TotalPool2D(Window(1), Window(2), "product", 0, 0, 24), (t(1, 1, 2, 1, dtype=S16),)),
    ),
    "POOL-09": ((MEAN, (t(1, 151, 217, 1, dtype=S16),)), (MEAN, (t(1, 128, 256, 1, dtype=S16),))),
}
SCALES = {
    "POOL-13 of sums": (
        (TotalPool2D(Window(1), Window(2), "squares", 0, -(1 << 30)), (t(1, 1, 2, 1),)),
        (TotalPool2D(Window(1), Window(2), "squares", 0, -(1 << 30) - 1), (t(1, 1, 2, 1),)),
    ),
    "POOL-13": (
        (TotalPool2D(Window(1), Window(2), "length", 0, 30), (t(1, 1, 2, 1),)),
        (TotalPool2D(Window(1), Window(2), "length", 0, 31), (t(1, 1, 2, 1),)),
    ),
    "ACTIVATION-08": ((Sigmoid16("tanh", 65535, 1), ROW), (Sigmoid16("tanh", 65536, 1), ROW)),
    "ACTIVATION-10": ((Softmax16(1 << 30, 14), ROW), (Softmax16(1 << 30, 15), ROW)),
    "ACTIVATION-13": (
        (LogSoftmax(q(15.99), LOG_OUTPUT, S8, "tflite"), BYTE),
        (LogSoftmax(Quant(16.0), LOG_OUTPUT, S8, "tflite"), BYTE),
    ),
    "ACTIVATION-15": ((log_to(2.0**-12), BYTE), (log_to(2.0**-12 * 0.999), BYTE)),
    "ACTIVATION-15 above": ((log_to(2.0**10), BYTE), (log_to(2.0**10 * 1.001), BYTE)),
    "ACTIVATION-03": (
        (Softmax(ONE, Quant(2.0**-20), S8, "single"), BYTE),
        (Softmax(ONE, Quant(2.0**-21), S8, "single"), BYTE),
    ),
    "REDUCTION-18": ((sum_of(2, 2.0**14 * 0.999), BYTES), (sum_of(2, 2.0**14), BYTES)),
    "REDUCTION-11": (
        (AddN(q(2.0**19 * 0.999), ONE, -128, 127), BYTES),
        (AddN(Quant(2.0**19), ONE, -128, 127), BYTES),
    ),
    "REDUCTION-01": (
        (CumulativeSum(0, q(2.0**19 * 0.999), ONE, -128, 127, False, False), BYTE),
        (CumulativeSum(0, Quant(2.0**19), ONE, -128, 127, False, False), BYTE),
    ),
    "ELEMENTWISE-08": (
        (Div(q(2.0**22 * 0.999), ONE, ONE, -128, 127), BYTES),
        (Div(Quant(2.0**22), ONE, ONE, -128, 127), BYTES),
    ),
    "RECURRENT-11": (
        (replace(CELL, reach=14), CELL_INS),
        (replace(CELL, reach=15), CELL_INS),
    ),
    "ELEMENTWISE-08 of 16 bits": (
        (Div(q(2.0**15 * 0.999), ONE, ONE, -128, 127, S16), WORDS),
        (Div(Quant(2.0**15), ONE, ONE, -128, 127, S16), WORDS),
    ),
    "ELEMENTWISE-14": (
        (SquaredDifference(q(0.999), ONE, q(2.0**-12 * 1.001), S8, -128, 127), BYTES),
        (SquaredDifference(ONE, ONE, Quant(2.0**-12), S8, -128, 127), BYTES),
    ),
}
Used = tuple[Op, Sequence[TensorType]]


@pytest.mark.parametrize("code", [*SIZES, *SCALES])
def test_a_limit_holds_up_to_its_last_number(code: str) -> None:
    last, beyond = (SIZES | SCALES)[code]
    check_limits(*last)
    with pytest.raises(OperatorLimit, match=f"LAM-OPS-{code.split()[0]} "):
        check_limits(*beyond)
