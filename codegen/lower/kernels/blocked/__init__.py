"""Kernels in plain C99, blocked for the register file of cores without vector instructions."""

from codegen.lower.kernels.blocked.conv import blocked_conv
from codegen.lower.kernels.blocked.registers import CORES

BLOCKED = tuple(blocked_conv(core) for core in CORES.values())
"""In the order in which they are tried; each serves one instruction set."""
