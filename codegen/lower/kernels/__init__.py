"""The kernel table: one line per kernel, tried in order; the first that accepts a node serves it."""

from __future__ import annotations

from codegen.ir.program import Kernel
from codegen.lower.kernels import (
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
    sigmoid16,
    slopes,
    softmax,
    svdf,
    unary,
)
from codegen.lower.kernels.blocked import BLOCKED
from codegen.lower.kernels.dsp import DSP
from codegen.lower.kernels.mve import MVE
from codegen.lower.kernels.x86 import X86

KERNELS: tuple[Kernel, ...] = (
    join.KNOWN,
    *DSP,
    *MVE,
    *X86,
    *BLOCKED,
    depthwise.DEPTHWISE,
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
    unary.CLAMP,
    unary.QUANTIZE,
    unary.DEQUANTIZE,
    unary.RESCALE,
    slopes.TWO_SLOPES,
    join.CONCAT_PIXELS,
    join.CONCAT_ROWS,
    join.CONCAT_STACKED,
    join.CONCAT_WHOLE,
    join.PAD,
    *movement.MOVEMENT,
)
