"""Softmax of real numbers.

Decides: that several axes are made one, and that a factor before it is an operator of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.ir.op import Op
from codegen.ir.real import RealNode
from codegen.ops import Reshape
from codegen.ops.float32 import FloatBinary, FloatSoftmax
from codegen.real.reduce import Softmax
from codegen.settle.context import Context
from codegen.settle.float32.inputs import real_value
from codegen.settle.float32.writing import written
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Route, State


def softmax(ctx: Context, node: RealNode, op: Softmax) -> Sequence[State]:
    """Softmax or LogSoftmax over one axis, or over all from one on."""
    x, axis = real_value(ctx, node, 0), op.axes[0]
    shape = ctx.type(x).shape
    pre: tuple[Op, ...] = ()
    post: tuple[Op, ...] = ()
    if op.beta != 1:
        beta = ctx.builder.const(f"{node.outputs[0]}:beta", np.full((1,) * len(shape), op.beta, np.float32))
        x = ctx.builder.apply(FloatBinary("mul"), (x, beta), f"{node.outputs[0]}:scaled", note="its factor")
    if len(op.axes) > 1:
        pre, post = (Reshape((*shape[:axis], math.prod(shape[axis:]))),), (Reshape(shape),)
    return [written(ctx, node, Route(FloatSoftmax(axis, op.log), pre, post), [x])]


RULES: Family = (Rule(Softmax, softmax),)
