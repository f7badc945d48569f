"""Functions of one real number."""

from __future__ import annotations

import math
from collections.abc import Sequence

from codegen.errors import AttributeBad
from codegen.ir.real import RealNode
from codegen.ops.float32 import FloatClip
from codegen.real.elementwise import Clip, Function
from codegen.settle.context import Context
from codegen.settle.float32.inputs import real_value
from codegen.settle.float32.writing import applied
from codegen.settle.states import Float, State


def clip(ctx: Context, node: RealNode, op: Clip) -> Sequence[State]:
    """Clip; where its bounds cross, every number becomes the upper one."""
    low, high = op.low, op.high
    if math.isnan(low) or math.isnan(high):
        raise AttributeBad(f"bounds {low} and {high}", where=node.where)
    if math.isinf(low) and math.isinf(high):
        return [Float(real_value(ctx, node, 0), made=True)]
    return [applied(ctx, node, FloatClip(min(low, high), high), real_value(ctx, node, 0))]


def function(ctx: Context, node: RealNode, op: Function) -> Sequence[State]:
    """Relu."""
    if op.name != "Relu":
        raise ctx.unknown(node)
    return [applied(ctx, node, FloatClip(0.0, math.inf), real_value(ctx, node, 0))]
