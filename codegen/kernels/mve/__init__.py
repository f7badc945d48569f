"""Kernels for Helium, the vector extension of Armv8.1-M: 16 products of 8 bits per instruction, 4 sums at a time."""

from __future__ import annotations

from typing import Any

from codegen.kernels.kernel import Kernel
from codegen.kernels.mve import dense, depthwise, elements, groups, opened, pool, resize

MVE: tuple[Kernel[Any], ...] = (
    depthwise.DEPTHWISE,
    opened.OPENED,
    groups.GROUPS,
    dense.DENSE,
    dense.CONV2D,
    elements.BINARY,
    elements.LUT,
    elements.CLAMP,
    pool.MAX,
    pool.MEAN,
    pool.GLOBAL_MEAN,
    resize.BILINEAR,
)
