"""Convolutions of real numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from codegen.ir.op import Op
from codegen.ir.shape import Window
from codegen.ops.float32 import FloatConv2D
from tests.contract.case import F32, OTHER_SUMS, STORAGES, Case, ints, stored, t, window, with_zeros

_SAME = window(3, 1, 1, 1, 1)
_ONE = window(1)
OTHERWISE_TOO = ("padded", "grouped", "depthwise", "in_blocks", "at_edges", "deep")
STORED_TOO = ("padded", "grouped", "depthwise", "pointwise", "in_blocks", "at_edges", "deep")


def cases() -> Iterator[Case]:
    """All of them; some of them with other sums, or with weights stored otherwise, too."""
    for case in _separate():
        yield case
        for sums in OTHER_SUMS if case.name in OTHERWISE_TOO else ():
            yield replace(case, name=f"{sums}_{case.name}", op=replace(case.op, sums=sums))  # type: ignore[type-var]
        if case.name in STORED_TOO:
            yield from (stored(case, storage) for storage in STORAGES)
            yield with_zeros(case, 8)


def _separate() -> Iterator[Case]:
    yield _case("plain", (1, 5, 6, 3), 8, window(3), window(3))
    yield _case("padded", (1, 5, 6, 3), 5, _SAME, _SAME, low=0.0)
    yield _case("strided", (1, 7, 8, 4), 6, window(3, 2, 1, 1, 1), window(3, 2, 1, 0, 1), low=0.0, high=600.0)
    yield _case("dilated", (1, 8, 7, 2), 3, window(2, 1, 3, 2, 1), window(3, 1, 2, 3, 4))
    yield _case("grouped", (1, 5, 4, 6), 10, _SAME, _SAME, 2, high=90.0)
    yield _case("depthwise", (1, 5, 6, 7), 7, _SAME, _SAME, 7, low=-200.0)
    yield _case("depthwise_four", (1, 4, 4, 8), 8, window(3, 2), window(3, 2), 8)
    yield _case("multiplied", (1, 4, 5, 3), 6, _SAME, _SAME, 3)
    yield _case("pointwise", (1, 3, 4, 9), 11, _ONE, _ONE, low=0.0)
    yield _case("in_blocks", (1, 4, 11, 5), 37, _SAME, window(3, 1, 1, 0, 1), low=0.0)
    yield _case("at_edges", (1, 3, 9, 4), 21, window(1), window(5, 2, 2, 3, 4), high=80.0)
    yield _case("deep", (1, 4, 13, 19), 19, _SAME, window(3, 2, 2, 2, 1), 19, high=50.0)
    yield _case("beyond", (1, 2, 3, 2), 4, window(3, 1, 1, 4, 4), window(2, 3, 1, 3, 5))


def _case(
    name: str,
    x: tuple[int, ...],
    outputs: int,
    h: Window,
    w: Window,
    groups: int = 1,
    low: float = -np.inf,
    high: float = np.inf,
) -> Case:
    weights = ints(F32, outputs, h.size, w.size, x[3] // groups)
    return Case(name, FloatConv2D(h, w, groups, low, high), (t(F32, *x), weights, ints(F32, outputs)))


def _products(case: Case) -> int:
    (y,) = case.op.infer(case.types)
    return y.elements * case.types[1].elements // y.shape[3]


PRODUCTS: Mapping[type[Op], Callable[[Case], int]] = {FloatConv2D: _products}
