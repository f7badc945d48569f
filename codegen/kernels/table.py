"""The kernel table: one line per kernel, tried in order; the first that accepts a node serves it."""

from __future__ import annotations

from typing import Any

from codegen.kernels import (
    binary,
    conv2d,
    conv_transpose,
    dense,
    depthwise,
    join,
    l2_norm,
    lstm,
    matmul,
    movement,
    pieces,
    pool,
    reduce,
    resize,
    select,
    sigmoid16,
    slopes,
    softmax,
    sums,
    svdf,
    take,
    unary,
)
from codegen.kernels.blocked import BLOCKED
from codegen.kernels.dsp import DSP
from codegen.kernels.kernel import Kernel
from codegen.kernels.mve import MVE
from codegen.kernels.x86 import X86

KERNELS: tuple[Kernel[Any], ...] = (
    join.KNOWN,
    *DSP,
    *MVE,
    *X86,
    *BLOCKED,
    depthwise.DEPTHWISE,
    dense.DENSE_SHIFTED,
    dense.DENSE,
    conv2d.CONV2D,
    conv_transpose.CONV_TRANSPOSE,
    matmul.MATMUL,
    binary.PIXELS,
    binary.ROWS,
    pool.MAX,
    pool.MEAN,
    pool.GLOBAL_MEAN,
    reduce.GLOBAL_SUM,
    sums.ADD_N,
    sums.CUMULATIVE,
    reduce.ARG_EXTREMUM,
    resize.BILINEAR,
    softmax.SOFTMAX,
    softmax.SOFTMAX_FIXED,
    softmax.SOFTMAX16,
    softmax.LOG_SOFTMAX,
    softmax.LOG_SOFTMAX_FIXED,
    l2_norm.L2_NORM,
    sigmoid16.SIGMOID16,
    pieces.PIECEWISE_LINEAR,
    svdf.SVDF,
    lstm.LSTM,
    unary.LUT,
    unary.LUT16,
    unary.CLAMP,
    unary.QUANTIZE,
    unary.DEQUANTIZE,
    unary.RESCALE,
    slopes.TWO_SLOPES,
    take.TAKE,
    select.SELECT,
    join.CONCAT_PIXELS,
    join.CONCAT_ROWS,
    join.CONCAT_STACKED,
    join.CONCAT_WHOLE,
    join.PAD,
    *movement.MOVEMENT,
)
