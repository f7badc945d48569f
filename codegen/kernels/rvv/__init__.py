"""Kernels for RISC-V's vector extension: output channels lie along the vector, however long it is."""

from typing import Any

from codegen.kernels.kernel import Kernel
from codegen.kernels.rvv import sums

RVV: tuple[Kernel[Any], ...] = (sums.DEPTHWISE, sums.DENSE, sums.CONV)
"""In the order in which they are tried."""
