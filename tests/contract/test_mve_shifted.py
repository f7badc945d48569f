"""Helium's kernels on weights of uint8 less their zero point equal golden, in plain C and on the emulated chip.

They span 256 numbers wherever these lie: bytes and a shift.  Each form, with what it leaves over, as of other weights.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.quant import MODES
from codegen.laws import differences, make_project
from codegen.laws import graph_of as build_graph
from tests.contract.case import S8, U8, Case, t, window
from tests.contract.test_mve_zeros import LEVEL, equal_on_the_chip, forms_of
from tests.contract.test_x86_kernels import ONE, SAME, conv
from tests.support.sanitizers import GCC_REPORTS
from tests.support.tools import require_tool

ZEROS = (1, 77, 127, 203, 0, 255, 129)
"""Zero points of weights; with the first and the last number all weights have one sign."""
FIVE = window(5, 1, 1, 2, 2)


def in_shifted(case: Case, zero: int) -> Case:
    """The case with weights of 0 to 255 less a zero point."""
    shape = np.asarray(case.ins[1]).shape
    weights = np.random.default_rng([zero, *shape]).integers(0, 255, shape, np.int16, endpoint=True)
    weights.flat[0], weights.flat[-1] = 0, 255
    return replace(case, name=f"{case.name}_less{zero}", ins=(case.ins[0], weights - np.int16(zero), *case.ins[2:]))


def cases() -> list[Case]:
    """One zero point each in all modes."""
    found, wide = [], window(3, 2, 1, 0, 1)
    for mode in MODES:
        dense = (
            # columns: of one to four vectors, whole or not, several tiles of even or odd pixels, three rows at a time
            conv(mode, t(U8, 1, 3, 7, 8), ONE, ONE, 12, unsigned=True),
            conv(mode, t(S8, 1, 5, 8, 16), ONE, ONE, 9, relu=True),
            conv(mode, t(U8, 1, 4, 9, 27), ONE, ONE, 10, unsigned=True, relu=True),
            conv(mode, t(U8, 1, 4, 25, 64), ONE, ONE, 21, single_factor=True, unsigned=True),
            conv(mode, t(S8, 1, 2, 21, 47), ONE, ONE, 8),
            conv(mode, t(S8, 1, 5, 7, 3), SAME, SAME, 16),
            conv(mode, t(U8, 1, 7, 9, 3), wide, wide, 8, unsigned=True),
            # pairs: windows, rows where they lie (one vector each, three, several turns), in place, rows of one pixel
            conv(mode, t(U8, 1, 5, 7, 12), SAME, SAME, 8, unsigned=True, relu=True),
            conv(mode, t(S8, 1, 6, 9, 16), SAME, SAME, 10),
            conv(mode, t(S8, 1, 5, 8, 32), SAME, SAME, 8, relu=True),
            conv(mode, t(S8, 1, 6, 7, 64), window(2, 1, 1, 0, 1), window(2, 1, 1, 0, 1), 8),
            conv(mode, t(S8, 1, 6, 9, 16), window(5, 2, 1, 2, 2), window(7, 1, 1, 3, 3), 5, single_factor=True),
            conv(mode, t(S8, 1, 4, 6, 112), ONE, ONE, 8),
            conv(mode, t(U8, 1, 4, 3, 96), ONE, ONE, 6, unsigned=True),
            conv(mode, t(S8, 1, 4, 6, 80), window(1, 2), window(1, 2), 6, unsigned=True),
            conv(mode, t(U8, 1, 5, 1, 128), ONE, ONE, 9, unsigned=True),
            # vectors, with a part of one and in turns
            conv(mode, t(S8, 1, 1, 1, 64), ONE, ONE, 12, relu=True),
            conv(mode, t(U8, 1, 1, 1, 75), ONE, ONE, 7, unsigned=True),
            conv(mode, t(S8, 1, 1, 1, 32), ONE, ONE, 5, single_factor=True),
        )
        windows = (
            conv(mode, t(U8, 1, 6, 11, 24), SAME, SAME, 24, depthwise=True, unsigned=True),
            conv(mode, t(U8, 1, 7, 9, 9), wide, window(3, 2, 1, 1, 1), 9, depthwise=True, unsigned=True, relu=True),
            conv(mode, t(S8, 1, 7, 8, 6), FIVE, FIVE, 6, depthwise=True),
            conv(mode, t(S8, 1, 6, 7, 16), SAME, SAME, 16, depthwise=True, single_factor=True, unsigned=True),
            conv(mode, t(S8, 1, 6, 20, 4), window(3, 1, 1, 1, 1), window(3, 3, 1, 0, 0), 4, depthwise=True),
            conv(mode, t(U8, 1, 9, 7, 13), FIVE, SAME, 13, depthwise=True, unsigned=True),
        )
        found += [in_shifted(*each) for each in zip(dense, cycle(ZEROS), strict=False)]
        found += [in_shifted(*each) for each in zip(windows, (1, 77, 127, 203, 255, 129), strict=True)]
    return found


def test_every_case_has_a_shift_and_every_form_is_among_them() -> None:
    graph = build_graph(cases())
    forms = forms_of(graph)
    assert len(forms) == len(graph.nodes)
    assert {form.kernel for form in forms} == {"mve_dense", "mve_conv2d", "mve_depthwise"}
    assert all(form.context.shifted for form in forms)
    dense = [form.context for form in forms if form.kernel != "mve_depthwise"]
    assert {k.form for k in dense} == {"columns", "pairs", "vector"}
    assert {k.chunks for k in dense if k.form == "columns"} == {1, 2, 3, 4}
    assert {k.in_threes for k in dense} == {False, True}
    assert {k.together for k in dense} == {False, True}
    assert {k.rows for k in dense if k.form == "pairs"} >= {1, 2, 3}
    assert {k.turn for k in dense if k.form == "pairs"} >= {1, 4, 5, 6}
    assert {form.context.vectors > 1 for form in forms if form.kernel == "mve_depthwise"} == {False, True}


@pytest.mark.parametrize(("zero", "kernel"), [(0, "blocked_depthwise"), (1, "mve_depthwise"), (128, "mve_depthwise")])
def test_depthwise_multiplies_by_a_shift_of_a_byte(zero: int, kernel: str) -> None:
    """With a zero point of 0 it is 128, which is none; with one of 128 weights are bytes themselves."""
    whole = conv("tflite", t(U8, 1, 6, 11, 8), SAME, SAME, 8, depthwise=True, unsigned=True)
    graph = build_graph([in_shifted(whole, zero)])
    assert [form.kernel for form in forms_of(graph)] == [kernel]


def test_they_equal_golden_in_plain_c(tmp_path: Path) -> None:
    require_tool("gcc")
    graph = build_graph(cases())
    assert differences(graph, make_project(graph, tmp_path, LEVEL), "gcc", f"-O1 {GCC_REPORTS}") == []


def test_they_equal_golden_on_the_emulated_chip(tmp_path: Path) -> None:
    assert equal_on_the_chip(cases(), tmp_path)
