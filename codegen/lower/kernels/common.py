"""Parts that several kernels share: requantization parameters, accumulator width, folded bias.

A kernel's context holds shapes, types and modes only, so that layers of equal shape share one function; every number
that training made goes into the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.program import Field
from codegen.ir.quant import Array, DType, Requant


@dataclass(frozen=True, slots=True)
class RequantContext:
    """How a template requantizes: mode, whether factors are per channel, the type of the accumulator."""

    mode: str
    per_channel: bool
    wide: bool


def requant_context(requant: Requant | None, *, wide: bool = False) -> RequantContext:
    """The template's view of a Requant; mode `none` stores the accumulator itself."""
    if requant is None:
        return RequantContext("none", per_channel=False, wide=wide)
    return RequantContext(requant.mode, requant.per_channel, wide)


def requant_fields(requant: Requant | None) -> tuple[Field, ...]:
    """Params `multiplier` and `shift` (or `scale`), and `range` = [zero_point, low, high]."""
    if requant is None:
        return ()
    bounds = Field("range", np.array([requant.zero_point, requant.low, requant.high], np.int32))
    if requant.mode == "float":
        return (Field("scale", np.array(requant.scale, np.float32)), bounds)
    return (
        Field("multiplier", np.array(requant.multiplier, np.int32)),
        bounds,
        Field("shift", np.array(requant.shift, np.int8)),
    )


def folded_bias(weights: Array, bias: Array, x_zero_point: int) -> Array:
    """`b - zx * sum(w)` per output channel, int64: what lets kernels multiply raw inputs."""
    sums: Array = weights.reshape(weights.shape[0], -1).astype(np.int64).sum(axis=1)
    folded: Array = bias.astype(np.int64) - x_zero_point * sums
    return folded


def is_wide(weights: Array, bias: Array, x_zero_point: int, x_dtype: DType) -> bool:
    """Whether any partial sum of the folded form, in any order, could leave int32.

    The bound is `|b'| + sum |w| * max|x|` per output channel.
    """
    reach = np.abs(weights.reshape(weights.shape[0], -1).astype(np.int64)).sum(axis=1)
    largest = max(abs(x_dtype.low), x_dtype.high)
    bound = np.abs(folded_bias(weights, bias, x_zero_point)) + reach * largest
    return bool((bound >= 2**31).any())
