"""16-bit numbers without a sign, which the network holds as int16.

Decides: that they, and their zero points, are 2^15 less there.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array, Quant
from codegen.settle.states import Int

UNSIGNED_WORD = "uint16"
WORDS_ARE_SIGNED = "uint16 tensors are int16 in the network: their numbers and zero points are 32768 less"
_HALF = 1 << 15


def signed(array: Array) -> Array:
    """Numbers of type uint16 as int16, 2^15 less, as the network holds them; others as they are."""
    return (array.astype(np.int32) - _HALF).astype(np.int16) if array.dtype == np.uint16 else array


def shift_of(dtype: np.dtype[np.generic]) -> int:
    """What is added to zero points of this type."""
    return -_HALF if dtype == np.uint16 else 0


def whole_numbers(state: Int) -> Quant:
    """What the integers of a tensor are as whole numbers."""
    return Quant(1.0, -_HALF if state.kind == UNSIGNED_WORD else 0)
