"""Which kernel serves which node, what it packs and what it needs: the table, one folder per instruction set.

The plan must know what each kernel needs, so that kernels are chosen before it is made.
"""

from codegen.kernels.chip import check_target, left_to_core, target_problems, unsaid
from codegen.kernels.choose import (
    choose_kernels,
    estimated_cycles,
    expected_cycles,
    fastest_first,
    fastest_form,
    find_form,
    kernel_needs,
    leaner,
    leanest,
    packing_growth,
    pays,
    select_kernels,
    slim,
    spare_growth,
)
from codegen.kernels.column import has_column
from codegen.kernels.few import few_notes
from codegen.kernels.slices import channel_slice, cuts, same_function
from codegen.kernels.table import KERNELS, TABLE, KernelTable
from codegen.kernels.tiles import params_needs

__all__ = [
    "KERNELS",
    "TABLE",
    "KernelTable",
    "channel_slice",
    "check_target",
    "choose_kernels",
    "cuts",
    "estimated_cycles",
    "expected_cycles",
    "fastest_first",
    "fastest_form",
    "few_notes",
    "find_form",
    "has_column",
    "kernel_needs",
    "leaner",
    "leanest",
    "left_to_core",
    "packing_growth",
    "params_needs",
    "pays",
    "same_function",
    "select_kernels",
    "slim",
    "spare_growth",
    "target_problems",
    "unsaid",
]
