"""Kernels for the DSP extension of Armv7E-M (Cortex-M4, M7, M33): two products an instruction, on widened inputs.

Every primitive has a portable twin (runtime_c/isa/dsp/), so the same kernels run on any chip.  With `wide`
weights have 16 bits, which spares widening them.
"""

from __future__ import annotations

from typing import Any

from codegen.kernels.dsp.columns import DENSE_DIRECT, columns
from codegen.kernels.dsp.eights import EIGHTS
from codegen.kernels.dsp.few_dense import FEW_DENSE
from codegen.kernels.dsp.group_halves import GROUP_HALVES
from codegen.kernels.dsp.groups import GROUPS, PAIRS, THREES
from codegen.kernels.dsp.matmul import MATMUL
from codegen.kernels.dsp.opened import OPENED
from codegen.kernels.dsp.panels import panels
from codegen.kernels.dsp.slides import SLIDES, SMALL_SLIDES
from codegen.kernels.dsp.window_slides import WINDOW_SLIDES
from codegen.kernels.dsp.winograd import winograd
from codegen.kernels.kernel import Kernel


def _sums(*, wide: bool) -> tuple[Kernel[Any], ...]:
    """Dense layers of one pixel by themselves; what panels do not serve is summed two pixels at a time."""
    dense, pointwise, window = columns(wide=wide)
    return (
        *(() if wide else (FEW_DENSE,)),
        dense,
        *(() if wide else (DENSE_DIRECT,)),
        *panels(wide=wide),
        pointwise,
        window,
    )


# Goal `size` takes the first: the small form never takes fewer instructions, so that no other goal does.
DSP: tuple[Kernel[Any], ...] = (
    SMALL_SLIDES,
    SLIDES,
    GROUPS,
    PAIRS,
    THREES,
    GROUP_HALVES,
    OPENED,
    EIGHTS,
    *_sums(wide=False),
    *_sums(wide=True),
    winograd(wide=False),
    winograd(wide=True),
    MATMUL,
)

DSP_FASTER: tuple[Kernel[Any], ...] = (WINDOW_SLIDES,)
"""Those that other forms come before, for their code is smaller: goal `size` takes these."""
