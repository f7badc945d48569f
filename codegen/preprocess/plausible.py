"""Whether data can be what an input takes: integers for real numbers, another range, axes in another order.

Decides: what is refused (LAM-API-030) rather than computed with, for nonsense in gives a number out that looks like a
result.  Only what cannot be right is refused; the message prints the table that would be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from codegen.errors import DataNotTheInputs
from codegen.ir.quant import Array
from codegen.preprocess.advice import Wanted, layout_of, table_for
from codegen.preprocess.steps import Preprocess

_MARGIN = 0.1
"""How far beyond the input's range, in widths of it, a number may lie and still count as within."""
_MOST_OUTSIDE = 0.25
"""A larger share of numbers beyond the range than calibration cuts off anywhere."""
_LEAST_FILLED = 0.02
"""Data that covers less of the range than this, 5 of 256 steps, was scaled otherwise."""
FEW = 8
"""Of fewer samples nothing is said about how they fill the range: a test may well be all zeros."""


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Some samples as the file has them, at least one, of numbers; and where that is."""

    raw: Sequence[Array]
    where: str

    @property
    def shape(self) -> tuple[int, ...]:
        """That of one sample."""
        return self.raw[0].shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.raw[0].dtype

    def spoken(self) -> str:
        """Element type and range."""
        return f"{self.dtype} {min(x.min() for x in self.raw)} .. {max(x.max() for x in self.raw)}"


def check_given(given: Given, how: Preprocess, wanted: Wanted) -> None:
    """Refuse samples that have the input's sizes in another order, or numbers of which nothing says what they mean."""
    found = _order(given, how, wanted) or _integers(given, how, wanted) or _reals(given, how, wanted)
    if found:
        raise _refusal(found, given, how, wanted)


def check_fed(fed: Sequence[Array], given: Given, how: Preprocess, wanted: Wanted) -> None:
    """Refuse what the samples become, when it has another range than the input holds."""
    found = _range(fed, wanted)
    if found:
        raise _refusal(found, given, how, wanted)


def _bare(shape: tuple[int, ...]) -> list[int]:
    return [n for n in shape if n != 1]


def _refusal(found: str, given: Given, how: Preprocess, wanted: Wanted) -> DataNotTheInputs:
    return DataNotTheInputs(found, table_for(given.shape, given.dtype, how, wanted), where=given.where)


def _order(given: Given, how: Preprocess, wanted: Wanted) -> str:
    """What is wrong with the order of the axes; empty when a layout settles it, or when no order would do."""
    kept = how.axes or how.jpeg or _bare(given.shape) == _bare(wanted.shape)
    if kept or layout_of(given.shape, wanted.shape) is None:
        return ""
    return f"samples are {list(given.shape)}, input '{wanted.name}' is {list(wanted.shape)}: axes in another order"


def _integers(given: Given, how: Preprocess, wanted: Wanted) -> str:
    """What is wrong with integers for this input when nothing says what they mean; empty when that is known."""
    kind = given.dtype
    if kind.kind not in "biu" or how.computes or how.quantize[0] is not None:
        return ""
    theirs = given.spoken()
    if np.dtype(wanted.dtype).kind in "iu":
        other = kind.itemsize == 1 and wanted.dtype in ("int8", "uint8") and str(kind) != wanted.dtype
        return f"samples are {theirs}, input '{wanted.name}' is {wanted.dtype}" if other else ""
    signed = kind.kind == "i" and kind.itemsize <= 2
    undescribed = wanted.reals is None and how == Preprocess()
    if signed or undescribed:
        return f"samples are {theirs}, and input '{wanted.name}' takes real numbers{_spoken(wanted)}"
    return ""


def _reals(given: Given, how: Preprocess, wanted: Wanted) -> str:
    """What is wrong with real numbers for an input of integers; empty when they are whole, or a table computes."""
    known = how.computes or how.quantize[0] is not None or wanted.quant is None
    if given.dtype.kind != "f" or np.dtype(wanted.dtype).kind not in "iu" or known:
        return ""
    whole = all(bool((x == np.rint(x)).all()) for x in given.raw)
    return "" if whole else f"samples are {given.spoken()}, input '{wanted.name}' is {wanted.dtype}"


def _range(fed: Sequence[Array], wanted: Wanted) -> str:
    """What is wrong with the range of the real numbers that the input is given; empty when nothing is."""
    if wanted.reals is None or np.dtype(wanted.dtype).kind != "f":
        return ""
    numbers = np.concatenate([np.asarray(x, np.float64).reshape(-1) for x in fed])
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return ""
    low, high = wanted.reals
    margin = _MARGIN * (high - low)
    outside = float(((numbers < low - margin) | (numbers > high + margin)).mean())
    least, most = float(numbers.min()), float(numbers.max())
    theirs = f"samples become {least:.4g} .. {most:.4g}"
    if outside > _MOST_OUTSIDE:
        return f"{theirs}, {outside:.0%} of them far beyond what input '{wanted.name}' holds{_spoken(wanted)}"
    if len(fed) >= FEW and 0 < most - least < _LEAST_FILLED * (high - low):
        return f"{theirs}, a sliver of what input '{wanted.name}' holds{_spoken(wanted)}"
    return ""


def _spoken(wanted: Wanted) -> str:
    return "" if wanted.reals is None else f", {wanted.reals[0]:.4g} .. {wanted.reals[1]:.4g}"
