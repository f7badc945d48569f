"""float32 from and to narrower types; bit-exact twin of runtime_c/include/lam_f32_storage.h.

Narrower floats are rounded to nearest, half to even, as ONNX's Cast has it, and infinite where they are too large.
Integers are cut towards zero and saturate; NaN is 0.  ONNX leaves these two open.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from codegen.float32.arrays import Float32Array
from codegen.float32.words import INFINITY, NAN, SIGN, bits_of

Uint16Array = npt.NDArray[np.uint16]


def to_f16(x: Float32Array) -> Uint16Array:
    """The bits of each number as a float16; every NaN is one of two, by its sign."""
    with np.errstate(over="ignore", invalid="ignore"):
        half = x.astype(np.float16).view(np.uint16)
    sign = (bits_of(x) >> 16) & 0x8000
    return np.where(np.isnan(x), sign | 0x7E00, half).astype(np.uint16)


def from_f16(half: Uint16Array) -> Float32Array:
    """The numbers that have these bits as float16: exact."""
    with np.errstate(invalid="ignore"):
        return half.view(np.float16).astype(np.float32)


def to_bf16(x: Float32Array) -> Uint16Array:
    """The bits of each number as a bfloat16, which is the upper half of a float32."""
    bits = x.view(np.uint32)
    size = bits & (SIGN - 1)
    rounded = np.where(size > INFINITY, NAN >> 16, (size + 0x7FFF + ((size >> 16) & 1)) >> 16)
    return np.asarray(((bits >> 16) & 0x8000) | rounded).astype(np.uint16)


def from_bf16(upper: Uint16Array) -> Float32Array:
    """The numbers that have these bits as bfloat16: exact."""
    return np.asarray(upper.astype(np.uint32) << np.uint32(16)).view(np.float32)


def as_bfloat16(x: Float32Array) -> Float32Array:
    """The nearest numbers that bfloat16 holds, halves to even."""
    return from_bf16(to_bf16(x))


def to_integer(x: Float32Array, dtype: Any) -> npt.NDArray[Any]:
    """Each number cut towards zero and limited to what an integer type of at most 32 bits holds; NaN is 0."""
    limits = np.iinfo(dtype)
    with np.errstate(invalid="ignore"):
        wide = np.trunc(np.where(np.isnan(x), np.float32(0), x)).astype(np.float64)
    return np.clip(wide, limits.min, limits.max).astype(dtype)
