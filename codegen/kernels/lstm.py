"""Lstm: all steps of a sequence, unit by unit; the weights of a unit's four gates for one input lie side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeView
from codegen.ir.quant import Array, DType, Requant
from codegen.kernels.common import end_values, folded_bias, is_wide, range_field, requant_takes
from codegen.kernels.kernel import adapted
from codegen.kernels.sigmoid16 import curve_fields
from codegen.ops import Lstm

_PRODUCT = 1 << 30
"""The largest product of two 16-bit numbers."""


@dataclass(frozen=True, slots=True)
class LstmContext:
    """Literals: sequences, steps, inputs and units; elements from one sequence to the next and from step to step.

    `wide` sums have 64 bits and are requantized in mode `single`.
    """

    batch: int
    steps: int
    inputs: int
    units: int
    x_batch: int
    x_step: int
    y_batch: int
    y_step: int
    acc_t: str
    wide: bool


def _accepts(node: NodeView, isa: str) -> bool:
    op = node.op
    if not isinstance(op, Lstm) or node.dynamic != (0, 4, 5):
        return False
    products = all(requant_takes(r, -_PRODUCT, _PRODUCT) for r in (op.forget, op.update, op.requant))
    return products and all(_sums_fit(node, *sums) for sums in _gate_sums(node))


def _sums_fit(node: NodeView, requant: Requant, weights: Array, bias: Array, zero_point: int) -> bool:
    dtype = node.ins[0].dtype
    narrow = dtype is DType.S16 or not is_wide(weights, bias, zero_point, dtype)
    return narrow and requant_takes(requant, *end_values(weights, bias, zero_point, dtype))


def _gate_sums(node: NodeView) -> list[tuple[Requant, Array, Array, int]]:
    """Both sums of each gate: how they are requantized, weights, bias and the zero point of what is summed."""
    op = node.op
    assert isinstance(op, Lstm)
    w, r, b = _constants(node)
    found = []
    for index, gate in enumerate(op.gates):
        found.append((gate.x, w[index], b[index], op.x_zero_point))
        found.append((gate.hidden, r[index], np.zeros_like(b[index]), op.requant.zero_point))
    return found


def _constants(node: NodeView) -> tuple[Array, Array, Array]:
    """Weights of the input and of the hidden state, and the bias."""
    w, r, b = node.consts[1:4]
    assert w is not None
    assert r is not None
    assert b is not None
    return w, r, b


def _context(node: NodeView) -> LstmContext:
    op = node.op
    assert isinstance(op, Lstm)
    first, second, inputs = node.ins[0].shape
    units = node.outs[0].shape[2]
    batch, steps = (second, first) if op.time_major else (first, second)
    by_batch, by_step = (1, batch) if op.time_major else (steps, 1)
    wide = node.ins[0].dtype is DType.S16
    return LstmContext(
        batch=batch,
        steps=steps,
        inputs=inputs,
        units=units,
        x_batch=by_batch * inputs,
        x_step=by_step * inputs,
        y_batch=by_batch * units,
        y_step=by_step * units,
        acc_t="int64_t" if wide else "int32_t",
        wide=wide,
    )


def _params(node: NodeView) -> tuple[Field, ...]:
    """`bias` has the sums of the four gates over the input, then over the hidden state, unit by unit.

    `scaling` has multiplier and shift of both sums, gate by gate.
    """
    op = node.op
    assert isinstance(op, Lstm)
    w, r, _ = _constants(node)
    sums = _gate_sums(node)
    bias = np.stack([folded_bias(weights, b, zero) for _, weights, b, zero in (*sums[::2], *sums[1::2])], axis=1)
    requants = [requant for requant, *_ in sums]
    products = (op.forget, op.update, op.requant)
    clip = 32767 if op.clip is None else op.clip
    return (
        Field("bias", bias.astype(np.int32).reshape(-1)),
        Field("scaling", _scaling(requants)),
        Field("product", _scaling(products)),
        Field("cell_range", np.array([-32768 if op.clip is None else -clip, clip], np.int32)),
        range_field(op.requant.zero_point, op.requant.low, op.requant.high),
        *curve_fields(op.squash),
        Field("weights", w.transpose(1, 2, 0).reshape(-1)),
        Field("recurrent", r.transpose(1, 2, 0).reshape(-1)),
    )


def _scaling(requants: list[Requant] | tuple[Requant, ...]) -> Array:
    """Multiplier and shift, one pair after the other."""
    return np.array([(r.multiplier[0], r.shift[0]) for r in requants], np.int32).reshape(-1)


LSTM = adapted("lstm", "lstm.c.j2", "whole", _accepts, _context, _params)
