"""Decision trees of real numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ParameterDynamic
from codegen.ir.quant import Array, DType
from codegen.ir.real import RealNode
from codegen.ops.float32 import FloatTrees
from codegen.real.trees import Trees
from codegen.settle.context import Context
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State

_TYPES = (np.float32, np.int16, np.int16, np.float32, np.int32, np.float32, np.int8)
_OTHERWISE = 3


def trees(ctx: Context, node: RealNode, op: Trees) -> Sequence[State]:
    """One operator; its tables take 16 bits where they can."""
    w = Writer(ctx, node)
    tables = [w.const(_table(w, i)) for i in range(1, len(node.inputs))]
    return w.done(w.apply(FloatTrees(op.relation, op.aggregate), w.input(0), *tables))


def _table(w: Writer, index: int) -> Array:
    known = w.known(index)
    if known is None:
        raise ParameterDynamic("a tree that the network computes", where=w.node.where)
    wide = index == _OTHERWISE and known.max() > DType.S16.high
    return known.astype(np.int32 if wide else _TYPES[index - 1])


RULES: Family = (Rule(Trees, trees),)
