"""Kernels of float32 operators, family by family."""

from typing import Any

from codegen.kernels.float32 import reduce, softmax, taps, unary
from codegen.kernels.kernel import Kernel

FLOAT32: tuple[Kernel[Any], ...] = (*unary.KERNELS, *reduce.KERNELS, *softmax.KERNELS, *taps.KERNELS)
