"""Kernels for the DSP extension of Armv7E-M (Cortex-M4, M7, M33): two products an instruction, on widened inputs.

Every primitive has a portable twin (runtime_c/isa/dsp/), so the same kernels run on any chip.  With `wide`
weights have 16 bits, which spares widening them.
"""

from __future__ import annotations

from typing import Any

from codegen.kernels.dsp import depthwise
from codegen.kernels.dsp.columns import columns
from codegen.kernels.kernel import Kernel

DSP: tuple[Kernel[Any], ...] = (
    depthwise.DEPTHWISE,
    *columns(wide=False),
    *columns(wide=True),
)
