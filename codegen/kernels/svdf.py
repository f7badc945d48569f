"""SVDF: the feature of each filter, its memory moved on by one, and what the memory gives over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array, DType, Requant
from codegen.kernels.common import end_values, range_field, requant_takes
from codegen.kernels.kernel import adapted
from codegen.ops import Svdf

_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True, slots=True)
class SvdfContext:
    """Literals: samples, inputs, units of `rank` filters each, steps of memory; bounds of the state's type."""

    state_t: str
    batch: int
    inputs: int
    units: int
    rank: int
    memory: int
    low: int
    high: int
    wraps: bool


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    if not isinstance(op, Svdf) or node.dynamic != (0, 4):
        return False
    wf, wt, b = _constants(node)
    state = node.ins[4].dtype
    features = end_values(wf, np.zeros(len(wf), np.int64), op.x_zero_point, node.ins[0].dtype)
    sums = end_values(wt.reshape(len(b), -1), b, op.state_zero_point, state)
    return _takes(op.feature, features) and _takes(op.requant, sums)


def _takes(requant: Requant, bounds: tuple[int, int]) -> bool:
    """Whether sums within the bounds, wrapped to 32 bits, can be requantized."""
    low, high = bounds
    wraps = low < _INT32.min or high > _INT32.max
    return requant_takes(requant, *((int(_INT32.min), int(_INT32.max)) if wraps else bounds))


def _constants(node: NodeView) -> tuple[Array, Array, Array]:
    """Weights of the features and over time, and the bias."""
    wf, wt, b = node.consts[1:4]
    assert wf is not None
    assert wt is not None
    assert b is not None
    return wf, wt, b


def _context(node: NodeView) -> SvdfContext:
    x, _, wt, b, state = node.ins
    filters, memory = wt.shape
    return SvdfContext(
        state_t=state.dtype.ctype,
        batch=x.shape[0],
        inputs=x.shape[1],
        units=b.shape[0],
        rank=filters // b.shape[0],
        memory=memory,
        low=state.dtype.low,
        high=state.dtype.high,
        wraps=state.dtype is DType.S8,
    )


def _params(node: NodeView) -> tuple[Field, ...]:
    """`offset` is what the input's zero point takes off each feature, modulo 2^32."""
    op = node.op
    assert isinstance(op, Svdf)
    wf, wt, b = _constants(node)
    steps = (op.feature, op.requant)
    offset = -op.x_zero_point * wf.astype(np.int64).sum(axis=1)
    return (
        Field("offset", offset.astype(np.int32)),
        Field("bias", b),
        Field("multiplier", np.array([s.multiplier[0] for s in steps], np.int32)),
        range_field(op.requant.zero_point, op.requant.low, op.requant.high),
        Field("state_zero_point", np.array([op.state_zero_point], np.int32)),
        Field("over_time", wt.reshape(-1)),
        Field("shift", np.array([s.shift[0] for s in steps], np.int8)),
        Field("weights", wf.reshape(-1)),
    )


SVDF = adapted("svdf", "svdf.c.j2", "whole", _accepts, _context, _params)
