"""UNIDIRECTIONAL_SEQUENCE_LSTM.

Decides: which of its variants is read, the one that TFLite Micro has: four gates, neither peepholes nor projection nor
layer normalization.  The scales of intermediate tensors have no effect without the latter; sums are taken to 2^-12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import tflite

from codegen.errors import FormUnsupported, QuantAxisBad, ScaleBad, ShapeMismatch, TypeUnsupported
from codegen.frontends.tflite.context import Context, read_scales
from codegen.frontends.tflite.linear import read_bias, read_weights
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.scales import gate_product, product_requant
from codegen.frontends.tflite.state import held, renew
from codegen.frontends.tflite.tensors import Tensors
from codegen.ir.quant import Array, DType, Quant, Requant
from codegen.ops import Lstm
from codegen.ops.accumulator import INT32_LIMIT, accumulator_bound
from codegen.ops.lstm import GATE, GATES, Gate, squash
from codegen.ops.sigmoid16 import OUTPUT

WEIGHTS, RECURRENT, BIASES = range(1, 5), range(5, 9), range(12, 16)
HIDDEN, CELL = 18, 19
_VARIANTS = {"peepholes": range(9, 12), "a projection": range(16, 18), "layer normalization": range(20, 24)}
_POWER_OF_TWO = 1e-3
"""How far the logarithm of the cell's scale may be from a whole number, as in TFLite."""


def lstm(ctx: Context, node: TfliteNode) -> None:
    """UNIDIRECTIONAL_SEQUENCE_LSTM of int8 or int16 activations with int8 weights and an int16 cell state."""
    options = node.options_of("UnidirectionalSequenceLSTMOptions")
    check_variant(ctx, node, options)
    (x, kind), (hidden, _), (cell, _) = (ctx.quantized(node, i) for i in (0, HIDDEN, CELL))
    y, _ = ctx.quantized_result(node)
    if kind not in (DType.S8, DType.S16):
        raise TypeUnsupported(f"activations of type {kind.value}", where=node.where)
    weights, recurrent = (_stacked(ctx, node, places) for places in (WEIGHTS, RECURRENT))
    size = weights.shape[1]
    bias = np.stack([read_bias(ctx, node, size, place) for place in BIASES])
    gates = _gates(ctx, node, (x, hidden), kind)
    for sums, extra, quant in ((weights, bias, x), (recurrent, np.zeros_like(bias), hidden)):
        _check_sums(node, sums, extra, quant, kind)
    op = Lstm(
        time_major=bool(options.TimeMajor()),
        x_zero_point=x.zero_point,
        gates=gates,
        forget=gate_product(OUTPUT.scale, cell.scale, cell, DType.S16),
        update=gate_product(OUTPUT.scale, OUTPUT.scale, cell, DType.S16),
        clip=_clip(node, node.real(options, "CellClip"), cell),
        squash=squash(_power_of_two(node, cell)),
        requant=gate_product(OUTPUT.scale, OUTPUT.scale, hidden, kind),
        y_quant=y,
    )
    constants = (
        ctx.constant_value(node, "weights", weights.astype(np.int8)),
        ctx.constant_value(node, "recurrent", recurrent.astype(np.int8)),
        ctx.constant_value(node, "bias", bias.astype(np.int32)),
    )
    inputs = (ctx.value(node, 0), *constants, held(ctx, node, HIDDEN), held(ctx, node, CELL))
    for place, value in zip((HIDDEN, CELL), ctx.write_keeping(node, op, inputs, ("hidden", "cell")), strict=True):
        renew(ctx, node, place, value)


def check_variant(ctx: Tensors, node: TfliteNode, options: tflite.UnidirectionalSequenceLSTMOptions) -> None:
    """LAM-IMPORT-022 for a variant that is not read."""
    hint = "convert it from a plain LSTM"
    found = [what for what, places in _VARIANTS.items() if any(ctx.has(node, i) for i in places)]
    if any(not ctx.has(node, i) for i in (*WEIGHTS, *RECURRENT, *BIASES)):
        found.append("fewer than four gates")
    if options.DiagonalRecurrentTensors():
        found.append("diagonal weights")
    if options.FusedActivationFunction() != tflite.ActivationFunctionType.TANH:
        found.append(f"activation number {options.FusedActivationFunction()} where tanh is expected")
    if found:
        raise FormUnsupported(f"an LSTM with {', '.join(found)}", where=node.where, hint=hint)


def _stacked(ctx: Context, node: TfliteNode, places: Sequence[int]) -> Array:
    """The weights of the four gates."""
    found = [read_weights(ctx, node, 2, place=place) for place in places]
    if len({w.shape for w in found}) > 1:
        raise ShapeMismatch(f"weights of shapes {[list(w.shape) for w in found]}", where=node.where)
    weights = np.stack(found)
    if int(weights.min()) < -128 or int(weights.max()) > 127:
        raise TypeUnsupported("weights of more than 8 bits with a sign", where=node.where)
    return weights


def _gates(ctx: Context, node: TfliteNode, quants: tuple[Quant, Quant], kind: DType) -> tuple[Gate, Gate, Gate, Gate]:
    """How the sums of each gate are brought to 16 bits."""

    def step(quant: Quant, place: int) -> Requant:
        tensor = ctx.tensor(node, place)
        scales = read_scales(tensor, node.where)
        if scales.size != 1:
            raise QuantAxisBad(f"{scales.size} scales of weights '{tensor.name}'", where=node.where)
        bounds, wide = (DType.S16.low, DType.S16.high), kind is DType.S16
        return product_requant("tflite", quant.scale, float(scales[0]), GATE, DType.S16, bounds, wide=wide)

    x, hidden = quants
    first, second, third, fourth = (Gate(step(x, WEIGHTS[g]), step(hidden, RECURRENT[g])) for g in range(len(GATES)))
    return first, second, third, fourth


def _check_sums(node: TfliteNode, weights: Array, bias: Array, quant: Quant, kind: DType) -> None:
    """Sums of int8 numbers have 32 bits."""
    if int(bias.min()) < -INT32_LIMIT or int(bias.max()) >= INT32_LIMIT:
        raise FormUnsupported("a bias of more than 32 bits", where=node.where)
    flat = weights.reshape(-1, weights.shape[-1])
    bound = accumulator_bound(flat, bias.reshape(-1), kind.low, kind.high, quant.zero_point)
    if kind is DType.S8 and bound >= INT32_LIMIT:
        raise FormUnsupported(f"sums of up to {bound} do not fit the accumulator", where=node.where)


def _power_of_two(node: TfliteNode, cell: Quant) -> float:
    exponent = math.log2(cell.scale)
    if abs(exponent - round(exponent)) >= _POWER_OF_TWO:
        raise ScaleBad(f"the cell state's scale is {cell.scale}, which is no power of two", where=node.where)
    return 2.0 ** round(exponent)


def _clip(node: TfliteNode, clip: float, cell: Quant) -> int | None:
    """The bound of the cell state in its own steps."""
    if clip < 0:
        raise FormUnsupported(f"a cell clip of {clip}", where=node.where)
    return int(min(clip / cell.scale, DType.S16.high)) if clip else None
