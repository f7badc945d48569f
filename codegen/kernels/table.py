"""The kernel table, family by family: kernels are tried in order, and the first that accepts a node serves it."""

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
    *depthwise.KERNELS,
    *dense.KERNELS,
    *conv2d.KERNELS,
    *conv_transpose.KERNELS,
    *matmul.KERNELS,
    *binary.KERNELS,
    *pool.KERNELS,
    *reduce.KERNELS,
    *sums.KERNELS,
    *resize.KERNELS,
    *softmax.KERNELS,
    *l2_norm.KERNELS,
    *sigmoid16.KERNELS,
    *pieces.KERNELS,
    *svdf.KERNELS,
    *lstm.KERNELS,
    *unary.KERNELS,
    *slopes.KERNELS,
    *take.KERNELS,
    *select.KERNELS,
    *join.KERNELS,
    *movement.KERNELS,
)
