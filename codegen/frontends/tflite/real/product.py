"""FULLY_CONNECTED and BATCH_MATMUL."""

from __future__ import annotations

import math

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext, Table, Versions
from codegen.frontends.tflite.real.elementwise import activation
from codegen.frontends.tflite.real.window import bias
from codegen.real.movement import Transpose
from codegen.real.product import Dense, MatMul


def fully_connected(ctx: RealContext, node: TfliteNode) -> None:
    """FULLY_CONNECTED: the input as rows of as many numbers as the weights have."""
    options = node.options_of("FullyConnectedOptions")
    if options.WeightsFormat():
        raise FormUnsupported("shuffled weights", where=node.where, hint="convert the model without shuffling")
    shape, weights = ctx.shape(node, 0), ctx.shape(node, 1)
    if len(weights) != 2 or math.prod(shape) % weights[1]:
        raise ShapeMismatch(f"input {list(shape)}, weights of shape {list(weights)}", where=node.where)
    rows = math.prod(shape) // weights[1]
    if options.KeepNumDims() and shape[-1:] != weights[1:]:
        raise ShapeMismatch(f"input {list(shape)}, weights of shape {list(weights)}", where=node.where)
    lead = shape[:-1] if options.KeepNumDims() else (rows,)
    x = ctx.reshaped(node, ctx.value(node, 0), (*lead, weights[1]))
    inputs = [x, ctx.value(node, 1), *bias(ctx, node, 0, 2)]
    ctx.write(node, Dense(), inputs, post=activation(node, options))


def batch_matmul(ctx: RealContext, node: TfliteNode) -> None:
    """BATCH_MATMUL; the axes before the last two are broadcast."""
    options = node.options_of("BatchMatMulOptions")
    ctx.of_one_type(node, "f")
    sides = [_turned(ctx, node, i, bool(turn)) for i, turn in enumerate((options.AdjX(), options.AdjY()))]
    ctx.write(node, MatMul(), sides)


def _turned(ctx: RealContext, node: TfliteNode, index: int, turn: bool) -> str:
    """One side, its last two axes exchanged where the options say so."""
    value, rank = ctx.value(node, index), len(ctx.shape(node, index))
    if rank < 2:
        raise ShapeMismatch(f"a side of {rank} axes", where=node.where)
    if not turn:
        return value
    return ctx.apply(node, Transpose((*range(rank - 2), rank - 1, rank - 2)), [value], f"side{index}")


TRANSLATORS: Table = {
    "BATCH_MATMUL": batch_matmul,
    "FULLY_CONNECTED": fully_connected,
}
NEWEST: Versions = {"BATCH_MATMUL": 4, "FULLY_CONNECTED": 13}
