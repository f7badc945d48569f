"""LSTM, GRU and RNN over sequences of real numbers.

Decides: that the products with the input are one FloatDense for all steps, and each direction is a FloatRecurrent; the
last states are parts of its output.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.ops import Slice
from codegen.ops.float32 import FloatDense, FloatRecurrent
from codegen.ops.float32.recurrent import GATES, Activation, Cell
from codegen.real.activation import Activation as RealActivation
from codegen.real.recurrent import GRU, LSTM, RNN
from codegen.settle.context import Context
from codegen.settle.float32.moving import joined
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State

_FUNCTIONS = {
    "Elu": ("elu", 1),
    "HardSigmoid": ("hard_sigmoid", 2),
    "LeakyRelu": ("leaky_relu", 1),
    "Relu": ("relu", 0),
    "Sigmoid": ("sigmoid", 0),
    "Softplus": ("softplus", 0),
    "Softsign": ("softsign", 0),
    "Tanh": ("tanh", 0),
    "ThresholdedRelu": ("thresholded_relu", 1),
}
"""How FloatUnary calls a function, and the numbers that it takes."""
_W, _R, _BIAS, _LENGTHS, _H, _C, _PEEPHOLES = range(1, 8)


def lstm(ctx: Context, node: RealNode, op: LSTM) -> Sequence[State]:
    """Gates i, o, f, c."""
    return _swept(ctx, node, op, "lstm")


def gru(ctx: Context, node: RealNode, op: GRU) -> Sequence[State]:
    """Gates z, r, h."""
    return _swept(ctx, node, op, "gru")


def rnn(ctx: Context, node: RealNode, op: RNN) -> Sequence[State]:
    """One gate."""
    return _swept(ctx, node, op, "rnn")


def _swept(ctx: Context, node: RealNode, op: LSTM | GRU | RNN, cell: Cell) -> Sequence[State]:
    w, sweep = Writer(ctx, node), op.sweep
    steps, batch, _ = w.shape(w.input(0))
    lengths = w.known(_LENGTHS)
    if lengths is None or (np.clip(lengths, 0, steps) != steps).any():
        raise FormUnsupported(f"{node.op_type} over sequences of different lengths", where=node.where)
    made = [_direction(w, op, cell, d) for d in range(len(sweep.reverse))]
    hidden = sweep.hidden
    every, last = list[str](), [list[str]() for _ in node.outputs[1:]]
    for y, backwards in zip(made, sweep.reverse, strict=True):
        every.append(w.reshaped(_part(w, y, 0, steps, 0, hidden), (steps, 1, batch, hidden)))
        end = 0 if backwards else steps - 1
        for i, states in enumerate(last):
            states.append(_part(w, y, end, 1, i * hidden, hidden))
    return w.done(joined(w, every, 1), *(joined(w, states, 0) for states in last))


def _part(w: Writer, y: str, step: int, steps: int, start: int, hidden: int) -> str:
    batch = w.shape(y)[1]
    return w.apply(Slice((step, 0, start), (steps, batch, hidden), (1, 1, 1)), y)


def _direction(w: Writer, op: LSTM | GRU | RNN, cell: Cell, d: int) -> str:
    """The states of every step in one direction."""
    weights, recurrent, bias = (_known(w, i)[d] for i in (_W, _R, _BIAS))
    own, of_h = np.split(bias, 2)
    x = w.input(0)
    steps, batch, entries = w.shape(x)
    flat = w.apply(FloatDense(), w.reshaped(x, (steps * batch, entries)), w.const(weights), w.const(own))
    count = len(op.sweep.functions) // len(op.sweep.reverse)
    functions = op.sweep.functions[d * count : (d + 1) * count]
    states = [_first(w, i, d) for i in ((_H, _C) if cell == "lstm" else (_H,))]
    peepholes = _known(w, _PEEPHOLES)[d] if cell == "lstm" else np.zeros(0, np.float32)
    main = FloatRecurrent(
        cell=cell,
        functions=tuple(_function(w, f) for f in functions),
        reverse=op.sweep.reverse[d],
        bound=op.sweep.clip,
        coupled=isinstance(op, LSTM) and op.coupled,
        reset_after=isinstance(op, GRU) and op.reset_after,
        peepholes=bool(peepholes.any()),
    )
    extra = [w.const(peepholes)] if main.peepholes else []
    gates = w.reshaped(flat, (steps, batch, GATES[cell] * op.sweep.hidden))
    return w.apply(main, gates, w.const(recurrent), w.const(of_h), *states, *extra)


def _known(w: Writer, index: int) -> Array:
    found = w.known(index)
    if found is None:
        raise FormUnsupported(f"{w.node.op_type} with computed weights", where=w.node.where)
    return np.asarray(found, np.float32)


def _first(w: Writer, index: int, d: int) -> str:
    """What one direction begins with."""
    x = w.input(index)
    _, batch, hidden = w.shape(x)
    return w.reshaped(w.apply(Slice((d, 0, 0), (1, batch, hidden), (1, 1, 1)), x), (batch, hidden))


def _function(w: Writer, function: RealActivation) -> Activation:
    if function.name not in _FUNCTIONS:
        raise FormUnsupported(f"{w.node.op_type} with {function.name}", where=w.node.where)
    name, count = _FUNCTIONS[function.name]
    return name, (function.alpha, function.beta)[:count]


RULES: Family = (
    Rule(GRU, gru),
    Rule(LSTM, lstm),
    Rule(RNN, rnn),
)
