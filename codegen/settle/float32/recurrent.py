"""LSTM, GRU and RNN over sequences of real numbers.

Decides: that the products with the input are one FloatDense for all steps, or a FloatMatMul where weights are computed,
and each direction is a FloatRecurrent; the last states are parts of its output.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.quant import Array
from codegen.ir.real import RealNode
from codegen.ops import Slice
from codegen.ops.float32 import FloatBinary, FloatDense, FloatMatMul, FloatRecurrent
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
    own, of_h = _halves(w, _given(w, _BIAS, d))
    flat = _products(w, _given(w, _W, d), own)
    count = len(op.sweep.functions) // len(op.sweep.reverse)
    functions = op.sweep.functions[d * count : (d + 1) * count]
    states = [_value(w, _given(w, i, d)) for i in ((_H, _C) if cell == "lstm" else (_H,))]
    peepholes = _given(w, _PEEPHOLES, d) if cell == "lstm" else np.zeros(0, np.float32)
    main = FloatRecurrent(
        cell=cell,
        functions=tuple(_function(w, f) for f in functions),
        reverse=op.sweep.reverse[d],
        bound=op.sweep.clip,
        coupled=isinstance(op, LSTM) and op.coupled,
        reset_after=isinstance(op, GRU) and op.reset_after,
        peepholes=isinstance(peepholes, str) or bool(peepholes.any()),
    )
    extra = [_value(w, peepholes)] if main.peepholes else []
    gates = w.reshaped(flat, (*w.shape(w.input(0))[:2], GATES[cell] * op.sweep.hidden))
    return w.apply(main, gates, _value(w, _given(w, _R, d)), _value(w, of_h), *states, *extra)


def _given(w: Writer, index: int, d: int) -> Array | str:
    """What one direction has of an input: numbers, or a value where they are computed."""
    known = w.known(index)
    if known is not None:
        return np.asarray(known[d], np.float32)
    x = w.input(index)
    _, *shape = w.shape(x)
    rest = len(shape)
    return w.reshaped(w.apply(Slice((d, *(0,) * rest), (1, *shape), (1,) * (1 + rest)), x), shape)


def _value(w: Writer, given: Array | str) -> str:
    return given if isinstance(given, str) else w.const(given)


def _halves(w: Writer, bias: Array | str) -> list[Array | str]:
    """The bias of the products with the input, and of those with the state."""
    if not isinstance(bias, str):
        return list(np.split(bias, 2))
    half = w.shape(bias)[0] // 2
    return [w.apply(Slice((start,), (half,), (1,)), bias) for start in (0, half)]


def _products(w: Writer, weights: Array | str, bias: Array | str) -> str:
    """Those of all steps with the input, as rows, and the bias."""
    x = w.input(0)
    steps, batch, entries = w.shape(x)
    rows = w.reshaped(x, (steps * batch, entries))
    if not isinstance(weights, str):
        none = np.zeros(len(weights), np.float32)
        made = w.apply(FloatDense(), rows, w.const(weights), w.const(none if isinstance(bias, str) else bias))
        return _plus(w, made, bias) if isinstance(bias, str) else made
    return _plus(w, w.apply(FloatMatMul(), rows, w.transposed(weights, (1, 0))), _value(w, bias))


def _plus(w: Writer, rows: str, bias: str) -> str:
    return w.apply(FloatBinary("add"), rows, w.reshaped(bias, (1, w.shape(rows)[1])))


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
