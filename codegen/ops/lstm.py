"""Lstm: a layer with a hidden and a cell state, over a sequence of steps.

x: s8 or s16[B, T, I], [T, B, I] when time comes first;  w: s8[4, H, I], r: s8[4, H, H], b: s32[4, H] for the gates
input, forget, cell and output, without zero points;  hidden: as x [B, H];  cell: s16[B, H], scale a power of two
->  y: as x [B, T, H] or [T, B, H], the next hidden state, the next cell state.  In each step, for each gate g:

    a_g = requantized b_g + sum_i (x[i] - zx) * w_g[i]         by float32(sx * sw_g) / 2^-12, clamped to 16 bits
    h_g = requantized sum_j (hidden[j] - zh) * r_g[j]          by float32(sh * sr_g) / 2^-12, clamped to 16 bits
    G_g = logistic16(clamp16(a_g + h_g)), tanh16 for the cell gate (ops/sigmoid16.py), called I, F, C and O
    cell   <- clamp16((F * cell by 2^-15) + (I * C by 2^-30 / sc)), each product clamped to 16 bits,
              then limited to -clip .. clip where there is a clip
    hidden <- clamp(zh + (tanh16(cell) * O by 2^-30 / sh));    y = hidden

One definition for every mode: 32-bit sums and two roundings for s8, 64-bit sums and 15-bit multipliers for s16, two
roundings in products of gates.  tanh16(cell) takes 3 * 2^(12 + log2 sc) as its factor, exact powers of two.
The first hidden state is all zh, the first cell state all 0.
Source: tensorflow/lite/micro/kernels/lstm_eval.h, lstm_eval.cc and lstm_eval_common.cc; internal/reference/
integer_ops/fully_connected.h, mul.h, logistic.h and tanh.h; micro_interpreter_graph.cc for the first states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, Requant, TensorType
from codegen.ops.accumulator import exact_matmul
from codegen.ops.answers import Types, whole
from codegen.ops.limits import limit, require, types_among
from codegen.ops.requantize import apply_requant
from codegen.ops.sigmoid16 import Sigmoid16
from codegen.records import record

GATES = ("input", "forget", "cell", "output")
GATE = Quant(2.0**-12)
"""What goes into a gate's function."""
_TYPES = (DType.S8, DType.S16)
_STATES = (4, 5)
"""The places of the hidden and the cell state among the inputs."""
_LOGISTIC, _TANH = Sigmoid16("logistic", 3, 0), Sigmoid16("tanh", 3, 0)
FUNCTIONS = (_LOGISTIC, _LOGISTIC, _TANH, _LOGISTIC)
"""Of each gate."""


@record
class Gate:
    """The steps of one gate from its two sums to 16 bits of scale 2^-12."""

    x: Requant
    hidden: Requant


@record
class Lstm:
    """A sequence of steps: the outputs, and the states after the last one.

    `forget` and `update` bring products to the cell's scale, `requant` to the hidden state's; `clip` bounds the cell.
    """

    time_major: bool
    x_zero_point: int
    gates: tuple[Gate, Gate, Gate, Gate]
    forget: Requant
    update: Requant
    clip: int | None
    squash: Sigmoid16
    requant: Requant
    y_quant: Quant

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-RECURRENT-05", 0, "the input", _TYPES),
        types_among("LAM-OPS-RECURRENT-06", 1, "the input's weights", (DType.S8,)),
        types_among("LAM-OPS-RECURRENT-07", 2, "the hidden state's weights", (DType.S8,)),
        types_among("LAM-OPS-RECURRENT-08", 5, "the cell state", (DType.S16,)),
        limit(
            "LAM-OPS-RECURRENT-09",
            "the cell's scale must be a power of two from 2^-42 to 2^2",
            lambda op, ins: 0 < op.squash.multiplier < 1 << 16 and 0 <= op.squash.shift <= 30,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The types of the output and of the states."""
        require(len(ins) == 6, self, f"takes x, w, r, b and two states, got {len(ins)} inputs")
        x, w, r, b, hidden, cell = ins
        shapes = [list(t.shape) for t in ins]
        require(len(x.shape) == 3 and len(w.shape) == 3, self, f"inputs of shapes {shapes}")
        _, size, inputs = w.shape
        batch, _ = self._batch_and_steps(x.shape)
        fits = x.shape[2] == inputs and w.shape[0] == len(GATES)
        fits = fits and r.shape == (len(GATES), size, size) and b.shape == (len(GATES), size)
        require(fits and hidden.shape == cell.shape == (batch, size), self, f"inputs of shapes {shapes}")
        require(hidden.dtype is x.dtype, self, "the hidden state and the input must have one type")
        require(b.dtype is DType.S32, self, "the bias must be s32")
        return TensorType((*x.shape[:2], size), x.dtype, self.y_quant), hidden, cell

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The outputs and the next states, to the bit."""
        x, w, r, b, hidden, cell = ins
        steps = x if self.time_major else x.swapaxes(0, 1)
        outputs = []
        for step in steps:
            hidden, cell = self._step(step, w, r, b, hidden, cell)
            outputs.append(hidden)
        return np.stack(outputs, axis=0 if self.time_major else 1), hidden, cell

    def _step(self, x: Array, w: Array, r: Array, b: Array, hidden: Array, cell: Array) -> tuple[Array, Array]:
        """The states after one step, x[B, I]."""
        x, past = x.astype(np.int64) - self.x_zero_point, hidden.astype(np.int64) - self.requant.zero_point
        found = []
        for index, (gate, function) in enumerate(zip(self.gates, FUNCTIONS, strict=True)):
            a = apply_requant(gate.x, exact_matmul(x, w[index].T) + b[index], DType.S16)
            h = apply_requant(gate.hidden, exact_matmul(past, r[index].T), DType.S16)
            found.append(function.golden([_sum16(a, h)])[0].astype(np.int64))
        opened, kept, new, shown = found
        following = _sum16(
            apply_requant(self.forget, kept * cell, DType.S16), apply_requant(self.update, opened * new, DType.S16)
        )
        if self.clip is not None:
            following = np.clip(following, -self.clip, self.clip)
        squashed = self.squash.golden([following])[0].astype(np.int64)
        return apply_requant(self.requant, squashed * shown, DType.of(hidden)), following

    def _batch_and_steps(self, shape: tuple[int, ...]) -> tuple[int, int]:
        return (shape[1], shape[0]) if self.time_major else (shape[0], shape[1])

    rows = whole

    def macs(self, ins: Types, outs: Types) -> int:
        """One per weight, sample and step."""
        return ins[0].shape[0] * ins[0].shape[1] * (ins[1].elements + ins[2].elements)

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """A state is read before what it becomes is written."""
        return index in _STATES


def _sum16(a: Array, b: Array) -> Array:
    """The sum of 16-bit numbers, saturated to 16 bits."""
    return np.clip(a.astype(np.int32) + b, -32768, 32767).astype(np.int16)


def squash(cell_scale: float) -> Sigmoid16:
    """The tanh of a cell state whose scale is a power of two, its exponent -42 .. 2."""
    power = round(np.log2(cell_scale)) + 12
    return Sigmoid16("tanh", 3 << max(power, 0), max(-power, 0))
