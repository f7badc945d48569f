"""LSTM, GRU and RNN over a sequence.

A tensor is [steps, batch, entries], a state [directions, batch, hidden].  Inputs are x, the weights W and R, the biases
(those of W, then those of R), the length of each sequence of the batch, and the first states; nothing is left out.
A gate is the sum over x from first to last, plus the sum over h from first to last, plus the sum of both biases.
What lies behind the end of a sequence is zero, and a reversed sequence starts at its own end.
Source: onnx/docs/Operators.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ops.float32.sums import ordered_product
from codegen.real.activation import Activation, activated
from codegen.records import record

Product = Callable[[Array, Array], Array]
States = tuple[Array, ...]
Cell = Callable[[Array, States, int], States]
"""What one step of one direction makes of the input and the states: the new states, h first."""

_LENGTHS = 4


@record
class Sweep:
    """How a sequence is read: `reverse` for each direction, entries of the state, bounds of the gates, functions.

    `functions` are those of the first direction, then those of the second.
    """

    reverse: tuple[bool, ...]
    hidden: int
    functions: tuple[Activation, ...]
    clip: float = np.inf


def swept_macs(op: object, ins: Sequence[RealType]) -> int:
    """One per step, entry of the batch and weight, but for those of the cell."""
    steps, batch = ins[0].shape[:2]
    return steps * batch * (math.prod(ins[1].shape) + math.prod(ins[2].shape))


class _Recurrent(Protocol):
    def run(self, ins: Sequence[Array], product: Product) -> tuple[Array, ...]: ...


def _in_order(op: _Recurrent, ins: Sequence[Array]) -> tuple[Array, ...]:
    """Sums in the module's order."""
    return op.run(ins, ordered_product)


def _in_any_order(op: _Recurrent, ins: Sequence[Array]) -> tuple[Array, ...]:
    """Sums in any order."""
    return op.run(ins, np.matmul)


@record
class LSTM:
    """Gates i, o, f, c; behind the states h and c the weights P of the cell in gates i, o and f.

    y, the last h and the last c.  `coupled` makes f = 1 - i.
    """

    sweep: Sweep
    coupled: bool = False

    macs = swept_macs

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """All h, the last h, the last c."""
        directions, hidden = len(self.sweep.reverse), self.sweep.hidden
        if ins[7].shape != (directions, 3 * hidden):
            raise ShapeMismatch(f"weights of the cell {list(ins[7].shape)}")
        return _inferred(self.sweep, ins, gates=4, states=2)

    evaluate = _in_order
    quickly = _in_any_order

    def run(self, ins: Sequence[Array], product: Product) -> tuple[Array, ...]:
        """With products that are this."""

        def cell(x: Array, states: States, d: int) -> States:
            h, c = states
            f, g, out = self.sweep.functions[3 * d : 3 * d + 3]
            bias = ins[3][d, : 4 * n] + ins[3][d, 4 * n :]
            gates = product(x, ins[1][d].T) + product(h, ins[2][d].T) + bias
            p = np.split(ins[7][d], 3)
            i, o, forget, new = np.split(gates, 4, axis=-1)
            i = activated(f, _bounded(i + p[0] * c, self.sweep))
            forget = 1 - i if self.coupled else activated(f, _bounded(forget + p[2] * c, self.sweep))
            c = forget * c + i * activated(g, _bounded(new, self.sweep))
            o = activated(f, _bounded(o + p[1] * c, self.sweep))
            return o * activated(out, c), c

        n = self.sweep.hidden
        return _swept(self.sweep, ins, ins[5:7], cell)


