"""Kernels for the DSP extension of Armv7E-M (Cortex-M4, M7, M33): two products an instruction, on widened inputs.

Every primitive has a portable twin (runtime_c/isa/armv7em/lam_armv7em.h), so the same kernels run on any chip.
"""

from __future__ import annotations

from codegen.ir.program import Kernel
from codegen.lower.kernels.dsp import columns, depthwise

LEVELS = ("armv7em",)
"""The instruction-set levels that these kernels serve."""

DSP: tuple[Kernel, ...] = (depthwise.DEPTHWISE, columns.DENSE, columns.POINTWISE, columns.CONV2D)
