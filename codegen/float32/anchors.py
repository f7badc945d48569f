"""Boxes from what a detector says of its anchors, by way of float64; bit-exact twin of runtime_c/include/lam_anchors.h.

Source: tensorflow/lite/kernels/detection_postprocess.cc, whose numbers they are: middles and halves are float64 until
they are rounded to float32.  Its e^x is the C library's; that here errs by about one place of float64 and is the same
everywhere, so that the float32 differ where they lie within that of the middle between two, about once in 10^8.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from codegen.float32.arrays import Float32Array

Float64Array = npt.NDArray[np.float64]

_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 in two parts, the first of 32 bits, so that its multiples are exact."""
_FAR = 600.0
"""What is further from 0 makes a half of 0 or infinity in float32 as this does."""
_TERMS = 13


def wide_exp(x: npt.NDArray[Any]) -> Float64Array:
    """e^x in float64: 2^k times a polynomial of what is left of x."""
    near = np.clip(x.astype(np.float64), -_FAR, _FAR)
    scaled = near * _LOG2E
    power = np.trunc(scaled + np.where(near < 0, -0.5, 0.5))
    rest = near - power * _LN2_HIGH
    rest = rest - power * _LN2_LOW
    total = np.full_like(near, 1.0 / math.factorial(_TERMS))
    for term in range(_TERMS - 1, -1, -1):
        total = total * rest
        total = total + 1.0 / math.factorial(term)
    return np.ldexp(total, np.where(np.isnan(power), 0, power).astype(np.int32))


def decoded(codes: npt.NDArray[Any], anchors: npt.NDArray[Any], scales: npt.NDArray[Any]) -> Float32Array:
    """Corners [B, 4] of codes [B, 4 or more], y, x, h, w like the anchors and the scales."""
    with np.errstate(all="ignore"):
        shares = codes[:, :4].astype(np.float64) / scales.astype(np.float64)
        wide = anchors.astype(np.float64)
        centre = (shares[:, :2] * wide[:, 2:] + wide[:, :2]).astype(np.float32)
        half = (0.5 * wide_exp(shares[:, 2:]) * wide[:, 2:]).astype(np.float32)
        return np.concatenate([centre - half, centre + half], 1)
