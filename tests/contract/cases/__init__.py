"""Cases of every operator, a file for each family.

A new operator adds its cases to its family's file: at least one, and one in every mode that it knows.  The laws
(test_ops.py, test_answers.py) hold on them, and test_kernels.py compiles them.  An operator that multiplies says in its
family's PRODUCTS how often, counted another way than it counts itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from codegen.ir.op import Op
from codegen.ir.quant import ALL_MODES
from tests.contract.case import Case, named
from tests.contract.cases import (
    activation,
    border,
    conv,
    dense,
    elementwise,
    float_boxes,
    float_conv,
    float_dense,
    float_elementwise,
    float_pool,
    float_recurrent,
    float_reduction,
    float_trees,
    logic,
    movement,
    pool,
    recurrent,
    reduction,
    resize,
    signal,
)

FLOATS = (
    *(float_conv, float_dense, float_pool, float_elementwise, float_reduction, float_recurrent, float_trees),
    float_boxes,
)
FAMILIES = (
    *(conv, dense, elementwise, logic, pool, reduction, activation, recurrent, movement, resize, border, signal),
    *FLOATS,
)
PRODUCTS: Mapping[type[Op], Callable[[Case], int]] = {
    **(conv.PRODUCTS | dense.PRODUCTS | recurrent.PRODUCTS | signal.PRODUCTS),
    **(float_conv.PRODUCTS | float_dense.PRODUCTS | float_reduction.PRODUCTS | float_recurrent.PRODUCTS),
}
"""Multiplications of a case; operators that are not in it have none."""


@cache
def cases() -> tuple[Case, ...]:
    """All cases, each with a name of its own that begins with its operator's."""
    return tuple(named(case) for family in FAMILIES for case in family.cases())


MODE = re.compile(rf"(?<![a-z])({'|'.join(sorted(ALL_MODES, key=len, reverse=True))})_")
"""A mode in the name of a case."""


def in_one_mode(chosen: Iterable[Case]) -> list[Case]:
    """Each case in one of the modes in which it comes, in turn."""
    families: dict[str, list[Case]] = {}
    for case in chosen:
        families.setdefault(MODE.sub("*_", case.name), []).append(case)
    return [family[i % len(family)] for i, family in enumerate(families.values())]
