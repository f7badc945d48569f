"""Transforms of real numbers: products with cosines and sines, which are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.ops import Slice
from codegen.ops.float32 import FloatDense
from codegen.real.spectrum import DFT
from codegen.settle.context import Context
from codegen.settle.float32.moving import joined
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State


def dft(ctx: Context, node: RealNode, op: DFT) -> Sequence[State]:
    """One matrix product of both parts of the elements with both parts of the factors."""
    w = Writer(ctx, node)
    x = w.input(0)
    last = len(w.shape(x)) - 1
    matrix = _matrix(op, w.shape(x)[-1])
    parts = w.shape(x)[-1]
    x = _fitted(w, w.moved(x, op.axis, last - 1), len(matrix) // parts)
    lead = w.shape(x)[:-2]
    flat = w.reshaped(x, (*lead, len(matrix)))
    weights = w.const(np.ascontiguousarray(matrix.T))
    made = w.apply(FloatDense(), flat, weights, w.const(np.zeros(matrix.shape[1], np.float32)))
    shape = ctx.real(node.outputs[0]).shape
    y = w.reshaped(made, (*lead, shape[op.axis], shape[-1]))
    return w.done(w.moved(y, last - 1, op.axis))


def _fitted(w: Writer, x: str, length: int) -> str:
    """Cut, or filled with zeros, along the axis before the last."""
    shape = w.shape(x)
    if shape[-2] > length:
        x = w.apply(Slice((0,) * len(shape), (*shape[:-2], length, shape[-1]), (1,) * len(shape)), x)
    if shape[-2] < length:
        zeros = w.const(np.zeros((*shape[:-2], length - shape[-2], shape[-1]), np.float32))
        x = joined(w, [x, zeros], len(shape) - 2)
    return x


def _matrix(op: DFT, parts: int) -> Array:
    """From elements and parts to outputs and parts: the transform of each unit."""
    back = op.inverse and op.onesided
    elements = op.length // 2 + 1 if back else op.length
    units = np.eye(elements * parts).reshape(-1, elements, parts)
    (made,) = DFT(1, op.length, op.inverse, op.onesided).evaluate([units])
    return np.asarray(made.reshape(elements * parts, -1), np.float32)


RULES: Family = (Rule(DFT, dft),)
