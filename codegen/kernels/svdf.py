"""SVDF: the feature of each filter, its memory moved on by one, and what the memory gives over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, Requant
from codegen.kernels.common import end_values, range_field, requant_takes
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import Svdf
from codegen.records import record

_INT32 = np.iinfo(np.int32)


@record
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

    @property
    def newest(self) -> int:
        """Place of the newest step in a filter's memory."""
        return self.memory - 1


def _fit(node: NodeOf[Svdf]) -> Fit | None:
    op = node.op
    wf, wt, b = node.consts[1:4]
    if node.dynamic != (0, 4) or wf is None or wt is None or b is None:
        return None
    features = end_values(wf, np.zeros(len(wf), np.int64), op.x_zero_point, node.ins[0].dtype)
    sums = end_values(wt.reshape(len(b), -1), b, op.state_zero_point, node.ins[4].dtype)
    if not _takes(op.feature, features) or not _takes(op.requant, sums):
        return None
    return Fit(_context(node), _params(op, wf, wt, b))


def _takes(requant: Requant, bounds: tuple[int, int]) -> bool:
    """Whether sums within the bounds, wrapped to 32 bits, can be requantized."""
    low, high = bounds
    wraps = low < _INT32.min or high > _INT32.max
    return requant_takes(requant, *((int(_INT32.min), int(_INT32.max)) if wraps else bounds))


def _context(node: NodeOf[Svdf]) -> SvdfContext:
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


def _params(op: Svdf, wf: Array, wt: Array, b: Array) -> tuple[Field, ...]:
    """`offset` is what the input's zero point takes off each feature, modulo 2^32."""
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


SVDF = Kernel("svdf", "svdf.c.j2", "whole", (Svdf,), _fit, headers=("lam_requant.h", "lam_wrap.h"))

KERNELS: tuple[Kernel[Any], ...] = (SVDF,)
