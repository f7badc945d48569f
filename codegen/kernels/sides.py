"""Where a kernel of several inputs finds each: among the rows, or among its parameters."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.op import NodeView


def sides(node: NodeView, names: Sequence[str]) -> list[str]:
    """The C expression of each input, a parameter of its name where it is known."""
    return [_side(node, index, name) for index, name in enumerate(names)]


def _side(node: NodeView, index: int, name: str) -> str:
    """Rows have the type of the first computed input."""
    if index not in node.dynamic:
        return name
    row, ctype = f"rows[{node.dynamic.index(index)}]", node.ins[index].dtype.ctype
    return row if ctype == node.ins[node.dynamic[0]].dtype.ctype else f"LAM_VIEW({ctype}, {row})"
