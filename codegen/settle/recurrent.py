"""LSTM, GRU and RNN of a quantized sequence, whose results are quantized too.

Decides: that the products with the input are one Dense for all steps, whose sums of 32 bits are left as they are, and
each direction is a Recurrent; that the hidden state has 16 bits whatever the result has, and steps of 2^-15 where it
starts within -1 .. 1, since nothing else takes it further; that an RNN's and a GRU's have 8 more from step to step
where the sequence has 16, since what they hand on may hardly be damped; and that the cell has 32, which hold one more
for each step beyond where it starts.  Sequences of several lengths, computed weights, weights of the cell and functions
other than Sigmoid and Tanh are left to real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from codegen.errors import FormUnsupported
from codegen.fixedpoint import INT32_MAX, quantize_linear, quantize_multiplier_single
from codegen.ir.quant import Array, DType, Quant, is_pot
from codegen.ir.real import RealNode
from codegen.ops import Recurrent, Slice, WholeArithmetic, accumulator_bound
from codegen.ops.accumulator import INT32_LIMIT
from codegen.ops.recurrent import GATE_BITS, SHARE_BITS, Cell, GateSteps, Squash
from codegen.real.activation import Activation
from codegen.real.recurrent import GRU, LSTM, RNN
from codegen.records import record
from codegen.settle.context import Context, array_of
from codegen.settle.float32.moving import joined
from codegen.settle.float32.writer import Writer
from codegen.settle.linear import write_accumulator
from codegen.settle.matmul import dense_product, transposed
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Accum, Const, IntConst, Pending, Real, Request, State
from codegen.settle.sums import rescaled, steps_of
from codegen.settle.tables import exact, quantized
from codegen.settle.weights import known_weights

_X, _W, _R, _BIAS, _LENGTHS, _H, _C, _PEEPHOLES = range(8)
_CELLS: Mapping[type, Cell] = {LSTM: "lstm", GRU: "gru", RNN: "rnn"}
_FUNCTIONS: Mapping[str, Squash] = {"Sigmoid": "logistic", "Tanh": "tanh"}
_FACTOR_BITS = 30
_MOST_RIGHT = 62
_SUM = 2.0**30
"""At most, of what weights that become integers here make of the largest numbers; biases have as much."""
_CELL_BITS = 30
"""Of a cell's 32 bits, those that hold what it may reach."""


@record(eq=False)
class _Direction:
    """One direction, its sums checked: weights of both sides [rows, entries], their biases, and the operator."""

    outer: IntConst
    outer_bias: Array
    inner: Array
    inner_bias: Array
    main: Recurrent


def recurrent(ctx: Context, node: RealNode, op: LSTM | GRU | RNN) -> Sequence[State]:
    """A recurrence whose sequence has integers."""
    x, sweep, cell = exact(ctx, node, _X), op.sweep, _CELLS[type(op)]
    steps, batch, entries = ctx.shape(x)
    lengths = array_of(ctx.state(node, _LENGTHS))
    functions = [_FUNCTIONS.get(f.name) for f in sweep.functions]
    if lengths is None or (np.clip(lengths, 0, steps) != steps).any():
        raise FormUnsupported(f"{node.op_type} over sequences of several lengths", where=node.where)
    if is_pot(ctx.mode) or None in functions:
        raise FormUnsupported(f"{node.op_type} with {_spoken(sweep.functions)}", where=node.where)
    peepholes = array_of(ctx.state(node, _PEEPHOLES)) if cell == "lstm" else np.zeros(0)
    if peepholes is None or peepholes.any():
        raise FormUnsupported(f"{node.op_type} with weights of the cell", where=node.where)
    firsts = _Firsts(ctx, node, steps, cell)
    parts = [_direction(ctx, node, op, cell, d, x, firsts) for d in range(len(sweep.reverse))]
    w = Writer(ctx, node)
    flat = w.reshaped(x.value, (steps * batch, entries))
    made = [_written(w, replace(x, value=flat), part, firsts, d) for d, part in enumerate(parts)]
    return _results(w, made, sweep.reverse, parts[0].main)


def _spoken(functions: Sequence[Activation]) -> str:
    return ", ".join(dict.fromkeys(f.name for f in functions))


