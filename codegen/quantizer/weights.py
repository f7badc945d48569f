"""Which integers a constant becomes: its scales, and the rounding of each number for itself.

Decides: scales are symmetric, of the whole tensor, of each output, or of groups of terms; where it is known how much
each number counts, they are searched for the least weighted error, and else are those of the range that a method finds.
None is below its floor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from codegen.errors import QuantKeysConflict
from codegen.ir.quant import Array
from codegen.ir.real import Stored
from codegen.quantizer.ranges import range_of
from codegen.quantizer.ranges.storing import LEAST_SCALE, bits_of, dtype_of
from codegen.quantizer.scheme import Weight
from codegen.quantizer.spec import Rounding, Spec
from codegen.quantizer.statistics import Statistics

FRACTIONS = np.linspace(0.3, 1.0, 71)
"""Of the scale that spans the numbers: what a search tries."""
_EXPONENTS = 5
_BIAS_REACH = 2.0**30
_LEAST_FACTOR = 2.0**-31
_GROUPS_REACH = 2.0**15
"""Of the largest number of an output times the factor of its group: a bias has its steps (settle/weights.py)."""

_ROUNDED: Mapping[Rounding, Callable[[Array], Array]] = {
    "half_even": np.rint,
    "half_up": lambda x: np.floor(x + 0.5),
    "half_away": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "half_down": lambda x: np.copysign(np.ceil(np.abs(x) - 0.5), x),
}


def rounded(x: Array, rounding: Rounding) -> Array:
    """Whole numbers, halves as is asked for."""
    return np.asarray(_ROUNDED[rounding](x))


def quantized(
    array: Array, spec: Spec, axis: int | None, *, importance: Array | None = None, floor: Array | float = 0.0
) -> Weight:
    """A constant whose outputs run along `axis`, if there are any, each number rounded for itself.

    `importance` is how much the square of each number's error counts, broadcast against the constant; without it all
    count alike, and scales span the numbers.  `floor` is the least scale of each output.
    """
    spec = spec if axis is not None else replace(spec, per_channel=False, group=0)
    scale = scales(array, spec, axis or 0, importance=importance, floor=floor)
    stored = stored_weights(scale, spec, axis or 0, array.ndim)
    steps = np.asarray(stored.spread(array.shape)[0], np.float64)
    integers = np.clip(rounded(array / steps, spec.rounding), spec.least, spec.greatest)
    return Weight(integers.astype(stored.dtype), stored)


def stored_weights(scale: Array, spec: Spec, axis: int, rank: int) -> Stored:
    """How weights with these scales are held: one, one per output, or one per group of terms."""
    zero = np.zeros(scale.shape, np.int64)
    if spec.group:
        return Stored(dtype_of(spec), scale, zero, _terms_axis(axis, rank), spec.group, bits_of(spec))
    return Stored(dtype_of(spec), scale, zero, axis if spec.per_channel else None, 0, bits_of(spec))


def _terms_axis(axis: int, rank: int) -> int:
    """The axis along which groups lie: that of the terms of a matrix, the input channels of a convolution."""
    return 1 - axis if rank == 2 else (axis + 1) % rank


def scales(
    array: Array, spec: Spec, axis: int, *, importance: Array | None = None, floor: Array | float = 0.0
) -> Array:
    """Scales, float32: a single one, one per output, or of the constant's rank where there are groups."""
    wide = array.astype(np.float64)
    rows = _rows(wide, spec, axis)
    spans = _given(rows, spec) if spec.scales else _spans(rows, spec)
    if importance is not None and not spec.scales:
        spans = _searched(rows, _rows(np.broadcast_to(importance, array.shape), spec, axis), spans, spec)
    elif spec.pot and spec.method in ("minmax", "diffs") and not spec.scales:
        spans = _power(rows, spans, spec)
    known = spans[spans > 0]
    spans = np.where(spans > 0, spans, known.min() if known.size else 1.0)
    return _shaped(np.maximum(spans, LEAST_SCALE), np.asarray(floor), array, spec, axis)


def _given(rows: Array, spec: Spec) -> Array:
    """The scales that were given; LAM-QUANT-005 where they are not as many as are needed."""
    needed = len(rows)
    if len(spec.scales) != needed:
        raise QuantKeysConflict(f"{len(spec.scales)} scales are given, {needed} are needed", where="scales of weights")
    return np.asarray(spec.scales, np.float64)


