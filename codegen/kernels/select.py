"""Select: elements of one tensor or the other; each of the three may be a constant."""

from __future__ import annotations

from typing import Any

from codegen.ir.op import NodeOf
from codegen.kernels.common import constant_fields, sides
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import Select
from codegen.records import record

_NAMES = ("flags", "first", "second")


@record
class SelectContext:
    """C types and expressions of the three inputs, and how many elements each has."""

    sides: tuple[tuple[str, str], ...]
    count: int


def _fit(node: NodeOf[Select]) -> Fit | None:
    if not node.dynamic:
        return None
    return Fit(SelectContext(sides(node, _NAMES), node.outs[0].elements), constant_fields(node, _NAMES))


SELECT = Kernel("select", "select.c.j2", "whole", (Select,), _fit)

KERNELS: tuple[Kernel[Any], ...] = (SELECT,)
