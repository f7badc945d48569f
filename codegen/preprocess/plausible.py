"""Whether data can be what an input takes: integers for real numbers, another range, axes in another order.

Decides: what is refused (LAM-API-030) rather than computed with, for nonsense in gives a number out that looks like a
result.  Only what cannot be right is refused; the message prints the table that would be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import DataNotTheInputs
from codegen.ir.quant import Array
from codegen.preprocess.advice import layout_of, table_for
from codegen.preprocess.given import Given, Wanted, finite
from codegen.preprocess.ranges import MOST_OUTSIDE, is_sliver, outside
from codegen.preprocess.steps import Preprocess

_WIDEST = 2
"""Bytes of an integer that may stand for a real number; wider ones count or point at something."""
FEW = 8
"""Of fewer samples nothing is said about how they fill the range: a test may well be all zeros."""


def check_given(given: Given, how: Preprocess, wanted: Wanted) -> None:
    """Refuse samples that have the input's sizes in another order, or numbers of which nothing says what they mean."""
    found = _order(given, how, wanted) or _integers(given, how, wanted) or _reals(given, how, wanted)
    if found:
        raise _refusal(found, given, how, wanted)


def check_fed(fed: Sequence[Array], given: Given, how: Preprocess, wanted: Wanted) -> None:
    """Refuse what the samples become, when it has another range than the input holds."""
    if found := _range(fed, wanted) if wanted.is_real else _stood_for(fed, given, how, wanted):
        raise _refusal(found, given, how, wanted)


def _bare(shape: tuple[int, ...]) -> list[int]:
    return [n for n in shape if n != 1]


def _refusal(found: str, given: Given, how: Preprocess, wanted: Wanted) -> DataNotTheInputs:
    return DataNotTheInputs(found, table_for(given, how, wanted), where=given.where)


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
    if wanted.is_integer:
        other = kind.itemsize == 1 and wanted.dtype in ("int8", "uint8") and str(kind) != wanted.dtype
        return f"samples are {theirs}, input '{wanted.name}' is {wanted.dtype}" if other else ""
    signed = kind.kind == "i" and kind.itemsize <= 2
    undescribed = wanted.reals is None and how == Preprocess()
    if signed or undescribed:
        return f"samples are {theirs}, and input '{wanted.name}' takes real numbers{_spoken(wanted)}"
    return ""


def _reals(given: Given, how: Preprocess, wanted: Wanted) -> str:
    """What is wrong with real numbers for an input of integers; empty when they are its own, or a table computes."""
    known = how.computes or how.quantize[0] is not None or wanted.quant is None
    if given.dtype.kind != "f" or not wanted.is_integer or known:
        return ""
    info = np.iinfo(wanted.dtype)
    own = all(bool(((x == np.rint(x)) & (x >= info.min) & (x <= info.max)).all()) for x in given.raw)
    return "" if own else f"samples are {given.spoken()}, input '{wanted.name}' is {wanted.dtype}"


def _stood_for(fed: Sequence[Array], given: Given, how: Preprocess, wanted: Wanted) -> str:
    """What is wrong with what the model's integers stand for, or with what `quantize` saturated to make them."""
    if wanted.reals is None or np.dtype(wanted.dtype).itemsize > _WIDEST:
        return ""
    before = replace(how, quantize=(None, 0))
    real = [] if how.quantize[0] is None else [before.apply(x, wanted.shape, "float32") for x in given.raw]
    return (_range(real, wanted) if real else "") or _range([wanted.real(x) for x in fed], wanted)


def _range(fed: Sequence[Array], wanted: Wanted) -> str:
    """What is wrong with the range of the real numbers that the input is given; empty when nothing is."""
    numbers = finite(fed)
    if wanted.reals is None or not numbers.size:
        return ""
    low, high = float(numbers.min()), float(numbers.max())
    theirs = f"samples become {low:.4g} .. {high:.4g}"
    beyond = outside(numbers, wanted.reals)
    if beyond > MOST_OUTSIDE:
        return f"{theirs}, {beyond:.0%} of them far beyond what input '{wanted.name}' holds{_spoken(wanted)}"
    if len(fed) >= FEW and is_sliver(numbers, wanted.reals):
        return f"{theirs}, a sliver of what input '{wanted.name}' holds{_spoken(wanted)}"
    return ""


def _spoken(wanted: Wanted) -> str:
    return "" if wanted.reals is None else f", {wanted.reals[0]:.4g} .. {wanted.reals[1]:.4g}"
