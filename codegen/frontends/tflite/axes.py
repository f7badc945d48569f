"""Axes that a node names, counted from the first one.

Decides: what is refused (LAM-IMPORT-014): an axis that the tensor does not have.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.errors import ShapeMismatch
from codegen.frontends.tflite.nodes import TfliteNode


def read_axis(node: TfliteNode, axis: int, rank: int) -> int:
    """One axis; negative ones count from the end."""
    if not -rank <= axis < rank:
        raise ShapeMismatch(f"axis {axis} of a tensor of {rank} axes", where=node.where)
    return axis % rank


def read_axes(node: TfliteNode, axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """One axis or more, sorted, each once."""
    if not axes or any(not -rank <= a < rank for a in axes):
        raise ShapeMismatch(f"axes {list(axes)} of a tensor of {rank} axes", where=node.where)
    return tuple(sorted({a % rank for a in axes}))
