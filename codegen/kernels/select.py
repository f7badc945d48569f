"""Select: elements of one tensor or the other; each of the three may be a constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from codegen.ir.op import NodeOf
from codegen.kernels.common import constant_fields
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import Select

_NAMES = ("flags", "first", "second")


@dataclass(frozen=True, slots=True)
class SelectContext:
    """C types and expressions of the three inputs, and how many elements each has."""

    sides: tuple[tuple[str, str], ...]
    count: int


def _fit(node: NodeOf[Select]) -> Fit | None:
    if not node.dynamic:
        return None
    sides = tuple(_side(node, i) for i in range(3))
    return Fit(SelectContext(sides, node.outs[0].elements), constant_fields(node, _NAMES))


def _side(node: NodeOf[Select], index: int) -> tuple[str, str]:
    """Type and expression: rows have the type of the first computed input."""
    ctype = node.ins[index].dtype.ctype
    if index not in node.dynamic:
        return ctype, _NAMES[index]
    row = f"rows[{node.dynamic.index(index)}]"
    return ctype, row if ctype == node.ins[node.dynamic[0]].dtype.ctype else f"LAM_VIEW({ctype}, {row})"


SELECT = Kernel("select", "select.c.j2", "whole", (Select,), _fit)

KERNELS: tuple[Kernel[Any], ...] = (SELECT,)
