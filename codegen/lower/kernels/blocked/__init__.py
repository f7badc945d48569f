"""Kernels in plain C99, blocked for the register file of cores without vector instructions."""

from codegen.lower.kernels.blocked.add import blocked_add
from codegen.lower.kernels.blocked.conv import blocked_conv
from codegen.lower.kernels.blocked.depthwise import blocked_depthwise
from codegen.lower.kernels.blocked.registers import CORES

BLOCKED = tuple(make(core) for core in CORES.values() for make in (blocked_depthwise, blocked_conv, blocked_add))
"""In the order in which they are tried; each serves one instruction set."""
