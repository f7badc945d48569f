"""What kernels on real numbers share: bounds, and outputs in blocks whose weights lie together.

A block of outputs is summed at one time, each in its own accumulator, so that the order of each sum is kept whatever
the compiler makes of the block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from codegen.ir.form import Field
from codegen.ir.quant import Array, Sums
from codegen.ops.float32 import FloatConv2D, FloatDense, FloatMatMul, FloatRecurrent
from codegen.ops.float32.sums import begun
from codegen.records import record

HEADER = "lam_f32.h"
"""Of every kernel that computes: it refuses compilers that would not give the same bits."""
SUM_HEADERS: dict[Sums, str] = {"separate": HEADER, "fused": "lam_f32_fma.h", "flushed": "lam_f32_flushed.h"}
_BLOCK = 4
"""Outputs that are summed at one time: that many sums and weights stay in registers."""


class Bounded(Protocol):
    """An operator whose result is held within bounds."""

    @property
    def low(self) -> float:
        """The least result."""
        ...

    @property
    def high(self) -> float:
        """The greatest result."""
        ...


@record
class Bounds:
    """Which bounds a template holds results within."""

    low: bool
    high: bool


UNBOUNDED = Bounds(low=False, high=False)


def bounds_of(op: Bounded) -> Bounds:
    """Those that are finite."""
    return Bounds(not math.isinf(op.low), not math.isinf(op.high))


def bound_fields(op: Bounded) -> tuple[Field, ...]:
    """Params `low` and `high`, where they are finite."""
    ends = (("low", op.low), ("high", op.high))
    return tuple(Field(name, np.array([end], np.float32)) for name, end in ends if not math.isinf(end))


def sum_header(op: FloatConv2D | FloatDense | FloatMatMul | FloatRecurrent) -> str:
    """Whose function a step of a sum is."""
    return SUM_HEADERS[op.sums]


def block_of(outputs: int) -> int:
    """How many of so many outputs are summed at one time."""
    return min(outputs, _BLOCK)


def in_blocks(weights: Array, groups: int = 1) -> list[Array]:
    """Weights [outputs, taps] with those of a block beside each other, tap by tap; no block has two groups' outputs."""
    rows = weights.reshape(groups, len(weights) // groups, -1)
    size = block_of(rows.shape[1])
    return [part[at : at + size].T for part in rows for at in range(0, len(part), size)]


def bias_field(op: FloatConv2D | FloatDense, bias: Array) -> Field:
    """Param `bias`: what sums begin with."""
    return flat_field("bias", begun(bias, op.sums))


def flat_field(name: str, values: Array | Sequence[float]) -> Field:
    """A constant as it is."""
    return Field(name, np.ascontiguousarray(values, np.float32).reshape(-1))
