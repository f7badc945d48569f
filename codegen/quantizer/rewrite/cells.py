"""What one step of LSTM, GRU and RNN is, in products, sums and functions of single elements.

Decides: that what is known before a run is computed now, so that first states of zero and weights of the cell that are
not there cost nothing; that gates of one function are computed together; and that (1 - t) * a + t * b is
a + t * (b - a).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import RealNode, RealOp
from codegen.quantizer.rewrite.draft import Draft
from codegen.real.activation import Activation, activated
from codegen.real.elementwise import ARITHMETIC, Binary, Clip, Function
from codegen.real.movement import Slice
from codegen.real.product import Gemm
from codegen.real.recurrent import GRU, LSTM, RNN

Number = str | Array
"""A tensor that the network computes, by its name, or one that is known."""
FACTORS: dict[str, tuple[str, ...]] = {
    "Elu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "ThresholdedRelu": ("alpha",),
    **dict.fromkeys(("Relu", "Sigmoid", "Softplus", "Softsign", "Tanh"), ()),
}
"""Functions of cells that integers have a table for, and the factors that they take."""


class Pen:
    """Writes operators in front of a recurrence, and remembers which of their results play one part in its steps."""

    def __init__(self, draft: Draft, node: RealNode, bound: float) -> None:
        self.parts: dict[str, list[str]] = defaultdict(list)
        self._draft, self._node, self._bound = draft, node, bound
        self._base = node.tensor or node.label

    def do(self, part: str, op: RealOp, *inputs: Number) -> str:
        """The result of an operator."""
        made = self.moved(part, op, *inputs)
        self.parts[part].append(made)
        return made

    def moved(self, part: str, op: RealOp, *inputs: Number) -> str:
        """The result of an operator that computes nothing."""
        return self._draft.computed(f"{self._base}:{part}", op, self._node, *(self.name(i) for i in inputs))

    def name(self, number: Number) -> str:
        """The value that holds a number."""
        return number if isinstance(number, str) else self._draft.own(f"{self._base}:known", number)

    def piece(self, x: Number, index: int, size: int, count: int = 1) -> Number:
        """`count` pieces of `size` entries of the last axis, from the `index`-th on."""
        start, length = index * size, count * size
        if not isinstance(x, str):
            return x[..., start : start + length]
        shape = self._draft.shape(x)
        if shape[-1] == length:
            return x
        return self.moved("piece", Slice((*[0] * (len(shape) - 1), start), (*shape[:-1], length), (1,) * len(shape)), x)

    def product(self, part: str, x: Number, weights: str, bias: Array) -> Number:
        """X times the weights' rows, plus the bias."""
        if not isinstance(x, str):
            known = self._draft.constant(weights)
            assert known is not None, f"{weights} is a constant"
            return np.asarray(x @ known.T + bias)
        return self.do(part, Gemm(turn_b=True), x, weights, *([bias] if bias.any() else []))

    def add(self, part: str, a: Number, b: Number) -> Number:
        """The sum."""
        return b if _is_zero(a) else a if _is_zero(b) else self._both(part, "Add", a, b)

    def times(self, part: str, a: Number, b: Number) -> Number:
        """The product of elements; zero has the shape of a known factor."""
        zero = next((n for n in (a, b) if _is_zero(n)), None)
        return self._both(part, "Mul", a, b) if zero is None else zero

    def mixed(self, part: str, a: Number, b: Number, share: Number) -> Number:
        """(1 - share) * a + share * b."""
        if _is_zero(b):
            return self._both(part, "Sub", a, self.times(f"{part} share", share, a))
        away = b if _is_zero(a) else self._both(f"{part} away", "Sub", b, a)
        return self.add(part, a, self.times(f"{part} share", share, away))

    def _both(self, part: str, kind: str, a: Number, b: Number) -> Number:
        if isinstance(a, str) or isinstance(b, str):
            return self.do(part, Binary(kind), a, b)
        return np.asarray(ARITHMETIC[kind](a, b))

    def function(self, part: str, how: Activation, x: Number) -> Number:
        """A function of a gate within its bounds."""
        if not isinstance(x, str):
            return activated(how, np.clip(x, -self._bound, self._bound))
        inner = x if np.isinf(self._bound) else self.do(f"{part} bounded", Clip(-self._bound, self._bound), x)
        return self.squashed(part, how, inner)

    def squashed(self, part: str, how: Activation, x: Number) -> Number:
        """A function of a state, which has no bounds."""
        if not isinstance(x, str):
            return activated(how, x)
        if how.name not in FACTORS:
            return self._written(part, how, x)
        given = {"alpha": how.alpha, "beta": how.beta}
        return self.do(part, Function(how.name, tuple((key, given[key]) for key in FACTORS[how.name])), x)

    def _written(self, part: str, how: Activation, x: str) -> Number:
        """Affine: alpha x + beta; ScaledTanh: alpha tanh(beta x)."""
        entries = self._draft.shape(x)[-1]
        alpha, beta = (np.full((1, entries), n, np.float32) for n in (how.alpha, how.beta))
        if how.name == "Affine":
            return self.add(part, self.times(f"{part} scaled" if how.beta else part, alpha, x), beta)
        inner = self.times(f"{part} scaled", beta, x)
        return self.times(part, alpha, self.squashed(f"{part} tanh", Activation("Tanh"), inner))


