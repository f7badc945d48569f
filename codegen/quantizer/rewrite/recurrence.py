"""LSTM, GRU and RNN as products, sums and functions, step by step, which integers have.

Decides: that the input is multiplied for all steps at once, and the state in each; that what plays one part in all
steps has the same integers, 16 bits of them, so that all steps share their tables; and that a state which enters the
network has the integers of the state which leaves it, so that it can be fed back as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import RecurrenceNotSpelled
from codegen.ir.real import RealGraph, RealNode, Tie
from codegen.quantizer.places import moved_from
from codegen.quantizer.rewrite.cells import Number, Pen, Weights, gru_step, lstm_step, rnn_step
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.record import Record, Rewritten
from codegen.quantizer.rewrite.states import HEADROOM
from codegen.real.movement import Concat, Reshape, Slice
from codegen.real.recurrent import GRU, LSTM, RNN

RECURRENT = (LSTM, GRU, RNN)
MOST_STEPS = 128
"""Steps of a sequence at most: each is a dozen operators."""
_WITHIN_ONE = ("HardSigmoid", "Sigmoid", "Softsign", "Tanh")
_STATES = ("h", "c")
_REACH = {"h": 1.0, "h away": 2.0, "h share": 2.0, "reset": 1.0}
"""How far parts reach whose functions do not leave -1 to 1."""


def spell_recurrences(graph: RealGraph, kept: Collection[str] = ()) -> Rewritten:
    """Each recurrence whose steps, weights and functions are known, spelled out; others and those `kept` are not."""
    draft, count, passed_over = Draft(graph), 0, []
    ties: list[Tie] = []
    for node in draft.nodes:
        if isinstance(node.op, RECURRENT) and not {node.name, *node.outputs} & set(kept):
            problem = hindrance(draft, node)
            if problem:
                passed_over.append(f"{node.where}: {problem}")
            else:
                ties += _spelled(draft, node, node.op)
                count += 1
    made = draft.done()
    made = replace(made, ties=(*made.ties, *_joined(made, ties)))
    return Rewritten(made, Record("spell recurrences", count, passed_over=tuple(passed_over)))


def check_spelled(graph: RealGraph, kept: Collection[str]) -> None:
    """LAM-QUANT-029 for a recurrence that is left and is not kept real."""
    draft = Draft(graph)
    for node in graph.nodes:
        if isinstance(node.op, RECURRENT) and not {node.name, *node.outputs} & set(kept):
            raise RecurrenceNotSpelled(hindrance(draft, node), where=node.where)


def hindrance(draft: Draft, node: RealNode) -> str:
    """Why a recurrence cannot be spelled out; empty where it can."""
    steps = draft.shape(node.inputs[0])[0]
    if not 1 <= steps <= MOST_STEPS:
        return f"{steps} steps, 1 to {MOST_STEPS} can be spelled out"
    if any(draft.constant(node.inputs[i]) is None for i in (1, 2, 3, *range(7, len(node.inputs)))):
        return "its weights are computed"
    lengths = draft.values[node.inputs[4]].data
    return "sequences of several lengths" if lengths is None or (lengths < steps).any() else ""


def _spelled(draft: Draft, node: RealNode, op: LSTM | GRU | RNN) -> list[Tie]:
    """The operators in the node's place; what has the same integers."""
    pen = Pen(draft, node, op.sweep.clip)
    steps, batch, entries = draft.shape(node.inputs[0])
    first = [_first(draft, name) for name in node.inputs[5 : 7 if isinstance(op, LSTM) else 6]]
    flat = pen.moved("x", Reshape((steps * batch, entries)), node.inputs[0])
    runs = []
    for d, backwards in enumerate(op.sweep.reverse):
        weights = Weights(pen, op, op.sweep.hidden, _weights_of(draft, node, d))
        states: Sequence[Number] = [_state(pen, draft, s, d) for s in first]
        part = f"outer{d}" if isinstance(op, GRU) else f"gates{d}"
        gates = pen.product(part, flat, weights.outer, weights.bias)
        every: list[Number] = []
        for step in range(steps)[:: -1 if backwards else 1]:
            states = _step(pen, op, d, weights, _rows(pen, draft, gates, step, batch), states)
            every.append(states[0])
        runs.append((every[:: -1 if backwards else 1], states))
    _write(pen, draft, node, op, runs)
    draft.drop(node)
    draft.drop_unread(node.inputs)
    return _ties(pen, op, [s for s in first if isinstance(s, str)])