class _Firsts:
    """The states before the first step: how far the hidden one reaches, and what a step of the cell is worth."""

    def __init__(self, ctx: Context, node: RealNode, steps: int, cell: Cell) -> None:
        self._ctx, self._node = ctx, node
        self.reach = max(math.ceil(math.log2(max(_most(ctx, node, _H), 1.0))), 0)
        self.cell_scale, self._up = 1.0, 0
        if cell == "lstm":
            most = steps + _most(ctx, node, _C)
            self.cell_scale = 2.0 ** (math.ceil(math.log2(most)) - _CELL_BITS)
            state = ctx.state(node, _C)
            if isinstance(state, Real):
                given = exact(ctx, node, _C)
                self._up = math.floor(_CELL_BITS - math.log2(most / given.quant.scale))
                self.cell_scale = float(given.quant.scale) * 2.0**-self._up
        if self.reach > 14 or not 0 <= self._up <= _CELL_BITS:
            raise FormUnsupported(f"{node.op_type} from states that reach far", where=node.where)

    @property
    def quant(self) -> Quant:
        """The hidden state's meaning."""
        return Quant(2.0 ** (self.reach - 15))

    def hidden(self, w: Writer, d: int) -> str:
        """The hidden state of a direction, in 16 bits."""
        known = array_of(self._ctx.state(self._node, _H))
        if known is not None:
            ints = quantize_linear(known[d], self.quant.scale, 0, DType.S16.low, DType.S16.high)
            return w.const(ints.astype(np.int16))
        state = exact(self._ctx, self._node, _H)
        request = Request(self.quant, DType.S16, f"{self._node.inputs[_H]}:first", (self._node,))
        return _of_direction(w, quantized(self._ctx, state, request), d)

    def cell(self, w: Writer, d: int) -> str:
        """The cell of a direction, in 32 bits."""
        known = array_of(self._ctx.state(self._node, _C))
        if known is not None:
            return w.const(np.rint(known[d].astype(np.float64) / self.cell_scale).astype(np.int32))
        steps = _of_direction(w, steps_of(w, exact(self._ctx, self._node, _C)), d)
        return w.apply(WholeArithmetic("*"), steps, w.whole(1 << self._up))


def _most(ctx: Context, node: RealNode, index: int) -> float:
    """The greatest size that a first state may have."""
    state = ctx.state(node, index)
    known = array_of(state)
    if known is not None:
        return float(np.abs(known).max())
    x = exact(ctx, node, index)
    return float(x.quant.scale) * ctx.type(x.value).dtype.reach(x.quant.zero_point)


def _of_direction(w: Writer, x: str, d: int) -> str:
    _, batch, hidden = w.shape(x)
    return w.reshaped(w.apply(Slice((d, 0, 0), (1, batch, hidden), (1, 1, 1)), x), (batch, hidden))


def _direction(
    ctx: Context, node: RealNode, op: LSTM | GRU | RNN, cell: Cell, d: int, x: Real, firsts: _Firsts
) -> _Direction:
    """What a direction is made of; sums that 32 bits do not hold are refused."""
    kind = ctx.type(x.value).dtype
    ends = ((kind.low, kind.high, x.quant.zero_point), (DType.S16.low, DType.S16.high, 0))
    outer, inner = (
        known_weights(ctx, node, i, _part(ctx, node, i, d), most=_SUM / max(-low, high))
        for i, (low, high, _) in zip((_W, _R), ends, strict=True)
    )
    own, of_h = np.split(ctx.const(node, _BIAS)[d].astype(np.float64), 2)
    after = isinstance(op, GRU) and op.reset_after
    late = np.where(np.arange(len(own)) >= 2 * op.sweep.hidden, of_h, 0) if after else np.zeros_like(of_h)
    sides = ((x.quant.scale, outer), (firsts.quant.scale, inner))
    scales = [float(scale) * part.scale[:, 0].astype(np.float64) for scale, part in sides]
    biases = [np.rint(b / s) for b, s in zip((own + of_h - late, late), scales, strict=True)]
    weights = [part.ints.astype(np.int64) - part.zero for part in (outer, inner)]
    for part, bias, end in zip(weights, biases, ends, strict=True):
        if not (np.abs(bias) < INT32_LIMIT / 2).all() or accumulator_bound(part, bias, *end) >= INT32_LIMIT:
            raise FormUnsupported(f"{node.op_type} with sums beyond 32 bits", where=node.where)
    if np.abs(weights[1]).max() > DType.S16.high:
        raise FormUnsupported(f"{node.op_type} with weights beyond 16 bits", where=node.where)
    small = DType.S8.low <= weights[1].min() and weights[1].max() <= DType.S8.high
    inner_ints = weights[1].astype(np.int8 if small else np.int16)
    main = _main(node, op, cell, d, _gate_steps(node, *scales), firsts)
    main = replace(main, finer=cell != "lstm" and kind.numpy.itemsize > 1)
    return _Direction(outer, biases[0].astype(np.int64), inner_ints, biases[1].astype(np.int32), main)


def _part(ctx: Context, node: RealNode, index: int, d: int) -> State:
    """One direction of weights that are known."""
    match ctx.state(node, index):
        case Const(array=array):
            return Const(array[d])
        case IntConst() as state:
            return replace(state, ints=state.ints[d], scale=state.scale[d], zero=state.zero[d])
        case _:
            raise FormUnsupported(f"{node.op_type} with computed weights", where=node.where)