def _is_zero(number: Number) -> bool:
    return not isinstance(number, str) and not number.any()


class Weights:
    """The weights of one direction: `inner` those of the state, `outer` those of the input, as one value each.

    `bias` is added to the product of the input, `inner_bias` to that of the state.
    """

    def __init__(self, pen: Pen, op: RealOp, hidden: int, numbers: Sequence[Array]) -> None:
        outer, self._inner, both = numbers[:3]
        self.cell = numbers[3] if len(numbers) > 3 else np.zeros(0)
        first, second = np.split(both, 2)
        late = np.zeros_like(second)
        if isinstance(op, GRU) and op.reset_after:
            late[2 * hidden :] = second[2 * hidden :]
        self.bias, self.inner_bias = first + second - late, late
        self.outer = pen.name(outer)
        self._pen, self._hidden = pen, hidden
        self._rows: dict[tuple[int, int], str] = {}

    def inner(self, first: int = 0, count: int = 0) -> str:
        """The rows of some gates, of all without a count."""
        if (first, count) not in self._rows:
            last = (first + count) * self._hidden if count else None
            self._rows[first, count] = self._pen.name(self._inner[first * self._hidden : last])
        return self._rows[first, count]


def lstm_step(
    pen: Pen, op: LSTM, d: int, weights: Weights, x: Number, states: Sequence[Number]
) -> tuple[Number, Number]:
    """Gates i, o, f, c: the new h and c."""
    h, c = states
    n = op.sweep.hidden
    f, g, out = op.sweep.functions[3 * d : 3 * d + 3]
    gates = pen.add(f"gates{d}", x, pen.product(f"inner{d}", h, weights.inner(), weights.inner_bias))
    looks = weights.cell.any()
    joint = None if looks else pen.function(f"opened{d}", f, pen.piece(gates, 0, n, 3))

    def gate(index: int, cell: Number) -> Number:
        if joint is not None:
            return pen.piece(joint, index, n)
        seen = pen.times(f"seen{d}", np.array(weights.cell[index * n : (index + 1) * n]), cell)
        total = pen.add(f"sum{d}", pen.piece(gates, index, n), seen)
        return pen.function(f"opened{d}", f, total)

    i, new = gate(0, c), pen.function(f"new{d}", g, pen.piece(gates, 3, n))
    kept = c if op.coupled else pen.times("c", gate(2, c), c)
    c = pen.mixed("c", c, new, i) if op.coupled else pen.add("c", kept, pen.times("c", i, new))
    return pen.times("h", gate(1, c), pen.squashed(f"shown{d}", out, c)), c


def gru_step(pen: Pen, op: GRU, d: int, weights: Weights, x: Number, states: Sequence[Number]) -> tuple[Number]:
    """Gates z, r, h: the new h."""
    (h,) = states
    n = op.sweep.hidden
    f, g = op.sweep.functions[2 * d : 2 * d + 2]
    if op.reset_after:
        inner = pen.product(f"inner{d}", h, weights.inner(), weights.inner_bias)
        first, last = pen.piece(inner, 0, n, 2), pen.piece(inner, 2, n)
    else:
        first = pen.product(f"inner{d}", h, weights.inner(0, 2), weights.inner_bias[: 2 * n])
        last = h
    opened = pen.function(f"opened{d}", f, pen.add(f"gates{d}", pen.piece(x, 0, n, 2), first))
    z, reset = pen.piece(opened, 0, n), pen.piece(opened, 1, n)
    last = pen.times(f"let{d}" if op.reset_after else f"reset{d}", reset, last)
    if not op.reset_after:
        last = pen.product(f"after{d}", last, weights.inner(2, 1), weights.inner_bias[2 * n :])
    new = pen.function(f"new{d}", g, pen.add(f"sum{d}", pen.piece(x, 2, n), last))
    return (pen.mixed("h", new, h, z),)


def rnn_step(pen: Pen, op: RNN, d: int, weights: Weights, x: Number, states: Sequence[Number]) -> tuple[Number]:
    """One gate: the new h."""
    inner = pen.product(f"inner{d}", states[0], weights.inner(), weights.inner_bias)
    return (pen.function("h", op.sweep.functions[d], pen.add(f"gates{d}", x, inner)),)
