"""Kernels of float32 operators, family by family."""

from typing import Any

from codegen.kernels.float32 import (
    anchors,
    blocks,
    boxes,
    conv2d,
    dense,
    matmul,
    pool,
    poses,
    recurrent,
    reduce,
    slides,
    softmax,
    taps,
    trees,
    unary,
)
from codegen.kernels.kernel import Kernel

FLOAT32: tuple[Kernel[Any], ...] = (
    *slides.KERNELS,
    *blocks.KERNELS,
    *dense.KERNELS,
    *conv2d.KERNELS,
    *matmul.KERNELS,
    *pool.KERNELS,
    *unary.KERNELS,
    *reduce.KERNELS,
    *softmax.KERNELS,
    *taps.KERNELS,
    *recurrent.KERNELS,
    *trees.KERNELS,
    *anchors.KERNELS,
    *boxes.KERNELS,
    *poses.KERNELS,
)
