"""Kernels of sixteen lanes, for x86 and AArch64.

They run on AVX-512 with VNNI, AVX2, AArch64 with or without dot products, or in plain C99 (runtime_c/isa/lanes),
chosen by what the C compiler may use.
"""

from typing import Any

from codegen.kernels.kernel import Kernel
from codegen.kernels.lanes.binary import binary_kernel
from codegen.kernels.lanes.common import PROCESSORS
from codegen.kernels.lanes.conv import conv_kernel
from codegen.kernels.lanes.dense import dense_kernel
from codegen.kernels.lanes.depthwise import depthwise_kernel
from codegen.kernels.lanes.group_pairs import GROUP_PAIRS
from codegen.kernels.lanes.groups import GROUPS

LANES: tuple[Kernel[Any], ...] = (
    GROUP_PAIRS,
    GROUPS,
    *(make(on) for on in PROCESSORS for make in (depthwise_kernel, dense_kernel, conv_kernel, binary_kernel)),
)
"""In the order in which they are tried."""
