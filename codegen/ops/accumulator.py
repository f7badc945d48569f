"""Exact integer sums: how large they can get, and how numpy finds them fast.

Decides: the bound by which the compiler chooses 32-bit or 64-bit accumulators, and the float type in which BLAS
multiplies integer matrices without rounding (every partial sum, in any order, stays below 2^24 or 2^53).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from codegen.ir.quant import Array, DType

INT32_LIMIT = 1 << 31


def accumulator_bound(w: Array, b: Array, x_low: int, x_high: int, x_zero_point: int) -> int:
    """The largest magnitude of any partial sum, in any order, of the emitted form.

    The kernels fold the input's zero point into the bias, b' = b - zx * sum w; the bound is
    max over outputs of |b'| + sum |w| * max|x|, and |b'| itself is part of it.

    Args:
        w: weights, zero point already subtracted, one output per slice of the first axis.
        b: biases, one per output.
        x_low: least input value; a packed offset (a u8 shift) included.
        x_high: greatest input value.
        x_zero_point: of the input.
    """
    reach = np.abs(w.reshape(len(w), -1), dtype=np.int32).sum(axis=1, dtype=np.int64) * max(abs(x_low), abs(x_high))
    return int((np.abs(folded_bias(w, b, x_zero_point)) + reach).max())


def folded_bias(w: Array, b: Array, x_zero_point: int) -> npt.NDArray[np.int64]:
    """`b - zx * sum w` of each output: what lets kernels multiply raw inputs."""
    sums = w.reshape(len(w), -1).sum(axis=1, dtype=np.int64)
    return np.asarray(b.astype(np.int64) - x_zero_point * sums)


def needs_int64(w: Array, b: Array, x_low: int, x_high: int, x_zero_point: int) -> bool:
    """Whether a 32-bit accumulator could overflow; arguments as `accumulator_bound`."""
    return accumulator_bound(w, b, x_low, x_high, x_zero_point) >= INT32_LIMIT


def magnitude(x: Array) -> int:
    """The largest absolute value of an integer array."""
    return max(abs(int(x.min())), abs(int(x.max())))


def exact_dtype(bound: int) -> np.dtype[Any]:
    """The fastest type in which sums of products bounded by `bound` are exact."""
    if bound < 1 << 24:
        return np.dtype(np.float32)
    return np.dtype(np.float64 if bound < 1 << 53 else np.int64)


def product_dtype(x_magnitude: int, w: Array, axis: int) -> np.dtype[Any]:
    """`exact_dtype` of sums over `axis` of w times values up to `x_magnitude`."""
    sums = np.abs(w.astype(np.float64)).sum(axis=axis)
    return exact_dtype(x_magnitude * int(sums.max()))


def exact_matmul(a: Array, b: Array) -> Array:
    """The integer matrix product a[..., M, K] @ b[..., K, N] as int64, exact."""
    kind = product_dtype(magnitude(a), b, axis=-2)
    return np.asarray((a.astype(kind) @ b.astype(kind)).astype(np.int64))


def channel_ends(weights: Array, bias: Array, x_zero_point: int, x_dtype: DType) -> npt.NDArray[np.int64]:
    """Least and greatest sum `b + sum w * (x - zx)` of each output, int64[2, C]; a tap in the padding adds 0."""
    w = weights.reshape(len(weights), -1)
    above, below = (part(w, 0).sum(axis=1, dtype=np.int64) for part in (np.maximum, np.minimum))
    least, most = min(x_dtype.low - x_zero_point, 0), max(x_dtype.high - x_zero_point, 0)
    return np.stack([above * least + below * most, above * most + below * least]) + bias.astype(np.int64)
