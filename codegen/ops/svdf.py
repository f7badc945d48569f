"""SVDF: a dense layer of rank R that remembers what its filters found in the last M steps.

x: s8[N, I];  wf: s8[F, I] and wt: s8 or s16[F, M], both without zero point;  b: s32[U], F = U * R;
state: s8 or s16[N, F * M], for each filter its last M values, oldest first  ->  y: s8[N, U], the next state.

    next[n, f, m]     = state[n, f, m + 1]                                          for m < M - 1
    next[n, f, M - 1] = zs + requantized sum_i (x[n, i] - zx) * wf[f, i]            by float32(sx * swf) / ss
    y[n, u]           = requantized b[u] + sum_r sum_m (next[n, u R + r, m] - zs) * wt[u R + r, m]
                                                                                    by float32(ss * swt) / sy
    sums are those of 32-bit integers that wrap around; so does zs + .., in the 8 bits of the state

One definition for every mode, with two roundings and float32 quotients of scales.  The state's zero point comes behind
the clamp, so that one other than 0 can wrap: the reference does so (where it is reported as a fault).  A fused
activation has no effect.  The first state is all zs.
Source: tensorflow/lite/micro/kernels/svdf_common.cc; micro_interpreter_graph.cc for the first state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, Requant, TensorType
from codegen.ops.accumulator import exact_matmul
from codegen.ops.answers import Types, whole
from codegen.ops.limits import require, types_among
from codegen.ops.requantize import apply_requant
from codegen.records import record

_STATES = (DType.S8, DType.S16)
_STATE = 4
"""Its place among the inputs."""


@record
class Svdf:
    """One step: the output and the next state; `feature` makes the newest of the state, `requant` the output."""

    x_zero_point: int
    state_zero_point: int
    feature: Requant
    requant: Requant
    y_quant: Quant

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-RECURRENT-01", 0, "the input", (DType.S8,)),
        types_among("LAM-OPS-RECURRENT-02", 1, "the weights of the features", (DType.S8,)),
        types_among("LAM-OPS-RECURRENT-03", 2, "the weights over time", _STATES),
        types_among("LAM-OPS-RECURRENT-04", 4, "the state", _STATES),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The types of the output and of the state."""
        require(len(ins) == 5, self, f"takes x, two weights, b and the state, got {len(ins)} inputs")
        x, wf, wt, b, state = ins
        shapes = [list(t.shape) for t in ins]
        flat = all(len(t.shape) == 2 for t in (x, wf, wt, state)) and len(b.shape) == 1
        require(flat, self, f"inputs of shapes {shapes}")
        filters, memory = wt.shape
        fits = wf.shape == (filters, x.shape[1]) and state.shape == (x.shape[0], filters * memory)
        require(fits and filters % b.shape[0] == 0, self, f"inputs of shapes {shapes}")
        require(wt.dtype is state.dtype, self, "the state and the weights over time must have one type")
        require(b.dtype is DType.S32, self, "the bias must be s32")
        return TensorType((x.shape[0], b.shape[0]), DType.S8, self.y_quant), state

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output and the next state, to the bit."""
        x, wf, wt, b, state = ins
        filters, memory = wt.shape
        sums = _wrapped(exact_matmul(x.astype(np.int64) - self.x_zero_point, wf.T))
        newest = apply_requant(self.feature, sums, DType.of(state)).astype(np.int64) + self.state_zero_point
        past = state.reshape(len(x), filters, memory)
        following = np.concatenate([past[:, :, 1:], newest.astype(state.dtype)[:, :, None]], axis=2)
        found = ((following.astype(np.int64) - self.state_zero_point) * wt).sum(axis=2)
        acc = _wrapped(found.reshape(len(x), len(b), -1).sum(axis=2) + b)
        y = apply_requant(self.requant, acc, DType.S8)
        return y, following.reshape(state.shape)

    rows = whole

    def macs(self, ins: Types, outs: Types) -> int:
        """One per weight and sample."""
        return ins[0].shape[0] * (ins[1].elements + ins[2].elements)

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """The memory moves on by one where it lies."""
        return index == _STATE


def _wrapped(sums: Array) -> Array:
    """The sums modulo 2^32, as signed numbers."""
    return sums.astype(np.int32)
