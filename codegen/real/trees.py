"""Decision trees.  Source: onnx/docs/Operators-ml.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ops.float32 import trees
from codegen.records import record

RELATIONS = tuple(trees.RELATIONS)
"""In the order of their codes."""
Aggregate = trees.Aggregate
NAN_HOLDS = trees.NAN_HOLDS
"""Added to a code where NaN goes the way of what holds."""


@record
class Trees:
    """What trees say of each row: x, and the tables of FloatTrees, whose last are the base and codes.

    `relation` is that of every node, or empty where codes name it; `aggregate` is what becomes of what they say.
    """

    relation: str = "<="
    aggregate: Aggregate = "sum"

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """[..., targets]."""
        x = ins[0]
        if not x.shape or not x.is_real:
            raise ShapeMismatch(f"trees of a tensor {list(x.shape)} of {x.dtype}")
        return (RealType((*x.shape[:-1], ins[6].shape[0]), np.dtype(np.float32)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """In float32."""
        return trees.FloatTrees(self.relation, self.aggregate).golden([ins[0].astype(np.float32), *ins[1:]])
