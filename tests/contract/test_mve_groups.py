"""Helium's kernel on weights with a scale per group of inputs equals golden in C and on the emulated chip.

Sums in eight lanes and in four, zero points apart and as more groups, numbers whose sums take all of 16 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.groups import counted, layer
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.kernels import find_form
from codegen.kernels.mve.groups import MveGroupsContext
from codegen.target import load_target
from tests.contract.case import Case
from tests.contract.group_layers import (
    check_in_plain_c,
    check_on_the_chip,
    contexts_of,
    layers,
    numbered,
    of_bytes,
    only,
)
from tests.contract.test_group_kernels import MOST, dense
from tests.support.tools import require_tool

CHIP, LEVEL = "cortex-m55", "armv81m_mve"
SHAPES = (
    (1, 256, 16, 32),
    (2, 300, 20, 32),
    (1, 144, 16, 32),
    (2, 100, 8, 32),
    (1, 64, 8, 32),
    (2, 512, 8, 64),
    (1, 120, 16, 64),
    (2, 80, 8, 16),
    (2, 64, 8, 16),
)


OF_BYTES = (*SHAPES[:5], (2, 256, 8, 64), (1, 256, 8, 128), (1, 120, 16, 16), (1, 120, 16, 64), (2, 64, 8, 16))


def least(n_out: int, n_in: int, block: int) -> Array:
    """The least numbers, but for one of each group, which keeps their factor what it is."""
    numbers = np.full((n_out, n_in), -8)
    numbers[:, ::block] = -7
    return numbers


@cache
def graph() -> Graph:
    return numbered([*layers(SHAPES, least), *map(large, layers(((2, 512, 8, 64), (2, 64, 8, 32)), least))])


@cache
def bytes_graph() -> Graph:
    return numbered(layers(OF_BYTES, of_bytes))


def large(case: Case) -> Case:
    """The case with a first group whose factor 8 times leaves 16 bits: zero points take no 8 with them."""
    x, weights, bias = case.ins
    numbers = np.array(weights)
    numbers[:, : case.block] = 0
    numbers[:, 0] = 5000
    return replace(case, ins=(x, numbers, bias))


def test_every_form_is_among_the_cases() -> None:
    found: list[MveGroupsContext] = contexts_of(graph(), LEVEL, "mve_groups")
    forms = {(lanes, zeros) for lanes in (8, 4) for zeros in ("AROUND", "OWN", "FOLDED", "RAW", "RAW_FOLDED")}
    assert {(k.lanes, k.zeros) for k in found} == forms
    assert {(k.lanes, k.in_lanes > k.lanes) for k in found} == {(8, False), (8, True), (4, False), (4, True)}
    assert {(k.chunks, k.rest > 0, k.each) for k in found} >= {(2, True, True), (2, False, False), (4, True, False)}


def test_sums_are_taken_in_halves_of_words_where_they_fit() -> None:
    """32 inputs by -8, one by -7: 128 * 255 is below 2^15; 64 by 4, one by 3: 128 * 255 too; one by 5: not."""
    for number, other, block, lanes in ((-8, -7, 32, 8), (4, 3, 64, 8), (4, 5, 64, 4)):
        numbers = np.full((8, 8 * block), number)
        numbers[:, ::block] = other
        form = find_form(dense(numbers, block), LEVEL)
        assert form is not None
        assert (form.kernel, form.context.lanes) == ("mve_groups", lanes)


def test_every_form_of_bytes_is_among_the_cases() -> None:
    found: list[MveGroupsContext] = contexts_of(bytes_graph(), LEVEL, "mve_groups", only("mve_groups"))
    forms = {
        (zeros, chunks, rest) for zeros in ("BYTES", "BYTES_OWN") for chunks in (1, 2, 4) for rest in (False, True)
    }
    assert {(k.zeros, k.chunks, k.rest > 0) for k in found} == forms
    assert {(k.copied, k.left > 0, k.in_lanes > k.groups) for k in found} >= {(True, True, True), (False, False, False)}


@pytest.mark.parametrize("made", [graph, bytes_graph])
def test_they_equal_golden_in_plain_c(made: Callable[[], Graph], tmp_path: Path) -> None:
    check_in_plain_c(made(), LEVEL, tmp_path, only("mve_groups"))


@pytest.mark.parametrize("made", [graph, bytes_graph])
def test_they_equal_golden_on_the_emulated_chip(made: Callable[[], Graph], tmp_path: Path) -> None:
    check_on_the_chip(made(), CHIP, tmp_path, only("mve_groups"))


@pytest.mark.parametrize(("inputs", "outputs"), [(256, 64), (104, 64)])
def test_zero_points_too_take_a_quarter_more_instructions_than_bytes_at_most(inputs: int, outputs: int) -> None:
    target = load_target(CHIP)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.board.emulator[0])
    zeros, one = (counted(layer(inputs, outputs, kind, 32), CHIP)[1] for kind in ("zeros", "8 bits"))
    assert zeros <= MOST * one
