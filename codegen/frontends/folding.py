"""Constant expressions of a model's plain numbers, computed while it is read: what every format shares.

Decides: how large results may be, one by one and together, and that whatever an evaluation raises on a damaged model is
one refusal.  What an operator computes is its format's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from codegen.errors import FoldFailed, ModelTooLarge, first_line
from codegen.ir.quant import Array
from codegen.settle.builder import MAX_ELEMENTS, MAX_RANK

MAX_FOLDED = 2**26
"""Elements of all constant expressions of a model together."""

# what numpy and evaluators raise on arguments that do not fit
_FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
)


class Budget:
    """How many elements constant expressions may still have."""

    def __init__(self) -> None:
        self._used = 0

    def charge(self, arrays: Iterable[Array], where: str) -> None:
        """Refuse models whose constant expressions would take all memory (LAM-IMPORT-004)."""
        self._used += sum(a.size for a in arrays)
        if self._used > MAX_FOLDED:
            raise ModelTooLarge(f"the constants computed up to here have more than {MAX_FOLDED} elements", where=where)


def evaluated(compute: Callable[[], Iterable[Any]], elements: Callable[[], int], where: str) -> tuple[Array, ...]:
    """The results of a node whose inputs are all known; `elements` bounds the size of one of them.

    Raises:
        FoldFailed: LAM-IMPORT-024.
        ModelTooLarge: LAM-IMPORT-004.
    """
    try:
        size = elements()
    except _FAILURES as error:
        raise FoldFailed("its constant inputs do not fit", where=where) from error
    if size > MAX_ELEMENTS:
        raise ModelTooLarge(f"a constant of {size} elements, at most {MAX_ELEMENTS} are computed", where=where)
    try:
        with np.errstate(all="ignore"):
            arrays = tuple(np.asarray(r) for r in compute())
    except _FAILURES as error:
        raise FoldFailed(f"its constant inputs do not fit: {first_line(error)}", where=where) from error
    if any(a.ndim > MAX_RANK or a.dtype.kind not in "biuf" for a in arrays):
        raise FoldFailed("the result is not a tensor of numbers", where=where)
    return arrays


def broadcast_elements(arrays: Sequence[Array]) -> int:
    """Elements of what arrays broadcast to."""
    return math.prod(np.broadcast_shapes(*(a.shape for a in arrays)))


def range_elements(arrays: Sequence[Array]) -> int:
    """Elements of a range of start, limit and step."""
    start, limit, delta = (float(a.reshape(-1)[0]) for a in arrays)
    return max(math.ceil((limit - start) / delta), 0)
