"""Lstm: all steps of a sequence, unit by unit; the weights of a unit's four gates for one input lie side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, Requant
from codegen.kernels.common import end_values, is_wide, range_field, requant_takes
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.sigmoid16 import curve_fields
from codegen.ops import Lstm
from codegen.ops.accumulator import folded_bias
from codegen.records import record

GateSum = tuple[Requant, Array, Array, int]
"""How a sum is requantized, its weights, its bias and the zero point of what is summed."""
_PRODUCT = 1 << 30
"""The largest product of two 16-bit numbers."""


@record
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

    @property
    def gates_inputs(self) -> int:
        """Weights of a unit's four gates that inputs meet."""
        return 4 * self.inputs

    @property
    def gates_units(self) -> int:
        """Weights of a unit's four gates that the hidden state meets."""
        return 4 * self.units


def _fit(node: NodeOf[Lstm]) -> Fit | None:
    op = node.op
    w, r, b = node.consts[1:4]
    if node.dynamic != (0, 4, 5) or w is None or r is None or b is None:
        return None
    products = all(requant_takes(step, -_PRODUCT, _PRODUCT) for step in (op.forget, op.update, op.requant))
    sums = _gate_sums(op, w, r, b)
    if not products or not all(_sums_fit(node.ins[0].dtype, *each) for each in sums):
        return None
    return Fit(_context(node), _params(op, sums, w, r))


def _sums_fit(dtype: DType, requant: Requant, weights: Array, bias: Array, zero_point: int) -> bool:
    narrow = dtype is DType.S16 or not is_wide(weights, bias, zero_point, dtype)
    return narrow and requant_takes(requant, *end_values(weights, bias, zero_point, dtype))


def _gate_sums(op: Lstm, w: Array, r: Array, b: Array) -> list[GateSum]:
    """Both sums of each gate."""
    found: list[GateSum] = []
    for index, gate in enumerate(op.gates):
        found.append((gate.x, w[index], b[index], op.x_zero_point))
        found.append((gate.hidden, r[index], np.zeros_like(b[index]), op.requant.zero_point))
    return found


def _context(node: NodeOf[Lstm]) -> LstmContext:
    first, second, inputs = node.ins[0].shape
    units = node.outs[0].shape[2]
    batch, steps = (second, first) if node.op.time_major else (first, second)
    by_batch, by_step = (1, batch) if node.op.time_major else (steps, 1)
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


def _params(op: Lstm, sums: list[GateSum], w: Array, r: Array) -> tuple[Field, ...]:
    """`bias` has the sums of the four gates over the input, then over the hidden state, unit by unit.

    `scaling` has multiplier and shift of both sums, gate by gate.
    """
    clip = 32767 if op.clip is None else op.clip
    return (
        Field("bias", _biases(sums)),
        Field("scaling", _scaling([requant for requant, *_ in sums])),
        Field("product", _scaling([op.forget, op.update, op.requant])),
        Field("cell_range", np.array([-32768 if op.clip is None else -clip, clip], np.int32)),
        range_field(op.requant.zero_point, op.requant.low, op.requant.high),
        *curve_fields(op.squash),
        Field.later("weights", w.dtype, w.size, lambda: w.transpose(1, 2, 0).reshape(-1)),
        Field.later("recurrent", r.dtype, r.size, lambda: r.transpose(1, 2, 0).reshape(-1)),
    )


def _biases(sums: list[GateSum]) -> Array:
    folded = [folded_bias(weights, bias, zero) for _, weights, bias, zero in (*sums[::2], *sums[1::2])]
    return np.stack(folded, axis=1).astype(np.int32).reshape(-1)


def _scaling(requants: list[Requant]) -> Array:
    """Multiplier and shift, one pair after the other."""
    return np.array([(r.multiplier[0], r.shift[0]) for r in requants], np.int32).reshape(-1)


LSTM = Kernel("lstm", "lstm.c.j2", "whole", (Lstm,), _fit, headers=("lam_fixed.h", "lam_requant.h"))

KERNELS: tuple[Kernel[Any], ...] = (LSTM,)
