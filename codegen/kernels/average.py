"""Means: the parameters of `average` in templates/macros/c.j2, for pools and for bilinear resizing.

Decides which form a mean takes: `single` and `tflite` requantize, `half_even` and its kin too, with that rounding;
`ort` divides in float32, `divide` is TFLite's own division between equal scales (ops/average_pool.py: mean).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.fixedpoint import INT32_MAX
from codegen.ir.form import Field
from codegen.ir.quant import DType, formula_of, rounding_of
from codegen.kernels.common import range_field, requant_takes
from codegen.ops.average import Averaging, average_requant

BY_COUNT = ("divide", "ort", "wide_divide", "wide_ort")
"""Forms that divide by the count itself."""


def mean_mode(how: Averaging, *, pool: bool) -> str:
    """Which form the mean takes; only pools divide.  Wide ones have 64 bits: `wide` and, of float32, `wide_ort`."""
    if pool and how.mode == "tflite" and how.x_quant == how.y_quant:
        return "wide_divide" if is_wide(how) else "divide"
    if rounding_of(how.mode) != "half_up":
        return rounding_of(how.mode)
    if is_wide(how):
        return "wide_ort" if how.mode == "ort" else "wide"
    return formula_of(how.mode)


def mean_headers(mode: str) -> tuple[str, ...]:
    """What the form calls: divisions, float32, or a requantization."""
    if mode in ("divide", "wide_divide"):
        return ("lam_mean.h",)
    if mode.startswith("half_"):
        return ("lam_requant_rounded.h",)
    return ("lam_linear.h",) if mode in BY_COUNT else ("lam_requant.h",)


def is_wide(how: Averaging) -> bool:
    """Whether a sum may pass 32 bits."""
    return how.reach > INT32_MAX


def mean_fields(how: Averaging, mode: str, counts: Sequence[int]) -> tuple[Field, ...]:
    """`x_zero_point` = [zx], `range`, and one entry per divisor of what the mode needs."""
    shared = (
        Field("x_zero_point", np.array([how.x_quant.zero_point], np.int32), about="of the input"),
        range_field(how.y_quant.zero_point, how.low, how.high),
    )
    if mode in BY_COUNT:
        scales = Field("scale", np.array([how.x_quant.scale, how.y_quant.scale], np.float32), about="input, output")
        divisors = Field("count", np.array(counts, np.int32), about="numbers in a mean")
        return (*shared, divisors, scales) if mode.endswith("ort") else (*shared, divisors)
    steps = [average_requant(how, count) for count in counts]
    about = "of lam_requant.h, with the division by the count" + (", by count" if len(steps) > 1 else "")
    return (
        *shared,
        Field("multiplier", np.array([s.multiplier[0] for s in steps], np.int32), about=about),
        Field("shift", np.array([s.shift[0] for s in steps], np.int8), about=about),
    )


def mean_fits(how: Averaging, mode: str, counts: Sequence[int], x_dtype: DType) -> bool:
    """Whether every sum of `count` values can be requantized, for each of the divisors."""
    if mode in BY_COUNT:
        return True
    span = x_dtype.high - x_dtype.low
    steps = ((how.reach or span * count, average_requant(how, count)) for count in counts)
    return all(requant_takes(step, -reach, reach, wide=is_wide(how)) for reach, step in steps)
