"""Where a kernel of several inputs finds each: among the rows, or among its parameters."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.op import NodeView
from codegen.ir.shape import Shape, row_count, row_pixels
from codegen.kernels.common import channels

KNOWN = ("a_const", "b_const")
"""Parameters of two operands, of which one may be a constant."""


def sides(node: NodeView, names: Sequence[str]) -> list[str]:
    """The C expression of each input, a parameter of its name where it is known."""
    return [_side(node, index, name) for index, name in enumerate(names)]


def pixel_steps(node: NodeView) -> tuple[int, ...] | None:
    """Elements of each input from pixel to pixel: 0 of one pixel that all of the output meet; None of other inputs.

    A constant is such a pixel.
    """
    y = node.outs[0].shape
    alike = [i in node.dynamic and x.shape == y for i, x in enumerate(node.ins)]
    pixels = zip(alike, node.ins, strict=True)
    found = [channels(y) if same else 0 if _is_pixel(x.shape, y) else None for same, x in pixels]
    steps = tuple(step for step in found if step is not None)
    return steps if len(steps) == len(found) and any(steps) else None


def _is_pixel(x: Shape, y: Shape) -> bool:
    return row_count(x) == row_pixels(x) == 1 and channels(x) == channels(y)


def _side(node: NodeView, index: int, name: str) -> str:
    """Rows have the type of the first computed input."""
    if index not in node.dynamic:
        return name
    row, ctype = f"rows[{node.dynamic.index(index)}]", node.ins[index].dtype.ctype
    return row if ctype == node.ins[node.dynamic[0]].dtype.ctype else f"LAM_VIEW({ctype}, {row})"
