"""SVDF and UNIDIRECTIONAL_SEQUENCE_LSTM, which keep tensors of their own from run to run.

Decides: of an LSTM what TFLite Micro has: int8 or int16 activations with int8 weights of one scale, and an int16 cell
state.  The scales of intermediate tensors have no effect; sums are taken to 2^-12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, QuantAxisBad, ScaleBad, ShapeMismatch, TypeUnsupported, ZeroPointBad
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant, Requant
from codegen.ir.real import RealNode
from codegen.ops import Lstm, Svdf
from codegen.ops.accumulator import INT32_LIMIT, accumulator_bound
from codegen.ops.lstm import GATE, GATES, Gate, squash
from codegen.ops.sigmoid16 import OUTPUT
from codegen.real import memory as real
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Real, State
from codegen.settle.tflite.context import TfliteContext
from codegen.settle.tflite.linear import read_bias, read_scales, read_weights
from codegen.settle.tflite.movement import with_value
from codegen.settle.tflite.records import meaning
from codegen.settle.tflite.scales import gate_product, product_requant, svdf_requant

_WEIGHTS, _RECURRENT, _BIASES = range(1, 5), range(5, 9), range(9, 13)
_HIDDEN, _CELL = 13, 14
_POWER_OF_TWO = 1e-3
"""How far the logarithm of the cell's scale may be from a whole number, as in TFLite."""


def lstm(ctx: TfliteContext, node: RealNode, op: real.SequenceLstm) -> Sequence[State]:
    """An LSTM of four gates."""
    x, hidden, cell = (ctx.quantized(node, i).quant for i in (0, _HIDDEN, _CELL))
    kind = ctx.dtype(node, 0)
    if kind not in (DType.S8, DType.S16):
        raise TypeUnsupported(f"activations of type {kind.value}", where=node.where)
    weights, recurrent = (_stacked(ctx, node, places) for places in (_WEIGHTS, _RECURRENT))
    bias = np.stack([read_bias(ctx, node, weights.shape[1], place) for place in _BIASES])
    gates = _gates(ctx, node, (x, hidden), kind)
    for sums, extra, quant in ((weights, bias, x), (recurrent, np.zeros_like(bias), hidden)):
        _check_sums(node, sums, extra, quant, kind)
    forget, update = (gate_product(OUTPUT.scale, s, cell, DType.S16) for s in (cell.scale, OUTPUT.scale))
    clip, curve = _clip(node, op.clip, cell), squash(_power_of_two(node, cell))
    requant = gate_product(OUTPUT.scale, OUTPUT.scale, hidden, kind)

    def make(y: Quant) -> Op:
        return Lstm(op.time_major, x.zero_point, gates, forget, update, clip, curve, requant, y)

    constants: dict[str, Array] = {
        "weights": weights.astype(np.int8),
        "recurrent": recurrent.astype(np.int8),
        "bias": bias.astype(np.int32),
    }
    return _keeping(ctx, node, make, constants, (_HIDDEN, _CELL))


def svdf(ctx: TfliteContext, node: RealNode, op: real.Svdf) -> Sequence[State]:
    """SVDF; its fused activation has no effect in TFLite Micro, and none here."""
    x, features, over_time, state = (ctx.quantized(node, i).quant for i in range(4))
    if features.zero_point or over_time.zero_point:
        raise ZeroPointBad("weights have a zero point", where=node.where)
    for place in (1, 2):
        ctx.constant(node, place)
    memory = replace(state, zero_point=0)
    feature = svdf_requant(x.scale, features.scale, memory, ctx.dtype(node, 3))
    bias = read_bias(ctx, node, ctx.real(node.outputs[0]).shape[1], place=4).astype(np.int32)

    def make(y: Quant) -> Op:
        requant = svdf_requant(state.scale, over_time.scale, y, _result(ctx, node)[1])
        return Svdf(x.zero_point, state.zero_point, feature, requant, y)

    return _keeping(ctx, node, make, {"bias": bias}, (3,), (1, 2))