def _gate_steps(node: RealNode, outer: Array, inner: Array) -> GateSteps:
    """Factors of 30 bits, one for all rows where there is one."""
    factors = np.stack([outer, inner]) * 2.0**GATE_BITS
    if (factors == factors[:, :1]).all():
        factors = factors[:, :1]
    _, exponents = np.frexp(factors.max(axis=0))
    right = np.minimum(_FACTOR_BITS - exponents, _MOST_RIGHT)
    if not np.isfinite(factors).all() or (right < 1).any():
        raise FormUnsupported(f"{node.op_type} with scales that large", where=node.where)
    x, hidden = np.minimum(np.rint(factors * 2.0**right), 2**_FACTOR_BITS - 1).astype(np.int64).tolist()
    return GateSteps(tuple(x), tuple(hidden), tuple(right.tolist()))


def _main(node: RealNode, op: LSTM | GRU | RNN, cell: Cell, d: int, gates: GateSteps, firsts: _Firsts) -> Recurrent:
    count = len(op.sweep.functions) // len(op.sweep.reverse)
    functions = tuple(_FUNCTIONS[f.name] for f in op.sweep.functions[d * count : (d + 1) * count])
    if cell != "rnn" and functions[0] != "logistic":
        raise FormUnsupported(f"{node.op_type} with gates of Tanh", where=node.where)
    steps = [(1, 1), (1, 1)]
    if cell == "lstm":
        of_cell = (2.0**-SHARE_BITS / firsts.cell_scale, firsts.cell_scale * 2.0**GATE_BITS)
        steps = [tuple(int(n) for n in quantize_multiplier_single(f)) for f in of_cell]  # type: ignore[misc]
    return Recurrent(
        cell=cell,
        functions=functions,
        gates=gates,
        reach=firsts.reach,
        bound=round(min(op.sweep.clip * 2.0**GATE_BITS, INT32_MAX)),
        reverse=op.sweep.reverse[d],
        coupled=isinstance(op, LSTM) and op.coupled,
        reset_after=isinstance(op, GRU) and op.reset_after,
        update=steps[0],
        squash=steps[1],
        cell_scale=firsts.cell_scale,
    )


def _written(w: Writer, x: Real, part: _Direction, firsts: _Firsts, d: int) -> tuple[str, ...]:
    """Every hidden state of a direction [T, B, H], and the last cell."""
    node, rows = w.node, len(part.inner)
    linear = dense_product(w.ctx, node, x, transposed(part.outer))
    sums = Accum((w.shape(x.value)[0], rows), replace(linear, bias_int=part.outer_bias), (node,))
    steps, batch, _ = w.ctx.real(node.inputs[_X]).shape
    name = f"{node.outputs[0]}:gates{f':{d}' if d else ''}"  # of each direction its own: it says whose numbers they are
    gates = w.reshaped(write_accumulator(w.ctx, sums, name), (steps, batch, rows))
    inputs = [gates, w.const(part.inner), w.const(part.inner_bias), firsts.hidden(w, d)]
    if part.main.cell == "lstm":
        inputs.append(firsts.cell(w, d))
    names = [f"{node.outputs[0]}:{name}" for name in ("every", "cell")[: 1 + (part.main.cell == "lstm")]]
    note = f"{node.op_type} -> Recurrent, a hidden state of 16 bits"
    return w.ctx.builder.apply_all(part.main, inputs, names, trail=(node,), note=note)


def _results(w: Writer, made: Sequence[tuple[str, ...]], reverse: Sequence[bool], main: Recurrent) -> Sequence[State]:
    """Y, the last hidden states, the last cells: those that the model has."""
    steps, batch, hidden = w.shape(made[0][0])
    every = joined(w, [w.reshaped(y, (steps, 1, batch, hidden)) for y, *_ in made], 1)
    found = [_waiting(w, every, main.quant)]
    if len(w.node.outputs) > 1:
        ends = [
            w.apply(Slice((0 if back else steps - 1, 0, 0), (1, batch, hidden), (1, 1, 1)), y)
            for (y, *_), back in zip(made, reverse, strict=True)
        ]
        found.append(_waiting(w, joined(w, ends, 0), main.quant))
    if len(w.node.outputs) > 2:
        cells = joined(w, [w.reshaped(c, (1, batch, hidden)) for _, c in made], 0)
        node = w.node
        found.append(Pending(w.shape(cells), partial(rescaled, w.ctx, cells, main.cell_scale), (node,)))
    return found


def _waiting(w: Writer, value: str, quant: Quant) -> Pending:
    """A result that waits for its scale."""

    def emit(request: Request) -> str:
        return quantized(w.ctx, Real(value, quant, trail=(w.node,)), request)

    return Pending(w.shape(value), emit, (w.node,), kind=DType.S16)


RULES: Family = (
    Rule(GRU, recurrent, ("GRU",)),
    Rule(LSTM, recurrent, ("LSTM",)),
    Rule(RNN, recurrent, ("RNN",)),
)
