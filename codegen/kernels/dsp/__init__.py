"""Kernels for the DSP extension of Armv7E-M (Cortex-M4, M7, M33): two products an instruction, on widened inputs.

Every primitive has a portable twin (runtime_c/isa/dsp/), so the same kernels run on any chip.  Level `armv7em_wide`
has weights of 16 bits, which spares widening them.
"""

from __future__ import annotations

from typing import Any

from codegen.kernels.dsp import depthwise
from codegen.kernels.dsp.columns import columns
from codegen.kernels.kernel import Kernel

DSP: tuple[Kernel[Any], ...] = (
    depthwise.DEPTHWISE,
    *columns("armv7em", wide=False),
    *columns("armv7em_wide", wide=True),
)