def _keeping(
    ctx: TfliteContext,
    node: RealNode,
    make: Callable[[Quant], Op],
    constants: Mapping[str, Array],
    places: Sequence[int],
    taken: Sequence[int] = (),
) -> Sequence[State]:
    """An operator that makes an output and what it keeps for the next run, from its input, weights and states."""
    y, _ = _result(ctx, node)
    made = [ctx.constant_value(node, what, array) for what, array in constants.items()]
    inputs = (*(ctx.value(node, i) for i in (0, *taken)), *made, *(ctx.value(node, i) for i in places))
    op, trail = make(y), ctx.origin((node,), node.outputs[0])
    sources = (node.tensor, *("" for _ in places))
    note = f"{node.op_type} -> {type(op).__name__}"
    values = ctx.builder.apply_all(op, inputs, node.outputs, sources=sources, trail=trail, note=note)
    kept = (with_value(ctx.state(node, i), v) for i, v in zip(places, values[1:], strict=True))
    return [Real(values[0], y), *kept]


def _result(ctx: TfliteContext, node: RealNode) -> tuple[Quant, DType]:
    return meaning(ctx.record(node.outputs[0]), node.where)


def _stacked(ctx: TfliteContext, node: RealNode, places: Sequence[int]) -> Array:
    """The weights of the four gates."""
    found = [read_weights(ctx, node, 2, place) for place in places]
    if len({w.shape for w in found}) > 1:
        raise ShapeMismatch(f"weights of shapes {[list(w.shape) for w in found]}", where=node.where)
    weights = np.stack(found)
    if int(weights.min()) < -128 or int(weights.max()) > 127:
        raise TypeUnsupported("weights of more than 8 bits with a sign", where=node.where)
    return weights


def _gates(
    ctx: TfliteContext, node: RealNode, quants: tuple[Quant, Quant], kind: DType
) -> tuple[Gate, Gate, Gate, Gate]:
    """How the sums of each gate are brought to 16 bits."""

    def step(quant: Quant, place: int) -> Requant:
        scales = read_scales(ctx, node, place)
        if scales.size != 1:
            raise QuantAxisBad(f"{scales.size} scales of weights '{node.inputs[place]}'", where=node.where)
        bounds, wide = (DType.S16.low, DType.S16.high), kind is DType.S16
        return product_requant("tflite", quant.scale, float(scales[0]), GATE, DType.S16, bounds, wide=wide)

    x, hidden = quants
    first, second, third, fourth = (Gate(step(x, _WEIGHTS[g]), step(hidden, _RECURRENT[g])) for g in range(len(GATES)))
    return first, second, third, fourth


def _check_sums(node: RealNode, weights: Array, bias: Array, quant: Quant, kind: DType) -> None:
    """Sums of int8 numbers have 32 bits."""
    if int(bias.min()) < -INT32_LIMIT or int(bias.max()) >= INT32_LIMIT:
        raise FormUnsupported("a bias of more than 32 bits", where=node.where)
    flat = weights.reshape(-1, weights.shape[-1])
    bound = accumulator_bound(flat, bias.reshape(-1), kind.low, kind.high, quant.zero_point)
    if kind is DType.S8 and bound >= INT32_LIMIT:
        raise FormUnsupported(f"sums of up to {bound} do not fit the accumulator", where=node.where)


def _power_of_two(node: RealNode, cell: Quant) -> float:
    exponent = math.log2(cell.scale)
    if abs(exponent - round(exponent)) >= _POWER_OF_TWO:
        raise ScaleBad(f"the cell state's scale is {cell.scale}, which is no power of two", where=node.where)
    return 2.0 ** round(exponent)


def _clip(node: RealNode, clip: float, cell: Quant) -> int | None:
    """The bound of the cell state in its own steps."""
    if clip < 0:
        raise FormUnsupported(f"a cell clip of {clip}", where=node.where)
    return int(min(clip / cell.scale, DType.S16.high)) if clip else None


RULES: Family = (
    Rule(real.SequenceLstm, lstm, ("UNIDIRECTIONAL_SEQUENCE_LSTM",)),
    Rule(real.Svdf, svdf, ("SVDF",)),
)
