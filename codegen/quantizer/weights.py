"""Which integers a constant becomes: its scales, and the rounding of each number for itself.

Decides: scales and zero points are of the whole tensor, of each output, or of groups of terms; where it is known how
much each number counts, they are searched for the least weighted error, and else are those of the range that a method
finds.  No scale is below its floor.
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
from codegen.records import record

FRACTIONS = np.linspace(0.3, 1.0, 71)
"""Of the scale that spans the numbers: what a search tries."""
_NEAR = ((-1, 0.95), (-1, 1.0), (-1, 1.05), (1, 0.95), (1, 1.0), (1, 1.05))
"""Zero points beside the one that was found, and of its scale, what is tried with each."""
_ROUNDS = 3
"""How far from the first a zero point may go."""
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
    stored = stored_weights(array, spec, axis or 0, importance=importance, floor=floor)
    steps, zero = stored.spread(array.shape)
    integers = rounded(array / np.asarray(steps, np.float64), spec.rounding) + zero
    return Weight(np.clip(integers, spec.least, spec.greatest).astype(stored.dtype), stored)


def _terms_axis(axis: int, rank: int) -> int:
    """The axis along which groups lie: that of the terms of a matrix, the input channels of a convolution."""
    return 1 - axis if rank == 2 else (axis + 1) % rank


def stored_weights(
    array: Array, spec: Spec, axis: int, *, importance: Array | None = None, floor: Array | float = 0.0
) -> Stored:
    """How weights are held: one scale and zero point, one per output, or one per group of terms."""
    wide = array.astype(np.float64)
    rows = _rows(wide, spec, axis)
    found = _given(rows, spec) if spec.scales else _spans(rows, spec)
    if importance is not None and not spec.scales:
        found = _searched(rows, _rows(np.broadcast_to(importance, array.shape), spec, axis), found, spec)
    elif spec.pot and spec.method in ("minmax", "diffs") and not spec.scales:
        found = _power(rows, found, spec)
    spans = found.spans
    known = spans[spans > 0]
    spans = np.where(spans > 0, spans, known.min() if known.size else 1.0)
    scale = _shaped(np.maximum(spans, LEAST_SCALE), np.asarray(floor), array, spec, axis)
    along = np.moveaxis(found.zeros, -1, _terms_axis(axis, array.ndim)) if spec.group else found.zeros
    where = _terms_axis(axis, array.ndim) if spec.group else axis if spec.per_channel else None
    zero = along.reshape(scale.shape).astype(np.int64)
    return Stored(dtype_of(spec), scale, zero, where, spec.group, bits_of(spec))


@record(eq=False)
class _Spans:
    """What one step of each row is worth, and which integer is its zero."""

    spans: Array
    zeros: Array

    def scaled(self, factor: Array | float) -> _Spans:
        """Other steps around the same zeros."""
        return _Spans(self.spans * factor, self.zeros)


def _given(rows: Array, spec: Spec) -> _Spans:
    """The scales that were given; LAM-QUANT-005 where they are not as many as are needed."""
    needed = len(rows)
    if len(spec.scales) != needed:
        raise QuantKeysConflict(f"{len(spec.scales)} scales are given, {needed} are needed", where="scales of weights")
    given = np.asarray(spec.scales, np.float64)
    return _Spans(given, np.zeros(given.shape))


def _spans(rows: Array, spec: Spec) -> _Spans:
    """The scales of the ranges that the method finds, of each row alone."""
    if spec.method in ("minmax", "diffs"):
        return _between(rows.min(axis=-1, initial=0.0), rows.max(axis=-1, initial=0.0), spec)
    if spec.method == "mse":
        return _searched(rows, np.ones_like(rows), _spans(rows, replace(spec, method="minmax")), spec)
    own = replace(spec, symmetric=spec.centred, signed=True)
    found = np.array([range_of(_counted(row, spec.bins), own) for row in rows.reshape(-1, rows.shape[-1])])
    low, high = found.T.reshape(2, *rows.shape[:-1])
    return _between(low, high, spec)


def _between(low: Array, high: Array, spec: Spec) -> _Spans:
    """The steps of ranges that hold zero; around zero, both ends are as far from it as the further one."""
    if spec.centred:
        reach = np.maximum(-low, high)
        return _Spans(np.asarray(reach / spec.greatest), np.zeros(reach.shape))
    spans = (high - low) / (spec.greatest - spec.least)
    zeros = np.rint(spec.least - np.divide(low, spans, out=np.full(low.shape, float(spec.least)), where=spans > 0))
    return _Spans(spans, np.clip(zeros, spec.least, spec.greatest))


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


def _power(rows: Array, found: _Spans, spec: Spec) -> _Spans:
    """The power of two of least squared error, from the one that spans the numbers downwards."""
    return _searched(rows, np.ones_like(rows), found, spec)


def _searched(rows: Array, importance: Array, found: _Spans, spec: Spec) -> _Spans:
    """Of fractions of each row's span, or of powers of two, the one of least weighted squared error.

    Where there are zero points, those beside the best so far are tried then, a few times.
    """
    search = _Search(rows, importance, found, spec)
    for tried in _candidates(found, spec):
        search.take(tried)
    for _ in range(0 if spec.centred else _ROUNDS):
        best = search.best
        for aside, factor in _NEAR:
            search.take(_Spans(best.spans * factor, np.clip(best.zeros + aside, spec.least, spec.greatest)))
    return search.best


class _Search:
    """The best steps so far of each row, by the weighted squared error of its numbers."""

    def __init__(self, rows: Array, importance: Array, begun: _Spans, spec: Spec) -> None:
        self._rows, self._importance, self._spec = rows, importance, spec
        self.best, self._least = begun, np.full(begun.spans.shape, np.inf)

    def take(self, tried: _Spans) -> None:
        """Try other steps of all rows."""
        steps, zeros = np.where(tried.spans > 0, tried.spans, 1.0)[..., None], tried.zeros[..., None]
        integers = np.clip(np.rint(self._rows / steps), self._spec.least - zeros, self._spec.greatest - zeros)
        errors = (self._importance * (self._rows - integers * steps) ** 2).sum(axis=-1)
        better = errors < self._least
        self._least = np.where(better, errors, self._least)
        self.best = _Spans(
            np.where(better, tried.spans, self.best.spans), np.where(better, tried.zeros, self.best.zeros)
        )


def _candidates(found: _Spans, spec: Spec) -> list[_Spans]:
    """What a search tries for rows that these steps span, the widest first."""
    if not spec.pot:
        return [found.scaled(fraction) for fraction in FRACTIONS[::-1]]
    power = np.ceil(np.log2(np.maximum(found.spans * spec.greatest / (spec.greatest + 0.5), LEAST_SCALE)))
    powers = (np.where(found.spans > 0, 2.0 ** (power - down), 0.0) for down in range(_EXPONENTS))
    return [_Spans(spans, found.zeros) for spans in powers]


def least_scales(bias: Array | None, reads: float, writes: float | None, outputs: int) -> Array:
    """The floor of each output's scale, given the scales of what the layer reads and writes.

    With it the bias, in steps of both scales, stays within 30 bits, and the factor to the output's scale keeps at least
    one bit of a multiplier.
    """
    floor = np.zeros(outputs) if bias is None else np.abs(bias.astype(np.float64)) / (reads * _BIAS_REACH)
    return np.asarray(floor if writes is None else np.maximum(floor, _LEAST_FACTOR * writes / reads))
