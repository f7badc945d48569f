"""Quantize and Dequantize with a scale per channel or block, or to integers of 4 and 2 bits, in real numbers.

Decides: that those of one scale for a tensor are the integers' own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import CompileError
from codegen.ir.quant import DType
from codegen.ir.real import RealNode, Stored
from codegen.ops.float32 import FloatBinary, FloatClip, FloatUnary
from codegen.real import storage as real
from codegen.settle import storage
from codegen.settle.context import Context
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Accum, Int, Real, State


def quantize(ctx: Context, node: RealNode, op: real.Quantize) -> Sequence[State]:
    """Divided by the scale, rounded, moved by the zero point and held within the integers."""
    if _is_integers_own(node, op.stored):
        return storage.quantize(ctx, node, op)
    w = Writer(ctx, node)
    x = w.input(0)
    scale, zero = (w.const(np.asarray(part, np.float32)) for part in op.stored.spread(w.shape(x)))
    x = w.apply(FloatUnary("round"), w.apply(FloatBinary("div"), x, scale))
    x = w.apply(FloatBinary("add"), x, zero)
    return w.done(w.apply(FloatClip(float(op.stored.low), float(op.stored.high)), x))


def dequantize(ctx: Context, node: RealNode, op: real.Dequantize) -> Sequence[State]:
    """The distance from the zero point, times the scale."""
    state = ctx.state(node, 0)
    if not isinstance(state, Accum | Int | Real):
        return storage.dequantize(ctx, node, op)
    if not _are_sums(ctx, state) and _is_integers_own(node, op.stored):
        return storage.dequantize(ctx, node, op)
    w = Writer(ctx, node)
    x = w.cast(w.input(0), DType.F32)
    scale, zero = (w.const(np.asarray(part, np.float32)) for part in op.stored.spread(w.shape(x)))
    return w.done(w.apply(FloatBinary("mul"), w.apply(FloatBinary("sub"), x, zero), scale))


def _are_sums(ctx: Context, state: Accum | Int | Real) -> bool:
    """Whether integers have 32 bits: their real numbers wait for a scale, where that is not asked for otherwise."""
    return isinstance(state, Accum) or ctx.type(state.value).dtype is DType.S32


def _is_integers_own(node: RealNode, stored: Stored) -> bool:
    try:
        storage.held_in(node, stored)
        storage.one_quant(node, stored)
    except CompileError:
        return False
    return True


RULES: Family = (
    Rule(real.Dequantize, dequantize),
    Rule(real.Quantize, quantize),
)
