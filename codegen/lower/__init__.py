"""Plan to Program: chooses a kernel per node, packs its parameters, resolves rows to addresses.

`choose_kernels` runs before scheduling (the plan must know what each kernel needs), `lower` after it.
"""

from codegen.lower.banks import bank_conflicts
from codegen.lower.chip import check_target
from codegen.lower.local import lower_local
from codegen.lower.lower import lower
from codegen.lower.select import choose_kernels, find_kernel, kernel_needs, packing_growth, select_kernels
from codegen.lower.shadow import ShadowReport, shadow_run
from codegen.lower.shadow_local import shadow_local
from codegen.lower.tiles import params_needs

__all__ = [
    "ShadowReport",
    "bank_conflicts",
    "check_target",
    "choose_kernels",
    "find_kernel",
    "kernel_needs",
    "lower",
    "lower_local",
    "packing_growth",
    "params_needs",
    "select_kernels",
    "shadow_local",
    "shadow_run",
]
