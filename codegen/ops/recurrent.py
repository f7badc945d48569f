"""Recurrent: an LSTM, a GRU or a plain recurrence over a sequence, in one direction, in integers.

x: s32[T, B, G * H], the products with the input of each gate, its bias added; r: s8|s16[G * H, H], b: s32[G * H],
h: s16[B, H] and for an LSTM c: s32[B, H]  ->  y: s16[T, B, H], h of each step, and the last c of an LSTM.  With G * H
rows j, and what has 31 bits behind the point called a share:

    a_j     = b_j + sum over k of h[k] * r_j[k]                      int32
    gate_j  = clamp((x_j * X_j + a_j * A_j) >> S_j), halves up       of 26 bits behind the point, -bound .. bound
    p(v)    = logistic(v) - 1/2 of such a number, a share, from 769 numbers over 0 .. 12, linear in between
    logistic(v) = 1/2 + p(v), tanh(v) = 2 * p(2 * v)
    lstm    c' = clamp((f * c by 2^-31) + (i * g by 2^-31, then by U * 2^-u)), f = 1 - i where `coupled`
            h' = o * tanh(c' * V by 2^-v)                            gates in order i o f g
    gru     h' = n + z * (h - n); n of s * h, or with `reset_after` n = g((x_n * X_n by S_n) + s * (a_n * A_n by S_n))
            gates in order z s n; where `finer` of h - n + l, l what is left of h
    rnn     h' = f(gate); where `finer` of a_j * A_j + (l_j * A_j by 2^-8), l_j the products with what is left of h

Shares are products of two by 2^-31; h is one by 2^(16 + reach), clamped to 16 bits, in steps of 2^(reach - 15).  All
are rounded halves up.  The steps of a reversed sequence run from the last.  What is left of h, in steps of 2^-8 of its
own, is not shown: it enters the next step alone, and is zero before the first.

p is within 2^-18 of its function and h of a step within 2^-15 of what its gates and states make it: a cell of 32 bits
needs nobody to say how far it goes.  One definition for every mode.
Source: onnx/docs/Operators.md, LSTM, GRU, RNN; the integers are Lamina's own.  Twin: runtime_c/include/lam_gates.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from codegen.fixedpoint import INT32_MAX, INT32_MIN
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.accumulator import exact_matmul
from codegen.ops.answers import Types, whole
from codegen.ops.limits import limit, require, types_among
from codegen.records import record

Cell = Literal["lstm", "gru", "rnn"]
Squash = Literal["logistic", "tanh"]
GATES: dict[str, int] = {"lstm": 4, "gru": 3, "rnn": 1}
GATE_BITS = 26
"""Bits behind the point of what goes into a function."""
SHARE_BITS = 31
LEFT_BITS = 8
"""Of a finer state, those below its last one."""
ENTRIES = 769
_ENTRY_BITS = 20
"""Of a gate's number, between two entries of the table: 64 entries for each 1."""
_BETWEEN_BITS = 14
"""Of those, what the line between two entries takes."""
_TABLE_BITS = SHARE_BITS - _BETWEEN_BITS
_FULL = 1 << SHARE_BITS
_ALL = slice(None)


@record
class GateSteps:
    """How both sums of each gate's row become its number: one of each for all rows, or one for each row."""

    x: tuple[int, ...]
    hidden: tuple[int, ...]
    right: tuple[int, ...]


