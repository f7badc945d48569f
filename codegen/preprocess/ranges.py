"""Which keys make numbers of one range numbers of another, as lines of TOML.

Decides: what the data's numbers are taken for (pixels of 0 .. 255, of 0 .. 1, of -1 .. 1), which convention of feeding
networks the input was calibrated with, and when the numbers are the input's already.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.records import record

Range = tuple[float, float]

MARGIN = 0.1
"""How far beyond the input's range, in widths of it, a number may lie and still count as within."""
MOST_OUTSIDE = 0.25
"""A larger share of numbers beyond the range than calibration cuts off anywhere."""
LEAST_FILLED = 0.02
"""Data that covers less of the range than this, 5 of 256 steps, was scaled otherwise."""
_ALIKE = 0.15
_FACTOR = 2.0
"""Ranges whose largest numbers differ by more were made by different scales."""
_SLACK = 0.02
_DARKEST = 16
"""Bytes of a file that has none above are no pictures."""


@record
class Source:
    """How data holds pictures: a pixel of 0 .. 255 is scale * (number - zero_point)."""

    range: Range
    scale: float
    zero_point: int


@record
class Convention:
    """What networks are fed with: (pixel / divide - mean) / std, in TOML, and the range that it makes."""

    range: Range
    divide: float = 1.0
    mean: str = ""
    std: str = ""


PIXELS = Source((0.0, 255.0), 1.0, 0)
_SOURCES = (
    Source((0.0, 1.0), 255.0, 0),
    Source((-1.0, 1.0), 127.5, -1),
    PIXELS,
    Source((-128.0, 127.0), 1.0, -128),
)
_CONVENTIONS = (
    Convention((0.0, 255.0)),
    Convention((0.0, 1.0), 255.0),
    Convention((-1.0, 1.0), 127.5, mean="1"),
    Convention((-128.0, 127.0), mean="128"),
    Convention((-2.118, 2.64), 255.0, "[0.485, 0.456, 0.406]", "[0.229, 0.224, 0.225]"),
)


def scaling(numbers: Array, reals: Range, *, pictures: bool) -> list[str]:
    """The keys that make these numbers fill `reals`; none when they do, or when nothing can be said.

    Args:
        numbers: finite ones, of some samples.
        reals: the smallest and the largest number that the input holds.
        pictures: whether numbers up to 255 are pixels even if none is near it.
    """
    if not numbers.any():
        return []
    span = float(numbers.min()), float(numbers.max())
    source = _source(span)
    if source is None and pictures and span[1] > _DARKEST:
        source = PIXELS
    if source is not None and (found := _conventional(source, reals)) is not None:
        return found
    if _fills(numbers, reals):
        return []
    return _fitted(span, reals) if source is None else _filled(source.range, reals)


def outside(numbers: Array, reals: Range) -> float:
    """The share of numbers that lie far beyond a range."""
    low, high = reals
    margin = MARGIN * (high - low)
    return float(((numbers < low - margin) | (numbers > high + margin)).mean())


def is_sliver(numbers: Array, reals: Range) -> bool:
    """Whether numbers that are not all the same fill next to nothing of a range."""
    return bool(0 < numbers.max() - numbers.min() < LEAST_FILLED * (reals[1] - reals[0]))


def _fills(numbers: Array, reals: Range) -> bool:
    """Whether numbers are what the input was calibrated with, as far as can be told."""
    alike = 1 / _FACTOR <= float(np.abs(numbers).max()) / _reach(reals) <= _FACTOR
    return alike and outside(numbers, reals) <= MOST_OUTSIDE and not is_sliver(numbers, reals)


def _reach(span: Range) -> float:
    return max(abs(span[0]), abs(span[1]))


def _source(span: Range) -> Source | None:
    """What numbers of this range are: they stay within it, and come at least half as far on either side of zero."""
    return next((s for s in _SOURCES if _is_of(span, s.range)), None)


def _is_of(span: Range, whole: Range) -> bool:
    slack = _SLACK * _reach(whole)
    within = whole[0] - slack <= span[0] and span[1] <= whole[1] + slack
    return within and span[1] >= whole[1] / 2 and (whole[0] == 0 or span[0] <= whole[0] / 2)


def _conventional(source: Source, reals: Range) -> list[str] | None:
    """The convention whose range is the input's, the data's own before others; None where there is none."""
    by_likeness = sorted(
        _CONVENTIONS, key=lambda c: (c.range != source.range, (c.range[0] < 0) != (source.range[0] < 0))
    )
    found = [c for c in by_likeness if _is_range(c.range, reals)]
    if not found:
        return None
    others = [f"# if the model takes {_spoken(c.range)}: {', '.join(_fed(source, c))}" for c in found[1:]]
    return [*others, *_fed(source, found[0])]


def _fed(source: Source, convention: Convention) -> list[str]:
    """The keys from data to what a network is fed with."""
    if source.range == convention.range:
        return []
    factor = source.scale / convention.divide
    first = f"divide = {convention.divide:g}" if source is PIXELS else _dequantize(factor, source.zero_point)
    needed = (factor, source.zero_point) != (1.0, 0)
    after = [f"{key} = {text}" for key, text in (("mean", convention.mean), ("std", convention.std)) if text]
    return [first] * needed + after


def _is_range(made: Range, reals: Range) -> bool:
    """Whether the input was calibrated on such numbers; a symmetric input has as much room below zero as above."""
    size = _reach(made)
    low, high = reals
    symmetric = bool(np.isclose(-low, high, rtol=_SLACK, atol=0))
    reach = abs(_reach(reals) - size) <= _ALIKE * size
    return reach and (symmetric or (abs(low - made[0]) <= _ALIKE * size and abs(high - made[1]) <= _ALIKE * size))


def _fitted(span: Range, reals: Range) -> list[str]:
    """Numbers of no known range: times a factor that leaves zero where it is, or else moved as well."""
    factor = _reach(reals) / _reach(span)
    if _fills(np.array(span) * factor, reals):
        return [_comment(span), _dequantize(factor, 0)]
    return _filled(span, reals)


def _filled(span: Range, reals: Range) -> list[str]:
    """A range laid over the input's; nothing for one without width."""
    if span[0] == span[1]:
        return []
    factor = (reals[1] - reals[0]) / (span[1] - span[0])
    if span == PIXELS.range:
        return [_comment(span), _dequantize(factor, round(-reals[0] / factor))]
    mean = factor * span[0] - reals[0]
    return [_comment(span), _dequantize(factor, 0), *([f"mean = {mean:.9g}"] if mean else [])]


def _comment(span: Range) -> str:
    return f"# makes {_spoken(span)} the input's range"


def _spoken(span: Sequence[float]) -> str:
    return f"{span[0]:.4g} .. {span[1]:.4g}"


def _dequantize(scale: float, zero_point: int) -> str:
    zero = f", zero_point = {zero_point}" if zero_point else ""
    return f"dequantize = {{ scale = {scale:.9g}{zero} }}"
