"""UNIDIRECTIONAL_SEQUENCE_LSTM and SVDF, which keep tensors of their own from run to run.

Decides: the order of an LSTM's gates, and that SVDF is a product, a memory that moves on by one, and sums over it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch, VariableUnsupported
from codegen.frontends.tflite.lstm import BIASES, CELL, HIDDEN, RECURRENT, WEIGHTS, check_variant
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext
from codegen.frontends.tflite.real.elementwise import activation
from codegen.frontends.tflite.real.records import real_type, stored_of
from codegen.ir.real import RealOp, Stored
from codegen.real.activation import Activation
from codegen.real.elementwise import Binary
from codegen.real.engine import numbers_of
from codegen.real.movement import Concat, Reshape, Slice, Transpose
from codegen.real.product import Gemm
from codegen.real.recurrent import LSTM, Sweep
from codegen.real.reduce import Reduce
from codegen.real.storage import Restore

_GATES = (0, 3, 1, 2)
"""Input, output, forget and cell gate, as RealGraph has them, among TFLite's."""
_FUNCTIONS = (Activation("Sigmoid"), Activation("Tanh"), Activation("Tanh"))
_STATE = 4


def lstm(ctx: RealContext, node: TfliteNode) -> None:
    """UNIDIRECTIONAL_SEQUENCE_LSTM of four gates, with neither peepholes nor projection nor normalization."""
    options = node.options_of("UnidirectionalSequenceLSTMOptions")
    check_variant(ctx, node, options)
    if node.real(options, "CellClip"):
        raise FormUnsupported("bounds of the cell", where=node.where)
    major, shape = bool(options.TimeMajor()), ctx.shape(node, 0)
    if len(shape) != 3:
        raise ShapeMismatch(f"a sequence of shape {list(shape)}", where=node.where)
    x = ctx.value(node, 0) if major else ctx.apply(node, Transpose((1, 0, 2)), [ctx.value(node, 0)], "steps")
    steps, batch, _ = ctx.builder.type(x).shape
    weights, recurrent = (_stacked(ctx, node, places, what) for places, what in ((WEIGHTS, "w"), (RECURRENT, "r")))
    size = ctx.builder.type(recurrent).shape[-1]
    states = [_held(ctx, node, place) for place in (HIDDEN, CELL)]
    first = [ctx.reshaped(node, state, (1, batch, size), what) for state, what in zip(states, "hc", strict=True)]
    lengths = ctx.constant_value(node, "lengths", np.full(batch, steps, np.int32))
    cell = ctx.constant_value(node, "peepholes", np.zeros((1, 3 * size), np.float32))
    inputs = [x, weights, recurrent, _biases(ctx, node, size), lengths, *first, cell]
    names = [f"{node.output_name}:{what}" for what in ("every", "hidden", "cell")]
    every, *last = ctx.builder.write(LSTM(Sweep((False,), size, _FUNCTIONS)), inputs, names, node, node.output_name)
    turned: tuple[RealOp, ...] = () if major else (Transpose((1, 0, 2)),)
    ctx.write(node, Reshape((steps, batch, size)), [every], post=turned)
    for state, value in zip(states, last, strict=True):
        _renew(ctx, node, state, Reshape((batch, size)), value)


def _stacked(ctx: RealContext, node: TfliteNode, places: Sequence[int], what: str) -> str:
    """The weights of the four gates behind each other, [1, 4 * size, entries], each row with its own scale."""
    found = [ctx.builder.values[ctx.value(node, places[g])] for g in _GATES]
    shapes = {v.type.shape for v in found}
    arrays = [ctx.constant(node, places[g]) for g in _GATES]
    if len(shapes) > 1 or arrays[0].ndim != 2:
        raise ShapeMismatch(f"weights of shapes {sorted(map(list, shapes))}", where=node.where)
    data, held = np.concatenate(arrays)[None], [v.stored for v in found if v.stored is not None]
    if not held:
        return ctx.constant_value(node, what, data)
    if len(held) < len(found) or any(s.scale.size != 1 for s in held):
        raise FormUnsupported("weights with scales of their own kind", where=node.where)
    scale, zero = (np.repeat(np.concatenate(part), len(arrays[0])) for part in _parts(held))
    return ctx.constant_value(node, what, data, Stored(held[0].dtype, scale, zero, 1))


