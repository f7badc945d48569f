"""The kernel table: one line per kernel, tried in order; the first that accepts a node serves it."""

from __future__ import annotations

from codegen.ir.program import Kernel
from codegen.lower.kernels import conv2d, dense, depthwise

KERNELS: tuple[Kernel, ...] = (
    depthwise.DEPTHWISE,
    dense.DENSE,
    conv2d.CONV2D,
)
