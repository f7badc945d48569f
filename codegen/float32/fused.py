"""a * b + c of float32, rounded once; bit-exact twin of runtime_c/include/lam_f32_fma.h.

The product of two float32 is exact in float64.  The sum is rounded to odd there, that is cut, with the last bit set
where something was cut off: 53 bits, which round to 24 as the exact sum does.
Source: S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to
odd", IEEE Transactions on Computers 57(4), 2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from codegen.float32.arrays import Float32Array


def _sum_to_odd(p: npt.NDArray[np.float64], c: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """P + c in float64, rounded to odd; infinities and NaN as they come."""
    total = p + c
    back = total - p
    rest = (p - (total - back)) + (c - back)
    bits = np.asarray(total).view(np.int64)
    inexact = np.isfinite(total) & (rest != 0) & ((bits & 1) == 0)
    step = np.where((rest > 0) == (total > 0), 1, -1)
    return np.where(inexact, bits + step, bits).view(np.float64)


def fma(a: npt.NDArray[Any], b: npt.NDArray[Any], c: npt.NDArray[Any]) -> Float32Array:
    """The product of a and b, and c added to it, rounded once; the three are broadcast as numpy does."""
    wide = [np.asarray(one, np.float32).astype(np.float64) for one in (a, b, c)]
    with np.errstate(all="ignore"):
        return np.asarray(_sum_to_odd(wide[0] * wide[1], wide[2])).astype(np.float32)
