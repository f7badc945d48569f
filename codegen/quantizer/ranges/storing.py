"""From a range of real numbers to the integers that hold it.

Decides: integers of 2 to 8 bits are kept in bytes, those of 9 to 16 in pairs of bytes; `bits` of a Stored says how many
of them are used.  Symmetric integers have zero point 0 and reach as far as the range on both sides; with a scale that
is a power of two, half a step beyond the last integer still counts as held, as Vitis counts it.
"""

from __future__ import annotations

import math

import numpy as np

from codegen.ir.real import Stored
from codegen.quantizer.spec import Spec

LEAST_SCALE = float(np.finfo(np.float32).tiny)
"""The smallest float32 that every processor computes with."""


def stored_for(low: float, high: float, spec: Spec) -> Stored:
    """Integers for a range that holds zero."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = _scale(low, high, spec)
    zero = 0 if spec.centred else round(spec.least - low / scale)
    zero = min(max(zero, spec.least), spec.greatest)
    return Stored(dtype_of(spec), np.array(scale, np.float32), np.array(zero, np.int64), bits=bits_of(spec))


def dtype_of(spec: Spec) -> np.dtype[np.generic]:
    """The integers that keep those of `spec`."""
    size = 1 if spec.bits <= 8 else 2
    return np.dtype(f"{'i' if spec.signed else 'u'}{size}")


def bits_of(spec: Spec) -> int:
    """The bits that are used, where those are fewer than the type has, or 0."""
    return 0 if spec.bits in (8, 16) else spec.bits


def exponent_for(low: float, high: float, spec: Spec) -> int:
    """The greatest p for which steps of 2**-p hold the range, half a step beyond its ends counted as held."""
    needed = (high - low) / (spec.greatest - spec.least + 1)
    if spec.centred:
        needed = max(high / (spec.greatest + 0.5), low / (spec.least - 0.5))
    return math.floor(-math.log2(max(needed, LEAST_SCALE)))


def _scale(low: float, high: float, spec: Spec) -> float:
    if high <= low:
        return 1.0
    if spec.pot:
        return 2.0 ** -exponent_for(low, high, spec)
    needed = (high - low) / (spec.greatest - spec.least)
    if spec.centred:
        needed = max(high / spec.greatest, low / spec.least if spec.least else 0.0)
    return max(float(np.float32(needed)), LEAST_SCALE)