@record
class GRU:
    """Gates z, r, h: y and the last h.  `reset_after` resets the product of h, and not h before it."""

    sweep: Sweep
    reset_after: bool = False

    macs = swept_macs

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """All h, the last h."""
        return _inferred(self.sweep, ins, gates=3, states=1)

    evaluate = _in_order
    quickly = _in_any_order

    def run(self, ins: Sequence[Array], product: Product) -> tuple[Array, ...]:
        """With products that are this."""
        n = self.sweep.hidden

        def cell(x: Array, states: States, d: int) -> States:
            (h,) = states
            f, g = self.sweep.functions[2 * d : 2 * d + 2]
            w, r, bias_w, bias_r = ins[1][d], ins[2][d], ins[3][d, : 3 * n], ins[3][d, 3 * n :]
            of_x = product(x, w.T)
            gates = of_x[:, : 2 * n] + product(h, r[: 2 * n].T) + (bias_w + bias_r)[: 2 * n]
            z, reset = np.split(activated(f, _bounded(gates, self.sweep)), 2, axis=-1)
            if self.reset_after:
                new = of_x[:, 2 * n :] + reset * (product(h, r[2 * n :].T) + bias_r[2 * n :]) + bias_w[2 * n :]
            else:
                new = of_x[:, 2 * n :] + product(reset * h, r[2 * n :].T) + (bias_w + bias_r)[2 * n :]
            return ((1 - z) * activated(g, _bounded(new, self.sweep)) + z * h,)

        return _swept(self.sweep, ins, ins[5:6], cell)


@record
class RNN:
    """One gate, which is the state: y and the last h."""

    sweep: Sweep

    macs = swept_macs

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """All h, the last h."""
        return _inferred(self.sweep, ins, gates=1, states=1)

    evaluate = _in_order
    quickly = _in_any_order

    def run(self, ins: Sequence[Array], product: Product) -> tuple[Array, ...]:
        """With products that are this."""
        n = self.sweep.hidden

        def cell(x: Array, states: States, d: int) -> States:
            bias = ins[3][d, :n] + ins[3][d, n:]
            gate = product(x, ins[1][d].T) + product(states[0], ins[2][d].T) + bias
            return (activated(self.sweep.functions[d], _bounded(gate, self.sweep)),)

        return _swept(self.sweep, ins, ins[5:6], cell)


def _bounded(gate: Array, sweep: Sweep) -> Array:
    bound = gate.dtype.type(sweep.clip)
    return gate if sweep.clip == np.inf else np.asarray(np.clip(gate, -bound, bound))


def _inferred(sweep: Sweep, ins: Sequence[RealType], *, gates: int, states: int) -> tuple[RealType, ...]:
    directions, n = len(sweep.reverse), sweep.hidden
    if len(ins[0].shape) != 3:
        raise ShapeMismatch(f"a sequence of shape {list(ins[0].shape)}")
    steps, batch, entries = ins[0].shape
    wanted = [(directions, gates * n, entries), (directions, gates * n, n), (directions, 2 * gates * n), (batch,)]
    wanted += [(directions, batch, n)] * states
    found = [t.shape for t in ins[1 : 1 + len(wanted)]]
    if found != wanted or len(sweep.functions) % directions:
        raise ShapeMismatch(f"tensors {[list(s) for s in found]} for {directions} directions of {n} entries")
    every, last = ins[0].shaped((steps, directions, batch, n)), ins[0].shaped((directions, batch, n))
    return (every, *[last] * states)


def _swept(sweep: Sweep, ins: Sequence[Array], first: Sequence[Array], cell: Cell) -> tuple[Array, ...]:
    """Every h, and the last states of each sequence, direction by direction."""
    x, lengths = ins[0], np.clip(ins[_LENGTHS].astype(np.int64), 0, len(ins[0]))
    steps, batch = x.shape[:2]
    y = np.zeros((steps, len(sweep.reverse), batch, sweep.hidden), x.dtype)
    rows, last = np.arange(batch), []
    for d, backwards in enumerate(sweep.reverse):
        states = tuple(s[d] for s in first)
        for step in range(steps):
            runs = step < lengths
            at = np.where(backwards, lengths - 1 - step, step).clip(0, max(steps - 1, 0))
            new = cell(x[at, rows], states, d)
            states = tuple(np.where(runs[:, None], a, b).astype(x.dtype) for a, b in zip(new, states, strict=True))
            y[at[runs], d, rows[runs]] = states[0][runs]
        last.append(states)
    return (y, *(np.stack([s[i] for s in last]) for i in range(len(first))))
