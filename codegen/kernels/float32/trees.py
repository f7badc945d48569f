"""FloatTrees: each tree of each pixel is walked from its root to a leaf."""

from __future__ import annotations

from typing import Any

from codegen.ir.op import NodeOf
from codegen.kernels.common import constant_fields
from codegen.kernels.float32.common import HEADER
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops.float32 import FloatTrees
from codegen.ops.float32.trees import NAN_HOLDS, RELATIONS
from codegen.records import record

_NAMES = ("", "thresholds", "features", "otherwise", "leaves", "roots", "base", "codes")

_INFINITY = "lam_f32_from_bits(LAM_F32_INFINITY)"


@record
class TreesContext:
    """Numbers of a pixel, targets and trees; the relation of every node, or those that codes name."""

    features: int
    targets: int
    trees: int
    relation: str
    aggregate: str

    @property
    def first(self) -> str:
        """What is there before the first tree, in C."""
        return {"minimum": _INFINITY, "maximum": f"-{_INFINITY}"}.get(self.aggregate, "0.0f")

    @property
    def beyond(self) -> str:
        """How what a tree says compares with what it takes the place of, where it does not add to it."""
        return {"minimum": "<", "maximum": ">"}.get(self.aggregate, "")

    @property
    def divisor(self) -> str:
        """The trees as a number in C."""
        return f"{self.trees}.0f"

    @property
    def relations(self) -> tuple[tuple[int, str], ...]:
        """Code and relation."""
        return tuple(enumerate(RELATIONS))

    @property
    def kinds(self) -> int:
        """What a code is divided by to tell whether NaN goes the way of what holds."""
        return NAN_HOLDS


def _fit(node: NodeOf[FloatTrees]) -> Fit | None:
    if node.dynamic != (0,):
        return None
    features, targets, trees = node.ins[0].shape[-1], node.outs[0].shape[-1], node.ins[5].elements
    context = TreesContext(features, targets, trees, node.op.relation, node.op.aggregate)
    return Fit(context, constant_fields(node, _NAMES[: len(node.ins)]))


TREES = Kernel("float_trees", "float32/trees.c.j2", "pixels", (FloatTrees,), _fit, headers=(HEADER,))

KERNELS: tuple[Kernel[Any], ...] = (TREES,)