@record
class Recurrent:
    """A cell, its functions, and how a sequence is read.

    `finer`: the state has 8 more bits from step to step than it shows, since what a step rounds off may stay: no gate
    damps it in a plain cell, and a GRU's may hand on nearly all of it.
    `update` and `squash` are multiplier and right shift of what is added to the cell and of what its function takes.
    """

    cell: Cell
    functions: tuple[Squash, ...]
    gates: GateSteps
    reach: int
    bound: int = INT32_MAX
    reverse: bool = False
    coupled: bool = False
    reset_after: bool = False
    finer: bool = False
    update: tuple[int, int] = (1, 1)
    squash: tuple[int, int] = (1, 1)
    cell_scale: float = 1.0

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-RECURRENT-10", 1, "the hidden state's weights", (DType.S8, DType.S16)),
        limit(
            "LAM-OPS-RECURRENT-12",
            "the gates of an LSTM and of a GRU must be opened by the logistic function",
            lambda op, ins: op.cell == "rnn" or op.functions[0] == "logistic",
        ),
        limit(
            "LAM-OPS-RECURRENT-13",
            "an LSTM's state must be what it shows",
            lambda op, ins: op.cell != "lstm" or not op.finer,
        ),
        limit(
            "LAM-OPS-RECURRENT-11",
            "the hidden state must reach 1 to 2^14",
            lambda op, ins: 0 <= op.reach <= 14,
        ),
    )

    @property
    def quant(self) -> Quant:
        """What the hidden state's steps are worth."""
        return Quant(2.0 ** (self.reach - 15))

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The types of every hidden state, and of the last cell."""
        kinds = (DType.S32, None, DType.S32, DType.S16, *((DType.S32,) if self.cell == "lstm" else ()))
        require(len(ins) == len(kinds), self, f"takes {len(kinds)} inputs, got {len(ins)}")
        fits = all(kind in (None, t.dtype) for kind, t in zip(kinds, ins, strict=True))
        require(fits, self, f"inputs of types {[t.dtype.value for t in ins]}")
        x, r, b, *states = (t.shape for t in ins)
        hidden, rows = r[-1], GATES[self.cell] * r[-1]
        fits = len(x) == 3 and r == (rows, hidden) and b == (rows,) and x[2] == rows
        fits = fits and all(s == (x[1], hidden) for s in states)
        fits = fits and all(len(part) in (1, rows) for part in (self.gates.x, self.gates.hidden, self.gates.right))
        require(fits, self, f"shapes {[list(t.shape) for t in ins]}")
        every = TensorType((*x[:2], hidden), DType.S16, self.quant)
        return (every, TensorType((x[1], hidden), DType.S32)) if self.cell == "lstm" else (every,)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The outputs, to the bit."""
        x, r, b, h, *rest = (i.astype(np.int64) for i in ins)
        c = rest[0] if rest else np.zeros_like(h)
        step = {"lstm": self._lstm, "gru": self._gru, "rnn": self._rnn}[self.cell]
        y = np.empty((*x.shape[:2], h.shape[1]), np.int16)
        for t in range(len(x))[:: -1 if self.reverse else 1]:
            h, c = step(x[t], h, c, (r, b))
            y[t] = h
        return (y, c.astype(np.int32)) if rest else (y,)

    def _lstm(self, x: Array, h: Array, c: Array, weights: tuple[Array, Array]) -> tuple[Array, Array]:
        i, o, f, new = np.split(self._numbers(x, _sums(h, weights), _ALL), 4, axis=1)
        i, o, new = self._of(0, i), self._of(0, o), self._of(1, new)
        f = _FULL - i if self.coupled else self._of(0, f)
        c = _word(_times(f, c) + _halved(_times(i, new) * self.update[0], self.update[1]))
        shown = self._of(2, np.clip(_halved(c * self.squash[0], self.squash[1]), -INT32_MAX, INT32_MAX))
        return self._state(_times(o, shown)), c

    def _gru(self, x: Array, h: Array, left: Array, weights: tuple[Array, Array]) -> tuple[Array, Array]:
        n = h.shape[1]
        sums = _sums(h, weights)
        first, last = slice(0, 2 * n), slice(2 * n, 3 * n)
        z, s = np.split(self._of(0, self._numbers(x[:, first], sums[:, first], first)), 2, axis=1)
        if self.reset_after:
            outer, inner = (self._numbers(a, b, last, INT32_MAX) for a, b in ((x[:, last], 0), (0, sums[:, last])))
            new = np.clip(outer + _times(s, inner), -self.bound, self.bound)
        else:
            new = self._numbers(x[:, last], _sums(_times(s, h), tuple(w[last] for w in weights)), last)
        new, past = _halved(self._of(1, new), self.reach), (h << 16) + (left << 16 - LEFT_BITS)
        mixed = new + _times(z, past - new)
        made = np.clip(_halved(mixed, 16), -32768, 32767)
        return made, _halved(mixed, 16 - LEFT_BITS) - (made << LEFT_BITS) if self.finer else left

    def _rnn(self, x: Array, h: Array, left: Array, weights: tuple[Array, Array]) -> tuple[Array, Array]:
        more = exact_matmul(left, weights[0].T) if self.finer else 0
        share = self._of(0, self._numbers(x, _sums(h, weights), _ALL, left=more))
        made = self._state(share)
        return made, _halved(share, 16 - LEFT_BITS + self.reach) - (made << LEFT_BITS)

    def _numbers(self, x: Array | int, sums: Array | int, rows: slice, bound: int = 0, left: Array | int = 0) -> Array:
        """What goes into the functions of some rows, within a bound; `left` are sums of what is left of states."""
        parts = (self.gates.x, self.gates.hidden, self.gates.right)
        mx, mh, right = (np.array(p, np.int64)[rows if len(p) > 1 else _ALL] for p in parts)
        end = bound or self.bound
        return np.clip(_halved(x * mx + sums * mh + _halved(left * mh, LEFT_BITS), right), -end, end)

    def _of(self, function: int, v: Array) -> Array:
        """A function of the cell, as a share."""
        if self.functions[function] == "tanh":
            return 2 * half_logistic(np.clip(2 * v, -INT32_MAX, INT32_MAX))
        return (1 << (SHARE_BITS - 1)) + half_logistic(v)

    def _state(self, share: Array) -> Array:
        return np.clip(_halved(share, 16 + self.reach), -32768, 32767)

    rows = whole

    def macs(self, ins: Types, outs: Types) -> int:
        """One per weight, sample and step."""
        return ins[0].shape[0] * ins[0].shape[1] * ins[1].elements

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """No output lies where an input does."""
        return False


