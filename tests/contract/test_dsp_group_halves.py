"""The kernel with SMLAD that takes two small groups at a time equals golden in C and on the chip.

Groups of eight and sixteen inputs, with zero points and without; sums that take all of 16 bits; three pixels by two
outputs, two by two, alone and together; outputs that are odd; inputs with a sign and without.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from codegen.ir.graph import Graph
from codegen.kernels.dsp.group_halves import GroupHalvesContext
from tests.contract.group_layers import check_in_plain_c, check_on_the_chip, contexts_of, layers, numbered, only

CHIP, LEVEL, KERNEL = "cortex-m4", "armv7em", "dsp_group_halves"
PIXELS = (2, 3, 5, 7)
SIZES = ((128, 8, 16), (96, 7, 16), (32, 3, 16), (48, 6, 8), (16, 5, 8), (64, 4, 16))
"""Inputs, outputs, inputs of a group."""


@cache
def graph(pixels: int) -> Graph:
    return numbered(layers([(pixels, *size) for size in SIZES]))


@pytest.mark.parametrize("pixels", PIXELS)
def test_every_form_is_among_the_cases(pixels: int) -> None:
    found: list[GroupHalvesContext] = contexts_of(graph(pixels), LEVEL, KERNEL, only(KERNEL))
    assert {(k.threes, k.twos) for k in found} == {(pixels > 2, pixels != 3)}
    assert {(k.size, k.apart) for k in found} == {(size, apart) for size in (16, 8) for apart in (False, True)}
    assert {(k.flip, k.left > 0) for k in found} == {("0u", False), ("0x80808080u", False), ("0x80808080u", True)}


@pytest.mark.parametrize("pixels", PIXELS)
def test_they_equal_golden_in_plain_c(pixels: int, tmp_path: Path) -> None:
    check_in_plain_c(graph(pixels), LEVEL, tmp_path, only(KERNEL))


@pytest.mark.parametrize("pixels", PIXELS)
def test_they_equal_golden_on_the_emulated_chip(pixels: int, tmp_path: Path) -> None:
    check_on_the_chip(graph(pixels), CHIP, tmp_path, only(KERNEL))
