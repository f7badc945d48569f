"""Means: the parameters of `average` in templates/macros/c.j2, for pools and for bilinear resizing.

Decides which form a mean takes: `single` and `double` requantize, `float` divides in float32, `divide` is TFLite's own
division between equal scales (ops/average_pool.py: mean).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.program import Field
from codegen.ir.quant import DType
from codegen.lower.kernels.common import range_field, requant_takes
from codegen.ops.average import Averaging, average_requant


def mean_mode(how: Averaging, *, pool: bool) -> str:
    """Which form the mean takes; only pools divide."""
    return "divide" if pool and how.mode == "double" and how.x_quant == how.y_quant else how.mode


def mean_fields(how: Averaging, mode: str, counts: Sequence[int]) -> tuple[Field, ...]:
    """`zero` = [zx], `range`, and one entry per divisor of what the mode needs."""
    shared = (
        Field("zero", np.array([how.x_quant.zero_point], np.int32)),
        range_field(how.y_quant.zero_point, how.low, how.high),
    )
    if mode in ("divide", "float"):
        scales = Field("scale", np.array([how.x_quant.scale, how.y_quant.scale], np.float32))
        divisors = Field("count", np.array(counts, np.int32))
        return (*shared, divisors, scales) if mode == "float" else (*shared, divisors)
    steps = [average_requant(how, count) for count in counts]
    return (
        *shared,
        Field("multiplier", np.array([s.multiplier[0] for s in steps], np.int32)),
        Field("shift", np.array([s.shift[0] for s in steps], np.int8)),
    )


def mean_fits(how: Averaging, mode: str, counts: Sequence[int], x_dtype: DType) -> bool:
    """Whether every sum of `count` values can be requantized, for each of the divisors."""
    if mode in ("divide", "float"):
        return True
    span = x_dtype.high - x_dtype.low
    steps = ((span * count, average_requant(how, count)) for count in counts)
    return all(requant_takes(step, -reach, reach) for reach, step in steps)
