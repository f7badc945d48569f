"""UNIDIRECTIONAL_SEQUENCE_LSTM and SVDF, which keep tensors of their own from run to run.

Decides: which variants of an LSTM are read, those that TFLite Micro has: four gates, neither peepholes nor projection
nor layer normalization.
"""

from __future__ import annotations

import math

import tflite

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext, Table, Versions
from codegen.frontends.tflite.real.elementwise import activation
from codegen.frontends.tflite.real.variables import held, renew
from codegen.frontends.tflite.real.window import bias
from codegen.frontends.tflite.records import stored_of
from codegen.real.memory import SequenceLstm, Svdf

_WEIGHTS, _RECURRENT, _BIASES = range(1, 5), range(5, 9), range(12, 16)
_HIDDEN, _CELL, _STATE = 18, 19, 4
_VARIANTS = {"peepholes": range(9, 12), "a projection": range(16, 18), "layer normalization": range(20, 24)}


def lstm(ctx: RealContext, node: TfliteNode) -> None:
    """UNIDIRECTIONAL_SEQUENCE_LSTM."""
    options = node.options_of("UnidirectionalSequenceLSTMOptions")
    _check_variant(ctx, node, options)
    states = [held(ctx, node, place) for place in (_HIDDEN, _CELL)]
    weights = [ctx.value(node, place) for place in (*_WEIGHTS, *_RECURRENT)]
    for places in (_WEIGHTS, _RECURRENT):
        shapes = [list(ctx.shape(node, place)) for place in places]
        if any(shape != shapes[0] for shape in shapes):
            raise ShapeMismatch(f"weights of shapes {shapes}", where=node.where)
    biases = [b for place, w in zip(_BIASES, _WEIGHTS, strict=True) for b in bias(ctx, node, 0, place, w)]
    op = SequenceLstm(bool(options.TimeMajor()), node.real(options, "CellClip"))
    inputs = [ctx.value(node, 0), *weights, *biases, *states]
    kept = ctx.write_keeping(node, op, inputs, ("hidden", "cell"), states)
    for place, value in zip((_HIDDEN, _CELL), kept, strict=True):
        renew(ctx, node, place, value)


def _check_variant(ctx: RealContext, node: TfliteNode, options: tflite.UnidirectionalSequenceLSTMOptions) -> None:
    """LAM-IMPORT-022 for a variant that is not read."""
    hint = "convert it from a plain LSTM"
    found = [what for what, places in _VARIANTS.items() if any(ctx.has(node, i) for i in places)]
    if any(not ctx.has(node, i) for i in (*_WEIGHTS, *_RECURRENT, *_BIASES)):
        found.append("fewer than four gates")
    if options.DiagonalRecurrentTensors():
        found.append("diagonal weights")
    if options.FusedActivationFunction() != tflite.ActivationFunctionType.TANH:
        found.append(f"activation number {options.FusedActivationFunction()} where tanh is expected")
    if found:
        raise FormUnsupported(f"an LSTM with {', '.join(found)}", where=node.where, hint=hint)


def svdf(ctx: RealContext, node: TfliteNode) -> None:
    """SVDF; TFLite's kernel of integers passes over its activation."""
    options = node.options_of("SVDFOptions")
    rank, state = node.take(options, "Rank"), held(ctx, node, _STATE)
    x, features, over_time = (ctx.shape(node, i) for i in range(3))
    kept = ctx.builder.type(state).shape
    if not features or features[0] % rank or kept != (*x[:1], math.prod(over_time)):
        raise ShapeMismatch(f"{list(features)} filters of rank {rank}, a memory {list(kept)}", where=node.where)
    inputs = [*(ctx.value(node, i) for i in range(3)), state, *([ctx.value(node, 3)] if ctx.has(node, 3) else [])]
    op = Svdf(rank, ctx.stored(state))
    post = activation(node, options) if stored_of(ctx.result(node), node.where) is None else ()
    (memory,) = ctx.write_keeping(node, op, inputs, ("memory",), [state], post)
    renew(ctx, node, _STATE, memory)


TRANSLATORS: Table = {
    "SVDF": svdf,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm,
}
NEWEST: Versions = {"SVDF": 4, "UNIDIRECTIONAL_SEQUENCE_LSTM": 4}
