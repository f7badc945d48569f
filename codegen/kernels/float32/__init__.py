"""Kernels of float32 operators, family by family."""

from typing import Any

from codegen.kernels.float32 import unary
from codegen.kernels.kernel import Kernel

FLOAT32: tuple[Kernel[Any], ...] = (*unary.KERNELS,)
