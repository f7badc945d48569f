"""Plan to Program: chooses a kernel per node, packs its parameters, resolves rows to addresses.

`select_kernels` runs before scheduling (the plan must know each kernel's scratch), `lower` after it.
"""

from codegen.lower.lower import lower
from codegen.lower.select import scratch_sizes, select_kernels

__all__ = ["lower", "scratch_sizes", "select_kernels"]
