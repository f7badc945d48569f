"""Kernels in plain C99, blocked for the register file of cores without vector instructions."""

from codegen.kernels.blocked.add import BLOCKED_ADD
from codegen.kernels.blocked.conv import blocked_conv
from codegen.kernels.blocked.depthwise import blocked_depthwise
from codegen.kernels.blocked.registers import CORES

BLOCKED = (BLOCKED_ADD, *(make(core) for core in CORES.values() for make in (blocked_depthwise, blocked_conv)))
"""In the order in which they are tried; but for sums, each is for one kind of core."""
