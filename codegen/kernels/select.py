"""Select: elements of one tensor or the other; each of the three may be a constant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.kernels.kernel import adapted
from codegen.ops import Select

_NAMES = ("flags", "first", "second")


@dataclass(frozen=True, slots=True)
class SelectContext:
    """C types and expressions of the three inputs, and how many elements each has."""

    sides: tuple[tuple[str, str], ...]
    count: int


def _accepts(node: NodeView, isa: str) -> bool:
    return isinstance(node.op, Select) and bool(node.dynamic)


def _context(node: NodeView) -> SelectContext:
    return SelectContext(tuple(_side(node, i) for i in range(3)), node.outs[0].elements)


def _side(node: NodeView, index: int) -> tuple[str, str]:
    """Type and expression: rows have the type of the first computed input."""
    ctype = node.ins[index].dtype.ctype
    if index not in node.dynamic:
        return ctype, _NAMES[index]
    row = f"rows[{node.dynamic.index(index)}]"
    return ctype, row if ctype == node.ins[node.dynamic[0]].dtype.ctype else f"LAM_VIEW({ctype}, {row})"


def _params(node: NodeView) -> tuple[Field, ...]:
    known = zip(_NAMES, node.consts, strict=True)
    return tuple(Field(name, np.ascontiguousarray(c).reshape(-1)) for name, c in known if c is not None)


SELECT = adapted("select", "select.c.j2", "whole", _accepts, _context, _params)