def _parts(held: Sequence[Stored]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    return [s.scale for s in held], [s.zero_point for s in held]


def _biases(ctx: RealContext, node: TfliteNode, size: int) -> str:
    """The biases of the four gates, and zeros for those of the recurrent products."""
    found = []
    for gate in _GATES:
        known, data = ctx.builder.values[ctx.value(node, BIASES[gate])], ctx.constant(node, BIASES[gate])
        scales = [ctx.stored(ctx.value(node, i)) for i in (0, WEIGHTS[gate])]
        if data.shape != (size,):
            raise ShapeMismatch(f"a bias of shape {list(data.shape)} for {size} entries", where=node.where)
        if known.type.is_real:
            found.append(numbers_of(known))
        elif scales[0] is not None and scales[1] is not None:
            found.append((data * np.float64(scales[0].scale[0]) * scales[1].scale[0]).astype(np.float32))
        else:
            raise FormUnsupported("a bias of integers without a scale", where=node.where)
    return ctx.constant_value(node, "bias", np.concatenate([*found, np.zeros(4 * size, np.float32)])[None])


def svdf(ctx: RealContext, node: TfliteNode) -> None:
    """SVDF: features of the input enter a memory, which is summed over time, and over the filters of each unit."""
    options = node.options_of("SVDFOptions")
    rank, features, over_time = node.take(options, "Rank"), ctx.shape(node, 1), ctx.shape(node, 2)
    state = _held(ctx, node, _STATE)
    if not len(ctx.shape(node, 0)) == len(features) == len(over_time) == 2:
        raise ShapeMismatch(f"weights of shapes {list(features)} and {list(over_time)}", where=node.where)
    batch, memory, filters = ctx.shape(node, 0)[0], over_time[1], features[0]
    if filters % rank or over_time[0] != filters or ctx.builder.type(state).shape != (batch, filters * memory):
        raise ShapeMismatch(f"{filters} filters of rank {rank} and length {memory}", where=node.where)
    entered = ctx.apply(node, Gemm(turn_b=True), [ctx.value(node, 0), ctx.value(node, 1)], "features")
    whole = ctx.reshaped(node, state, (batch, filters, memory), "memory")
    parts = [ctx.reshaped(node, entered, (batch, filters, 1), "newest")]
    if memory > 1:
        op = Slice((0, 0, 1), (batch, filters, memory - 1), (1, 1, 1))
        parts = [ctx.apply(node, op, [whole], "older"), *parts]
    moved = ctx.apply(node, Concat(2), parts, "moved")
    kept = _renew(ctx, node, state, Reshape((batch, filters * memory)), moved)
    moved = ctx.reshaped(node, kept, (batch, filters, memory), "kept")
    sums = ctx.apply(node, Reduce("Sum", (2,), False), [ctx.apply(node, Binary("Mul"), [moved, ctx.value(node, 2)])])
    sums = ctx.reshaped(node, sums, (batch, filters // rank, rank), "filters")
    # TFLite's kernel of integers passes over the activation
    post = activation(node, options) if stored_of(ctx.result(node), node.where) is None else ()
    if not ctx.has(node, 3):
        ctx.write(node, Reduce("Sum", (2,), False), [sums], post=post)
        return
    units = ctx.apply(node, Reduce("Sum", (2,), False), [sums], "units")
    ctx.write(node, Binary("Add"), [units, ctx.value(node, 3)], post=post)


def _held(ctx: RealContext, node: TfliteNode, index: int) -> str:
    """The value of a variable tensor, as the run before left it."""
    tensor = ctx.tensor(node, index)
    if not tensor.is_variable:
        raise VariableUnsupported(f"input '{tensor.name}' is no variable tensor", where=node.where)
    if tensor.index in ctx.values:
        raise VariableUnsupported(f"'{tensor.name}' is kept by two operators", where=node.where)
    kind, stored = real_type(tensor, node.where), stored_of(tensor, node.where)
    ctx.values[tensor.index] = ctx.builder.state(tensor.name, kind, stored)
    return ctx.values[tensor.index]


def _renew(ctx: RealContext, node: TfliteNode, state: str, op: RealOp, value: str) -> str:
    """Say what a variable tensor holds once the operator has run, as `op` brings it into its shape."""
    made = ctx.apply(node, op, [value], "state")
    name = f"{node.output_name}:next"
    (held,) = ctx.builder.write(Restore(), [made], [name], node, node.output_name, ctx.stored(state))
    if ctx.builder.type(held) != ctx.builder.type(state):
        raise ShapeMismatch(f"the variable '{state}' changes its type", where=node.where)
    ctx.builder.becomes(state, held)
    return held
