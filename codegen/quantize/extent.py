"""Ranges from least to greatest, and weights rounded to the nearest step."""

from __future__ import annotations

import math

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.real import Stored
from codegen.quantize.scheme import Weight
from codegen.quantize.spec import Spec

_LEAST = float(np.finfo(np.float32).tiny)


class Extent:
    """Least and greatest number of one tensor."""

    def __init__(self) -> None:
        self.low, self.high = math.inf, -math.inf

    def first(self, array: Array) -> None:
        """A sample in the first pass."""
        self.low, self.high = min(self.low, float(array.min())), max(self.high, float(array.max()))

    def second(self, array: Array) -> None:
        """Nothing more to see."""


def range_of(extent: Extent, spec: Spec) -> tuple[float, float]:
    """The range seen."""
    return min(extent.low, 0.0), max(extent.high, 0.0)


def stored_for(low: float, high: float, spec: Spec) -> Stored:
    """Integers for a range that holds zero."""
    low, high = min(low, 0.0), max(high, 0.0)
    needed = (high - low) / (spec.greatest - spec.least)
    if spec.symmetric:
        needed = max(high / spec.greatest, low / spec.least)
    scale = max(needed, _LEAST) if high > low else 1.0
    scale = 2.0 ** math.ceil(math.log2(scale)) if spec.pot else scale
    zero = 0 if spec.symmetric else round(spec.least - low / scale)
    dtype = np.dtype(f"{'i' if spec.signed else 'u'}{1 if spec.bits <= 8 else 2}")
    return Stored(dtype, np.array([scale], np.float32), np.array([zero], np.int64), bits=spec.bits % 8 and spec.bits)


def quantized(weight: Array, spec: Spec, axis: int | None) -> Weight:
    """Weights to the nearest step of scales that hold the largest."""
    at = axis if spec.per_channel else None
    others = tuple(i for i in range(weight.ndim) if i != at)
    largest = np.abs(weight.astype(np.float64)).max(axis=others).reshape(-1)
    scale = np.where(largest > 0, np.maximum(largest / spec.greatest, _LEAST), 1.0)
    scale = 2.0 ** np.ceil(np.log2(scale)) if spec.pot else scale
    stored = Stored(
        np.dtype(np.int8),
        scale.astype(np.float32),
        np.zeros(scale.size, np.int64),
        at,
        bits=spec.bits % 8 and spec.bits,
    )
    steps = np.rint(weight / stored.spread(weight.shape)[0].astype(np.float64))
    return Weight(np.clip(steps, spec.least, spec.greatest).astype(np.int8), stored)
