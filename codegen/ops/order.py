"""The order of numbers, where NaN has a place in it.  Twin: lam_f32_order."""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array, DType


def order(x: Array) -> Array:
    """Whole numbers in the order of these: -0 is 0, and NaN the largest."""
    if x.dtype.kind != "f":
        return x
    signed = np.asarray(x + np.float32(0)).view(np.int32)
    turned = np.where(signed < 0, np.int32(-1) - (signed & np.int32(0x7FFFFFFF)), signed)
    return np.where(np.isnan(x), DType.S32.high, turned)
