"""Kernels in plain C99, blocked for the register file of cores without vector instructions."""

from typing import Any

from codegen.kernels.blocked.add import BLOCKED_ADD
from codegen.kernels.blocked.conv import blocked_conv, lined_conv
from codegen.kernels.blocked.cores import CORES
from codegen.kernels.blocked.depthwise import blocked_depthwise, lined_depthwise
from codegen.kernels.blocked.groups import GROUP_PAIRS
from codegen.kernels.blocked.pairs import blocked_pairs
from codegen.kernels.blocked.product import BLOCKED_PRODUCTS, BLOCKED_SUMS
from codegen.kernels.blocked.winograd import blocked_winograd
from codegen.kernels.kernel import Kernel

BLOCKED: tuple[Kernel[Any], ...] = (
    BLOCKED_ADD,
    *BLOCKED_PRODUCTS,
    *BLOCKED_SUMS,
    GROUP_PAIRS,
    *(kernel for core in CORES.values() if core.pair for kernel in blocked_pairs(core)),
    *(blocked_depthwise(core) for core in CORES.values()),
    *(kernel for core in CORES.values() for kernel in blocked_conv(core)),
)
"""In the order in which they are tried; but for sums and products of two tensors, each is for one kind of core."""

BLOCKED_FASTER: tuple[Kernel[Any], ...] = (
    *(blocked_winograd(CORES[name]) for name in ("armv7m", "rv32")),
    lined_depthwise(CORES["armv7m"]),
    *lined_conv(CORES["armv7m"]),
)
"""Those that take more flash, and some more scratch: goals `size` and `memory` take the ones before."""