def _step(
    pen: Pen, op: LSTM | GRU | RNN, d: int, weights: Weights, x: Number, states: Sequence[Number]
) -> Sequence[Number]:
    match op:
        case LSTM():
            return lstm_step(pen, op, d, weights, x, states)
        case GRU():
            return gru_step(pen, op, d, weights, x, states)
        case RNN():
            return rnn_step(pen, op, d, weights, x, states)


def _weights_of(draft: Draft, node: RealNode, d: int) -> list[np.ndarray]:
    found = [draft.constant(node.inputs[i]) for i in (1, 2, 3, *range(7, len(node.inputs)))]
    return [f[d] for f in found if f is not None]


def _first(draft: Draft, name: str) -> Number:
    known = draft.constant(name)
    return name if known is None else known


def _state(pen: Pen, draft: Draft, first: Number, d: int) -> Number:
    """The first state of a direction."""
    if not isinstance(first, str):
        return np.asarray(first[d])
    _, batch, hidden = draft.shape(first)
    chosen = pen.moved("first", Slice((d, 0, 0), (1, batch, hidden), (1, 1, 1)), first)
    return pen.moved("first", Reshape((batch, hidden)), chosen)


def _rows(pen: Pen, draft: Draft, gates: Number, step: int, batch: int) -> Number:
    """What one step has of the product for all."""
    assert isinstance(gates, str), "the input is computed"
    rows, size = draft.shape(gates)
    return gates if rows == batch else pen.moved("step", Slice((step * batch, 0), (batch, size), (1, 1)), gates)


def _write(
    pen: Pen, draft: Draft, node: RealNode, op: LSTM | GRU | RNN, runs: Sequence[tuple[list[Number], Sequence[Number]]]
) -> None:
    """All h, and the last states, under the names that they had."""
    steps, batch, _ = draft.shape(node.inputs[0])
    hidden = op.sweep.hidden
    sides = []
    for every, _ in runs:
        whole = every[0] if len(every) == 1 else pen.do("h", Concat(0), *every)
        sides.append(pen.moved("side", Reshape((steps, 1, batch, hidden)), whole))
    lasts = [[pen.moved("last", Reshape((1, batch, hidden)), s) for s in states] for _, states in runs]
    joined = [(sides, 1, "h"), *((list(each), 0, _STATES[i]) for i, each in enumerate(zip(*lasts, strict=True)))]
    for name, (parts, axis, part) in zip(node.outputs, joined, strict=False):
        if not name:
            continue
        if len(parts) > 1:
            pen.parts[part].append(name)
            draft.written(name, Concat(axis), node, *parts)
        else:
            draft.written(name, Reshape(draft.shape(parts[0])), node, parts[0])


def _ties(pen: Pen, op: LSTM | GRU | RNN, given: Sequence[str]) -> list[Tie]:
    """What plays one part; the states together with the first ones that are not known."""
    whole = all(f.name in _WITHIN_ONE for f in op.sweep.functions)
    made = []
    for part, names in pen.parts.items():
        firsts = [n for i, n in enumerate(given) if part == _STATES[i]]
        reach = _REACH.get(part.rstrip("01"), 0.0) if whole else 0.0
        made.append(Tie(frozenset((*names, *firsts)), reach=reach, headroom=1.0 if reach else HEADROOM))
    return made


def _joined(graph: RealGraph, ties: Sequence[Tie]) -> Iterator[Tie]:
    """Ties of what values are moved from; those that meet in a value are one, and hold what only joins their values."""
    root = moved_from(graph)
    groups = [replace(t, names=frozenset(root(n) for n in t.names if n in graph.values)) for t in ties]
    found: list[Tie] = []
    for tie in groups:
        met = [t for t in found if t.names & tie.names]
        found = [t for t in found if t not in met]
        found.append(_together([tie, *met]))
    for node in graph.nodes:
        if isinstance(node.op, Concat):
            sources = {root(i) for i in node.inputs}
            found = [replace(t, names=t.names | set(node.outputs)) if sources <= t.names else t for t in found]
    yield from found


def _together(ties: Sequence[Tie]) -> Tie:
    names = frozenset(name for t in ties for name in t.names)
    return Tie(names, ties[0].bits, max(t.reach for t in ties), max(t.headroom for t in ties))
