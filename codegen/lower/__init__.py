"""Plan to Program: chooses a kernel per node, packs its parameters, resolves rows to addresses.

`select_kernels` runs before scheduling (the plan must know what each kernel needs), `lower` after it.
"""

from codegen.lower.lower import lower
from codegen.lower.select import kernel_needs, select_kernels
from codegen.lower.shadow import ShadowReport, shadow_run

__all__ = ["ShadowReport", "kernel_needs", "lower", "select_kernels", "shadow_run"]
