"""Layers as TFLite has them that keep tensors of their own from run to run.

Sums run over the input from first to last, then over the state; biases come last.
Source: tensorflow/lite/kernels/svdf.cc, unidirectional_sequence_lstm.cc, lstm_eval.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType, Stored
from codegen.ops.float32.sums import ordered_product, ordered_sum
from codegen.ops.functions import FUNCTIONS
from codegen.real.storage import Dequantize, Quantize
from codegen.records import record

_GATES = 4


@record(eq=False)
class Svdf:
    """Features of the input enter a memory, which is summed over time, and over the `rank` filters of each unit.

    x [N, I], features [F, I], weights over time [F, M], the memory [N, F * M], a bias [F / rank] where there is one:
    the output and the next memory.  `held` is how the memory is held, which its sums already feel.
    """

    rank: int
    held: Stored | None = None

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """One number per unit, and the memory as it was."""
        shapes = [t.shape for t in ins]
        if any(len(s) != 2 for s in shapes[:3]):
            raise ShapeMismatch(f"weights of shapes {list(shapes[1])} and {list(shapes[2])}")
        (batch, entries), (filters, depth), (count, steps) = shapes[:3]
        units = filters // self.rank
        fits = shapes[3] == (batch, filters * steps) and (len(shapes) < 5 or shapes[4] == (units,))
        if not fits or entries != depth or filters % self.rank or count != filters:
            raise ShapeMismatch(f"{filters} filters of rank {self.rank} and length {steps}")
        return (ins[0].shaped((batch, units)), ins[3])

    def macs(self, ins: Sequence[RealType]) -> int:
        """One per weight and image."""
        return ins[0].shape[0] * (math.prod(ins[1].shape) + math.prod(ins[2].shape))

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The memory moves on by one step."""
        x, features, over_time, state = ins[:4]
        (batch, _), (filters, steps) = x.shape, over_time.shape
        newest = ordered_product(x, features.T)[..., None]
        moved = np.concatenate([state.reshape(batch, filters, steps)[:, :, 1:], newest], 2)
        if self.held is not None:
            moved = Dequantize(self.held).evaluate(Quantize(self.held).evaluate([moved]))[0]
        sums = ordered_sum(moved * over_time, (2,)).reshape(batch, -1, self.rank)
        y = ordered_sum(sums, (2,))[..., 0]
        return (y if len(ins) == 4 else y + ins[4], moved.reshape(state.shape))


@record
class SequenceLstm:
    """An LSTM over a sequence [N, T, I], or [T, N, I]: its outputs, the last hidden state and the last cell state.

    Behind x come the weights [H, I] of the gates input, forget, cell and output, those of the hidden state [H, H], the
    biases [H], the hidden state and the cell state [N, H].  `clip` bounds the cell state where it is not 0.
    """

    time_major: bool = False
    clip: float = 0.0

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """One hidden state per step."""
        x, weights, recurrent, biases = ins[0].shape, ins[1:5], ins[5:9], ins[9:13]
        size = ins[-1].shape[-1]
        batch = x[1 if self.time_major else 0] if len(x) == 3 else 0
        wanted = [(size, x[-1])] * _GATES + [(size, size)] * _GATES + [(size,)] * _GATES + [(batch, size)] * 2
        if len(x) != 3 or [t.shape for t in ins[1:]] != wanted:
            shapes = [list(t.shape) for t in (*weights[:1], *recurrent[:1], *biases[:1])]
            raise ShapeMismatch(f"a sequence {list(x)} and weights of shapes {shapes}")
        return (ins[0].shaped((*x[:2], size)), ins[13], ins[14])

    def macs(self, ins: Sequence[RealType]) -> int:
        """One per step, image and weight."""
        return math.prod(ins[0].shape[:2]) * sum(math.prod(t.shape) for t in ins[1:9])

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Step by step."""
        x, hidden, cell = ins[0], ins[13], ins[14]
        steps = x if self.time_major else x.swapaxes(0, 1)
        made = []
        for step in steps:
            hidden, cell = self._step(step, ins, hidden, cell)
            made.append(hidden)
        return (np.stack(made, 0 if self.time_major else 1), hidden, cell)

    def _step(self, x: Array, ins: Sequence[Array], hidden: Array, cell: Array) -> tuple[Array, Array]:
        sums = [
            ordered_product(x, ins[1 + g].T) + ordered_product(hidden, ins[5 + g].T) + ins[9 + g] for g in range(_GATES)
        ]
        enters, stays, leaves = (_curve("Sigmoid", sums[g]) for g in (0, 1, 3))
        cell = stays * cell + enters * _curve("Tanh", sums[2])
        if self.clip:
            cell = np.clip(cell, cell.dtype.type(-self.clip), cell.dtype.type(self.clip))
        return leaves * _curve("Tanh", cell), cell


def _curve(name: str, x: Array) -> Array:
    return np.asarray(FUNCTIONS[name](x.astype(np.float64)), x.dtype)
