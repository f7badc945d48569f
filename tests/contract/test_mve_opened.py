"""Helium's kernel on many pixels and weights with a scale per group of inputs equals golden in C and on the chip.

Groups of one vector and of two, a smaller one at the end, inputs that fill no vector, fewer than four pixels, lanes
that groups fill once and more often, outputs in parts, those that fill no block, and fewer than a block has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from codegen.ir.graph import Graph
from codegen.ir.quant import MODES, DType
from codegen.kernels.mve.opened import MveOpenedContext
from codegen.ops import Dense
from tests.contract.case import S8, U8, Case
from tests.contract.group_layers import (
    check_in_plain_c,
    check_on_the_chip,
    contexts_of,
    layers,
    numbered,
    of_bytes,
    only,
)

CHIP, LEVEL, KERNEL = "cortex-m55", "armv81m_mve", "mve_opened"
SHAPES = (
    (4, 128, 8, 32),
    (7, 300, 10, 32),
    (10, 104, 7, 32),
    (10, 144, 4, 16),
    (4, 176, 60, 64),
    (9, 80, 8, 16),
    (4, 264, 70, 32),
    (4, 160, 12, 64),
    (4, 144, 130, 16),
    (7, 60, 9, 32),
    (4, 96, 128, 16),
    (5, 40, 3, 32),
    (11, 48, 8, 16),
    (7, 80, 5, 32),
)
FEW = (
    (5, 300, 16, 32),
    (6, 300, 20, 32),
    (5, 104, 24, 32),
    (6, 104, 20, 32),
    (6, 40, 3, 32),
    (5, 144, 136, 16),
    (5, 320, 16, 64),
    (6, 320, 8, 64),
    (6, 112, 8, 16),
)
"""Those of one pixel and two behind four."""


@cache
def graph() -> Graph:
    found = layers(SHAPES)
    ranges = ((U8, 0, 255), (S8, -8, 7), (S8, 0, 127))
    few = layers(FEW)
    kinds = [*found[:: len(SHAPES)], *few[:: len(FEW) - 1]]
    limited = [with_outputs(case, *ranges[i % len(ranges)]) for i, case in enumerate(kinds)]
    return numbered(found + few + limited)


@cache
def bytes_graph() -> Graph:
    return numbered(layers((*SHAPES[1:], *FEW[:5]), of_bytes))


def with_outputs(case: Case, y: DType, low: int, high: int) -> Case:
    """The case with outputs of this type and from `low` to `high`."""
    op = case.op
    assert isinstance(op, Dense)
    assert op.requant is not None
    limits = replace(op.requant, zero_point=(y.low + y.high) // 2, low=low, high=high)
    return replace(case, op=replace(op, requant=limits, y_dtype=y))


def test_every_form_is_among_the_cases() -> None:
    found: list[MveOpenedContext] = contexts_of(graph(), LEVEL, KERNEL, only(KERNEL))
    assert {(k.lanes, k.sets > 1) for k in found} == {(8, False), (8, True), (4, False), (4, True)}
    assert {(k.zeros, k.chunks) for k in found} >= {("AROUND", 1), ("AROUND", 2), ("RAW", 1), ("RAW", 2), ("OWN", 2)}
    assert {(k.last_chunks, k.last_inputs) for k in found} >= {(0, 16), (1, 8), (1, 16), (1, 12), (2, 12)}
    assert {(k.flip, k.apart) for k in found} >= {(flip, apart) for flip in (0, 0x80) for apart in (False, True)}
    assert {k.in_last_set for k in found} >= {0, 1}
    assert {(k.mode, k.each) for k in found} >= {(mode, each) for mode in MODES for each in (False, True)}
    assert {(k.bounds, k.mode) for k in found} >= {(b, mode) for mode in MODES for b in ("S8", "U8", "WITHIN")}
    assert ("WITHIN", "up") in {(k.bounds, k.mode) for k in found}
    assert {k.c_out % 4 for k in found if k.parts > 1} >= {0, 1, 2, 3}
    assert {(k.parts > 2, k.sets > 1) for k in found} >= {(False, True), (True, True), (False, False)}
    assert any(k.aside for k in found)
    assert {(k.tail, k.chunks) for k in found} >= {(tail, chunks) for tail in (1, 2, 3) for chunks in (1, 2)}
    assert any(k.tail == 1 and not k.few for k in found)


def test_forms_of_one_pixel_and_two_are_among_the_cases() -> None:
    found: list[MveOpenedContext] = [k for k in contexts_of(graph(), LEVEL, KERNEL, only(KERNEL)) if k.few]
    zeros, bounds, both = ("AROUND", "OWN", "RAW"), ("S8", "U8", "WITHIN"), (False, True)
    assert {(k.tail, k.lanes, k.sets > 1) for k in found} == {
        (t, n, more) for t in (1, 2) for n in (4, 8) for more in both
    }
    assert {(k.tail, k.chunks, k.zeros) for k in found} >= {(t, 2, z) for t in (1, 2) for z in zeros}
    assert {(k.tail, k.mode, k.each) for k in found} >= {
        (t, mode, each) for t in (1, 2) for mode in MODES for each in both
    }
    assert {(k.tail, k.bounds) for k in found} == {(t, b) for t in (1, 2) for b in bounds}
    assert {(k.tail, k.parts > 1, k.blocks % 2) for k in found} >= {(1, True, 0), (2, True, 0), (2, False, 1)}
    assert any(k.aside for k in found)


def test_every_form_of_bytes_is_among_the_cases() -> None:
    found: list[MveOpenedContext] = contexts_of(bytes_graph(), LEVEL, KERNEL, only(KERNEL))
    both = (False, True)
    assert {(k.lanes, k.sets > 1, k.zeros) for k in found} == {
        (*form, zeros) for form in ((8, False), (8, True), (4, False)) for zeros in ("BYTES", "BYTES_OWN")
    }
    assert {(k.chunks, k.flip > 0, k.tail) for k in found} >= {(2, flip, tail) for flip in both for tail in (0, 1, 3)}
    assert {(k.mode, k.each) for k in found} >= {(mode, each) for mode in MODES for each in both}
    assert not any(k.few for k in found)


@pytest.mark.parametrize("made", [graph, bytes_graph])
def test_they_equal_golden_in_plain_c(made: Callable[[], Graph], tmp_path: Path) -> None:
    check_in_plain_c(made(), LEVEL, tmp_path, only(KERNEL))


@pytest.mark.parametrize("made", [graph, bytes_graph])
def test_they_equal_golden_on_the_emulated_chip(made: Callable[[], Graph], tmp_path: Path) -> None:
    check_on_the_chip(made(), CHIP, tmp_path, only(KERNEL))
