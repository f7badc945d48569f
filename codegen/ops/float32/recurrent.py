"""FloatRecurrent: an LSTM, a GRU or a plain recurrence over a sequence, in one direction.

x: f32[T, B, G * H], the products with the input of each gate, its bias added; r: f32[G * H, H], b: f32[G * H],
h: f32[B, H], and for an LSTM c: f32[B, H], with `peepholes` p: f32[3 * H]  ->  y: f32[T, B, S * H], S states of each
step side by side: h and c of an LSTM, h and what its reset leaves of a GRU, h of a plain one.

    a_g = b_g + sum over k of h[k] * r_g[k], k ascending, each step as `sums` has it
    lstm   i = f(x_i + a_i + p_i * c);  forget = f(x_f + a_f + p_f * c), or 1 - i where `coupled`
           c' = forget * c + i * g(x_c + a_c);  o = f(x_o + a_o + p_o * c');  h' = o * w(c')      gates in order i o f c
    gru    z = f(x_z + a_z);  s = f(x_s + a_s);  n = g(x_n + a_n), a_n of s * h, or with `reset_after` s * a_n
           h' = (1 - z) * n + z * h                                                               gates in order z s n
    rnn    h' = f(x + a)

What a function is applied to is held in -clip .. clip before.  The steps of a reversed sequence run from the last.
Source: onnx/docs/Operators.md, LSTM, GRU, RNN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Sums, TensorType
from codegen.ops.answers import Types, never_in_place, whole
from codegen.ops.float32.functions import ONE, clip
from codegen.ops.float32.sums import add_product
from codegen.ops.float32.unary import FUNCTIONS
from codegen.ops.limits import require
from codegen.records import record

Cell = Literal["lstm", "gru", "rnn"]
Activation = tuple[str, tuple[float, ...]]
"""A function of FloatUnary with its numbers."""
GATES: dict[str, int] = {"lstm": 4, "gru": 3, "rnn": 1}
STATES: dict[str, int] = {"lstm": 2, "gru": 2, "rnn": 1}
"""How many numbers a unit has behind a step."""


@record
class FloatRecurrent:
    """A cell, its functions, and how a sequence is read."""

    cell: Cell
    functions: tuple[Activation, ...]
    reverse: bool = False
    bound: float = float("inf")
    coupled: bool = False
    reset_after: bool = False
    peepholes: bool = False
    sums: Sums = "separate"

    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        count = 4 + (self.cell == "lstm") + self.peepholes
        require(len(ins) == count and all(t.dtype is DType.F32 for t in ins), self, f"takes {count} inputs of f32")
        x, r, b, h = (t.shape for t in ins[:4])
        hidden, gates = r[-1], GATES[self.cell]
        fits = len(x) == 3 and r == (gates * hidden, hidden) and b == (gates * hidden,) and x[2] == gates * hidden
        require(fits and h == (x[1], hidden), self, f"{gates} gates of {[list(s) for s in (x, r, b, h)]}")
        return (TensorType((x[0], x[1], STATES[self.cell] * hidden), DType.F32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, h = ins[0], ins[3]
        other = ins[4] if self.cell == "lstm" else np.zeros_like(h)
        y = np.empty((*x.shape[:2], STATES[self.cell] * h.shape[1]), np.float32)
        step = {"lstm": self._lstm, "gru": self._gru, "rnn": self._rnn}[self.cell]
        with np.errstate(all="ignore"):
            for t in range(len(x))[:: -1 if self.reverse else 1]:
                h, other = step(x[t], h, other, ins)
                y[t] = np.concatenate([h, other], -1)[:, : y.shape[2]]
        return (y,)

    def _lstm(self, x: Array, h: Array, c: Array, ins: Sequence[Array]) -> tuple[Array, Array]:
        n = h.shape[1]
        i, o, forget, new = (x[:, g * n : (g + 1) * n] + self._sums(h, g, ins) for g in range(4))
        p = np.split(ins[5], 3) if self.peepholes else None
        i = self._of(0, i if p is None else i + p[0] * c)
        forget = ONE - i if self.coupled else self._of(0, forget if p is None else forget + p[2] * c)
        c = forget * c + i * self._of(1, new)
        o = self._of(0, o if p is None else o + p[1] * c)
        return o * self._of(2, c, held=False), c

    def _gru(self, x: Array, h: Array, left: Array, ins: Sequence[Array]) -> tuple[Array, Array]:
        n = h.shape[1]
        z, s = (self._of(0, x[:, g * n : (g + 1) * n] + self._sums(h, g, ins)) for g in range(2))
        left = s * h
        added = s * self._sums(h, 2, ins) if self.reset_after else self._sums(left, 2, ins)
        new = self._of(1, x[:, 2 * n :] + added)
        return (ONE - z) * new + z * h, left

    def _rnn(self, x: Array, h: Array, other: Array, ins: Sequence[Array]) -> tuple[Array, Array]:
        return self._of(0, x + self._sums(h, 0, ins)), other

    def _sums(self, h: Array, gate: int, ins: Sequence[Array]) -> Array:
        n = h.shape[1]
        r, b = ins[1][gate * n : (gate + 1) * n], ins[2][gate * n : (gate + 1) * n]
        acc = np.broadcast_to(b, h.shape).copy()
        for k in range(n):
            add_product(acc, h[:, k, None], r[:, k], sums=self.sums)
        return acc

    def _of(self, index: int, x: Array, *, held: bool = True) -> Array:
        name, numbers = self.functions[index]
        if held and np.isfinite(self.bound):
            x = clip(x, np.float32(-self.bound), np.float32(self.bound))
        return np.asarray(FUNCTIONS[name](x, *map(np.float32, numbers)), np.float32)

    def macs(self, ins: Types, outs: Types) -> int:
        """Of the recurrent weights, once per step and entry of the batch."""
        return ins[0].shape[0] * ins[0].shape[1] * ins[1].elements

    rows = whole
    in_place = never_in_place