@cache
def half_logistic_table() -> tuple[int, ...]:
    """Logistic less a half over 0 .. 12 in steps of 2^-17, uint16."""
    size = np.arange(ENTRIES) * 2.0 ** (_ENTRY_BITS - GATE_BITS)
    found = np.rint((1 / (1 + np.exp(-size)) - 0.5) * 2.0**_TABLE_BITS)
    return tuple(int(n) for n in np.minimum(found, 65535))


def half_logistic(v: Array) -> Array:
    """Logistic less a half, as a share."""
    table, size = np.array(half_logistic_table(), np.int64), np.abs(v)
    at = np.minimum(size >> _ENTRY_BITS, ENTRIES - 1)
    rest = (size & ((1 << _ENTRY_BITS) - 1)) >> (_ENTRY_BITS - _BETWEEN_BITS)
    more = (table[np.minimum(at + 1, ENTRIES - 1)] - table[at]) * rest
    return np.asarray(np.where(v < 0, -1, 1) * ((table[at] << _BETWEEN_BITS) + more))


def _sums(h: Array, weights: tuple[Array, ...]) -> Array:
    """Products of the hidden state with each row, and the bias."""
    return exact_matmul(h, weights[0].T) + weights[1]


def _halved(x: Array, right: int | Array) -> Array:
    """Divided by 2^right, halves up."""
    return np.asarray((x + ((np.int64(1) << right) >> 1)) >> right)


def _times(share: Array, x: Array) -> Array:
    """A share of a number."""
    return _halved(share * x, SHARE_BITS)


def _word(x: Array) -> Array:
    return np.asarray(np.clip(x, INT32_MIN, INT32_MAX))
