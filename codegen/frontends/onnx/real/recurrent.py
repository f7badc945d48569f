"""LSTM, GRU and RNN: what may be left out is put in, and the batch goes behind the steps.

Decides: that of DynamicQuantizeLSTM, which rounds what it multiplies to 8 bits in each run, everything is taken as it
is but for the weights, which stand for real numbers (`frontends/onnx/dynamic.py` says why).
Source: onnx/docs/Operators.md, onnxruntime/docs/ContribOperators.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import AttributeBad, ShapeMismatch, TypeUnsupported
from codegen.frontends.onnx.nodes import OnnxNode, text_of
from codegen.frontends.onnx.real.reading import MICROSOFT, Reading, Table
from codegen.ir.real import RealOp, Stored
from codegen.ir.shape import Shape
from codegen.real.activation import ACTIVATIONS, FACTORS, Activation
from codegen.real.engine import numbers_of
from codegen.real.movement import Reshape, Transpose
from codegen.real.recurrent import GRU, LSTM, RNN, Sweep

_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
_SWAP = (1, 0, 2)
_LARGEST_STATE = 1 << 20


def lstm(r: Reading, node: OnnxNode) -> Sequence[str]:
    """LSTM."""
    return _lstm(r, node, ())


def dynamic_lstm(r: Reading, node: OnnxNode) -> Sequence[str]:
    """DynamicQuantizeLSTM: inputs as of LSTM, but both weights are turned integers, with scales and zero points."""
    note = "dynamic quantization: LSTMs take their inputs and states as they are, which a runtime rounds in each run"
    if note not in r.notes:
        r.notes.append(note)
    return _lstm(r, node, [_real_weights(r, node, *at) for at in ((1, 8, 9), (2, 10, 11))])


def _real_weights(r: Reading, node: OnnxNode, index: int, scale_at: int, zero_at: int) -> str:
    """The rows of integers [directions, inputs, rows], with scales of the directions, or of the rows of each.

    Integers are kept, but for those of two directions with scales of rows: no Stored has scales along two axes.
    """
    ints, scale, zero = (r.const(node, i) for i in (index, scale_at, zero_at))
    if ints.dtype not in (np.int8, np.uint8) or zero.dtype != ints.dtype:
        raise TypeUnsupported(f"weights of {ints.dtype} with a zero point of {zero.dtype}", where=node.where)
    if ints.ndim != 3 or any(part.shape not in (ints.shape[:1], ints.shape[::2]) for part in (scale, zero)):
        found = f"weights {list(ints.shape)} with scales {list(scale.shape)} and zero points {list(zero.shape)}"
        raise ShapeMismatch(found, where=node.where)
    count, entries, rows = ints.shape
    parts = [np.broadcast_to(part.reshape(count, -1), (count, rows)).reshape(-1) for part in (scale, zero)]
    stored = Stored(ints.dtype, parts[0].astype(np.float32), parts[1].astype(np.int64), 0)
    flat = ints.transpose(0, 2, 1).reshape(count * rows, entries)
    held = r.constant(f"{node.inputs[index]}:rows", flat, stored)
    if count > 1 and scale.ndim + zero.ndim > 2:
        held = r.constant(f"{node.inputs[index]}:real", numbers_of(r.values[held]))
    return r.apply(Reshape((count, rows, entries)), [held], node, f"rows{index}")


def _lstm(r: Reading, node: OnnxNode, weights: Sequence[str]) -> Sequence[str]:
    sweep = _sweep(r, node, ("Sigmoid", "Tanh", "Tanh"))
    op = LSTM(sweep, node.flag("input_forget"))
    directions = len(sweep.reverse)
    extra = _or_zeros(r, node, 7, (directions, 3 * sweep.hidden), "cell_weights")
    return _read(r, node, op, sweep, gates=4, states=2, extra=[extra], weights=weights)


def gru(r: Reading, node: OnnxNode) -> Sequence[str]:
    """GRU."""
    sweep = _sweep(r, node, ("Sigmoid", "Tanh"))
    return _read(r, node, GRU(sweep, node.flag("linear_before_reset")), sweep, gates=3, states=1)


def rnn(r: Reading, node: OnnxNode) -> Sequence[str]:
    """RNN."""
    sweep = _sweep(r, node, ("Tanh",))
    return _read(r, node, RNN(sweep), sweep, gates=1, states=1)


def _sweep(r: Reading, node: OnnxNode, defaults: Sequence[str]) -> Sweep:
    reverse = _DIRECTIONS[node.string("direction", "forward", tuple(_DIRECTIONS))]
    shape = r.type(r.value(node, 2)).shape
    hidden = node.integer("hidden_size", min(shape[-2:], default=0), low=1, high=_LARGEST_STATE)
    clip = node.real("clip") if node.has("clip") else np.inf
    return Sweep(reverse, hidden, _functions(node, tuple(defaults) * len(reverse)), clip)


def _functions(node: OnnxNode, defaults: Sequence[str]) -> tuple[Activation, ...]:
    """The functions with their factors, which stand in two lists for those that take them."""
    names = [text_of(s) for s in node.attributes["activations"].strings] if node.has("activations") else list(defaults)
    names = [next((known for known in ACTIVATIONS if known.lower() == n.lower()), n) for n in names]
    if len(names) != len(defaults) or not all(n in ACTIVATIONS for n in names):
        raise AttributeBad(f"attribute activations is {names}", where=node.where)
    lists = [iter(node.reals(n) if node.has(n) else ()) for n in ("activation_alpha", "activation_beta")]
    made = []
    for name in names:
        wanted = FACTORS.get(name, (None, None))
        made.append(Activation(name, *(0.0 if w is None else next(f, w) for w, f in zip(wanted, lists, strict=True))))
    return tuple(made)


def _read(
    r: Reading,
    node: OnnxNode,
    op: RealOp,
    sweep: Sweep,
    *,
    gates: int,
    states: int,
    extra: Sequence[str] = (),
    weights: Sequence[str] = (),
) -> Sequence[str]:
    """The operator with all its inputs, the node's own but for other `weights`.

    With `layout` 1 the batch comes first in the model.
    """
    batch_first = node.flag("layout")
    x = r.value(node, 0)
    if r.rank(x) != 3:
        raise ShapeMismatch(f"a sequence of shape {list(r.type(x).shape)}", where=node.where)
    x = r.apply(Transpose(_SWAP), [x], node, "steps") if batch_first else x
    steps, batch, _ = r.type(x).shape
    directions, hidden = len(sweep.reverse), sweep.hidden
    bias = _or_zeros(r, node, 3, (directions, 2 * gates * hidden), "bias")
    lengths = r.optional(node, 4) or r.constant(f"{node.outputs[0]}:lengths", np.full(batch, steps, np.int32))
    inputs = [x, *(weights or (r.value(node, 1), r.value(node, 2))), bias, lengths]
    inputs += [_state(r, node, 5 + i, (directions, batch, hidden), batch_first) for i in range(states)]
    if not batch_first:
        return r.apply_all(op, [*inputs, *extra], node)[: len(node.outputs)]
    inner = replace(node, outputs=tuple(f"{node.outputs[0] or node.name}:{i}" for i in range(1 + states)))
    y, *last = r.apply_all(op, [*inputs, *extra], inner)
    turned = [r.apply(Transpose((2, 0, 1, 3)), [y], node, "y")]
    turned += [r.apply(Transpose(_SWAP), [s], node, f"last{i}") for i, s in enumerate(last)]
    return turned[: len(node.outputs)]


def _state(r: Reading, node: OnnxNode, index: int, shape: Shape, batch_first: bool) -> str:
    """A first state, zeros where there is none."""
    given = r.optional(node, index)
    if given is None or not batch_first:
        return _or_zeros(r, node, index, shape, f"state{index}")
    return r.apply(Transpose(_SWAP), [given], node, f"state{index}")


def _or_zeros(r: Reading, node: OnnxNode, index: int, shape: Shape, name: str) -> str:
    given = r.optional(node, index)
    zeros = np.zeros(shape, r.type(r.value(node, 0)).dtype)
    return r.constant(f"{node.outputs[0] or node.name}:{name}", zeros) if given is None else given


TRANSLATORS: Table = {
    ("", "GRU"): gru,
    ("", "LSTM"): lstm,
    ("", "RNN"): rnn,
    (MICROSOFT, "DynamicQuantizeLSTM"): dynamic_lstm,
}