def _spans(rows: Array, spec: Spec) -> Array:
    """The scales of the ranges that the method finds, of each row alone."""
    if spec.method in ("minmax", "diffs"):
        return np.asarray(np.abs(rows).max(axis=-1, initial=0.0) / spec.greatest)
    if spec.method == "mse":
        return _searched(rows, np.ones_like(rows), _spans(rows, replace(spec, method="minmax")), spec)
    own = replace(spec, symmetric=True, signed=True)
    found = [range_of(_counted(row, spec.bins), own)[1] for row in rows.reshape(-1, rows.shape[-1])]
    return np.asarray(found).reshape(rows.shape[:-1]) / spec.greatest


def _counted(row: Array, bins: int) -> Statistics:
    statistics = Statistics(bins)
    statistics.first(row)
    statistics.second(row)
    return statistics


def _rows(array: Array, spec: Spec, axis: int) -> Array:
    """One row for each scale."""
    if spec.group:
        terms = _terms_axis(axis, array.ndim)
        moved = np.moveaxis(array, terms, -1)
        short = -moved.shape[-1] % spec.group
        padded = np.pad(moved, [(0, 0)] * (moved.ndim - 1) + [(0, short)])
        return padded.reshape(*padded.shape[:-1], -1, spec.group)
    return np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1) if spec.per_channel else array.reshape(1, -1)


def _shaped(spans: Array, floor: Array, array: Array, spec: Spec, axis: int) -> Array:
    """The scales as a Stored has them, none below its floor."""
    if spec.group:
        along = np.moveaxis(spans, -1, _terms_axis(axis, array.ndim))
        wide = [1] * array.ndim
        wide[axis] = -1
        least = floor.reshape(wide) if floor.ndim else floor
        room, largest = (
            least * (_GROUPS_REACH / spec.greatest),
            along.max(axis=_terms_axis(axis, array.ndim), keepdims=True),
        )
        return _raised(along, np.where(largest < room, room, least), spec)
    if spec.per_channel:
        return _raised(spans, floor, spec)
    return _raised(spans, floor.max(initial=0.0), spec).reshape(())


def _raised(spans: Array, floor: Array | float, spec: Spec) -> Array:
    raised = np.maximum(spans, floor)
    return (2.0 ** np.ceil(np.log2(raised)) if spec.pot else raised).astype(np.float32)


def _power(rows: Array, spans: Array, spec: Spec) -> Array:
    """The power of two of least squared error, from the one that spans the numbers downwards."""
    return _searched(rows, np.ones_like(rows), spans, spec)


def _searched(rows: Array, importance: Array, spans: Array, spec: Spec) -> Array:
    """Of fractions of each row's span, or of powers of two, the one of least weighted squared error."""
    best, least = spans.copy(), np.full(spans.shape, np.inf)
    for tried in candidates(spans, spec):
        steps = np.where(tried > 0, tried, 1.0)[..., None]
        integers = np.clip(np.rint(rows / steps), spec.least, spec.greatest)
        errors = (importance * (rows - integers * steps) ** 2).sum(axis=-1)
        better = errors < least
        best, least = np.where(better, tried, best), np.where(better, errors, least)
    return best


def candidates(spans: Array, spec: Spec) -> list[Array]:
    """The scales that a search tries for rows that these ones span, the widest first."""
    if not spec.pot:
        return [fraction * spans for fraction in FRACTIONS[::-1]]
    power = np.ceil(np.log2(np.maximum(spans * spec.greatest / (spec.greatest + 0.5), LEAST_SCALE)))
    return [np.where(spans > 0, 2.0 ** (power - down), 0.0) for down in range(_EXPONENTS)]


def least_scales(bias: Array | None, reads: float, writes: float | None, outputs: int) -> Array:
    """The floor of each output's scale, given the scales of what the layer reads and writes.

    With it the bias, in steps of both scales, stays within 30 bits, and the factor to the output's scale keeps at least
    one bit of a multiplier.
    """
    floor = np.zeros(outputs) if bias is None else np.abs(bias.astype(np.float64)) / (reads * _BIAS_REACH)
    return np.asarray(floor if writes is None else np.maximum(floor, _LEAST_FACTOR * writes / reads))
