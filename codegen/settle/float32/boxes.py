"""Boxes of which the best are selected."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.real import RealNode
from codegen.ops.float32 import FloatNonMaxSuppression
from codegen.real.chosen import NonMaxSuppression
from codegen.settle.context import Context
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State


def non_max_suppression(ctx: Context, node: RealNode, op: NonMaxSuppression) -> Sequence[State]:
    """One operator."""
    w = Writer(ctx, node)
    made = FloatNonMaxSuppression(op.most, op.limit, op.least, op.centred)
    return w.done(w.apply(made, w.input(0), w.input(1)))


RULES: Family = (Rule(NonMaxSuppression, non_max_suppression),)
