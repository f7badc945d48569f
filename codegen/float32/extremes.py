"""The lesser and the greater of two float32; bit-exact twin of runtime_c/include/lam_f32.h."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from codegen.float32.arrays import Float32Array


def minimum(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Float32Array:
    """The lesser; a NaN wins over any number, and the first of two equal ones (-0 and +0) over the second."""
    return np.where((a <= b) | np.isnan(a), a, b)


def maximum(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Float32Array:
    """The greater, as `minimum`."""
    return np.where((a >= b) | np.isnan(a), a, b)
