"""Update: a box put into a tensor at a computed place; a tensor that lies where the result does is not copied."""

from __future__ import annotations

from typing import Any

from codegen.ir.op import NodeOf, NodeView
from codegen.kernels.common import constant_fields
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.move import Loop, MoveContext, Place, box_loops, move, strides
from codegen.ops import Update

_NAMES = ("table", "box", "start")


def _source(node: NodeView, index: int) -> str:
    """The C expression of an input: a parameter, or rows, whose type is that of the first computed input."""
    if index not in node.dynamic:
        return _NAMES[index]
    row, ctype = f"rows[{node.dynamic.index(index)}]", node.ins[index].dtype.ctype
    return row if ctype == node.ins[node.dynamic[0]].dtype.ctype else f"LAM_VIEW({ctype}, {row})"


def _fit(node: NodeOf[Update]) -> Fit | None:
    if 2 not in node.dynamic:
        return None
    (x, box, _), start = node.ins, _source(node, 2)
    steps, ctype = strides(x.shape), x.dtype.ctype
    places = tuple(
        Place(f"{start}[{axis}]", n - m, step)
        for axis, (n, m, step) in enumerate(zip(x.shape, box.shape, steps, strict=True))
        if n > m
    )
    moved = "y != rows[0]" if 0 in node.dynamic else ""
    copied = move(_source(node, 0), ctype, (Loop(x.elements, 1, 1),), when=moved, overlaps=bool(moved))
    put = move(_source(node, 1), ctype, box_loops(box.shape, steps, strides(box.shape)), places=places)
    headers = ("lam_requant.h",) if places else ()  # which holds a place within its axis
    return Fit(MoveContext(x.dtype.bytes, (copied, put)), constant_fields(node, _NAMES), headers=headers)


UPDATE = Kernel("update", "move.c.j2", "whole", (Update,), _fit)

KERNELS: tuple[Kernel[Any], ...] = (UPDATE,)
