"""Kernels with SMLAD on few pixels and weights with a scale per group of inputs equal golden in C and on the chip.

Groups of eight, sixteen and 32 inputs, one smaller at the end, sums that fit 16 bits and such that do not, one pixel
by four outputs, two and three by two, alone and together, outputs that are odd.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from codegen.ir.graph import Graph
from codegen.kernels.dsp.groups import DspGroupsContext
from tests.contract.group_layers import (
    check_in_plain_c,
    check_on_the_chip,
    contexts_of,
    layers,
    numbered,
    of_bytes,
    only,
)

CHIP, LEVEL = "cortex-m4", "armv7em"
CASES = (
    ("dsp_groups", 1),
    ("dsp_group_pairs", 2),
    ("dsp_group_threes", 3),
    ("dsp_group_threes", 5),
    ("dsp_group_threes", 7),
)
"""Kernels, and pixels."""
OPENED = ("dsp_opened", 5)
SIZES = ((128, 8, 32), (84, 7, 32), (72, 5, 16), (56, 6, 8), (96, 4, 48), (140, 3, 64))
"""Inputs, outputs, inputs of a group."""


@cache
def graph(pixels: int, *, are_bytes: bool = False) -> Graph:
    shapes = [(pixels, *size) for size in SIZES]
    return numbered(layers(shapes, of_bytes, ["single"]) if are_bytes else layers(shapes))


@pytest.mark.parametrize(("kernel", "pixels"), CASES)
def test_every_form_of_bytes_is_among_the_cases(kernel: str, pixels: int) -> None:
    found: list[DspGroupsContext] = contexts_of(graph(pixels, are_bytes=True), LEVEL, kernel, only(kernel))
    assert {(k.size, k.apart) for k in found} == {(size, apart) for size in (32, 16, 8) for apart in (False, True)}
    assert all(k.bytes for k in found)
    assert {(k.behind > 0, k.left > 0) for k in found} == {(False, False), (False, True), (True, True)}


@pytest.mark.parametrize(("kernel", "pixels"), CASES)
def test_every_form_is_among_the_cases(kernel: str, pixels: int) -> None:
    found: list[DspGroupsContext] = contexts_of(graph(pixels), LEVEL, kernel, only(kernel))
    assert {(k.pixels, k.threes, k.twos) for k in found} == {(min(pixels, 2), pixels > 2, pixels != 3)}
    assert {(k.size, k.apart) for k in found} == {(size, apart) for size in (32, 16, 8) for apart in (False, True)}
    assert {k.halves for k in found if k.size == 32} == {False, True}
    assert {k.rest > 0 for k in found} == {False, True}
    assert {k.left > 0 for k in found} == {False, True}


@pytest.mark.parametrize("are_bytes", [False, True])
@pytest.mark.parametrize(("kernel", "pixels"), [*CASES, OPENED])
def test_they_equal_golden_in_plain_c(kernel: str, pixels: int, are_bytes: bool, tmp_path: Path) -> None:
    check_in_plain_c(graph(pixels, are_bytes=are_bytes), LEVEL, tmp_path, only(kernel))


@pytest.mark.parametrize("are_bytes", [False, True])
@pytest.mark.parametrize(("kernel", "pixels"), [*CASES, OPENED])
def test_they_equal_golden_on_the_emulated_chip(kernel: str, pixels: int, are_bytes: bool, tmp_path: Path) -> None:
    check_on_the_chip(graph(pixels, are_bytes=are_bytes), CHIP, tmp_path, only(kernel))
