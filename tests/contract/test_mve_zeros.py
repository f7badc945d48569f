"""Helium's kernels on weights of 4 bits, with own zero points or without, equal golden, in C and on the emulated chip.

Each form, with what it leaves over: chunks of inputs, pixels, channels, rows that are read where they lie, edges.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.quant import MODES
from codegen.kernels import find_form
from codegen.kernels.mve.common import LEAST_SHIFT
from codegen.laws import graph_of as build_graph
from codegen.laws import make_project
from codegen.ops import Conv2D, Dense
from tests.contract.case import S8, U8, Case, t, window
from tests.contract.test_kernels import differences, in_one_mode
from tests.contract.test_x86_kernels import ONE, SAME, conv, in_few, in_own, packing
from tests.support.emulated import selftest_on
from tests.support.sanitizers import GCC_REPORTS
from tests.support.tools import require_tool

CHIP, LEVEL = "cortex-m55", "armv81m_mve"


def cases(*, own: bool = True) -> list[Case]:
    found = [
        case
        for mode in MODES
        for case in (
            # columns: in place and copied, of one to four vectors
            conv(mode, t(S8, 1, 3, 7, 8), ONE, ONE, 12),
            conv(mode, t(S8, 1, 5, 8, 16), ONE, ONE, 9, relu=True),
            conv(mode, t(U8, 1, 4, 9, 27), ONE, ONE, 10, unsigned=True),
            conv(mode, t(S8, 1, 4, 25, 64), ONE, ONE, 21, single_factor=True),
            conv(mode, t(S8, 1, 5, 7, 3), SAME, SAME, 16),
            conv(mode, t(U8, 1, 4, 9, 12), ONE, ONE, 10, single_factor=True),
            conv(mode, t(S8, 1, 5, 8, 1), SAME, SAME, 16, relu=True),
            conv(mode, t(S8, 1, 4, 15, 32), ONE, ONE, 12),
            conv(mode, t(S8, 1, 3, 16, 45), ONE, ONE, 12),
            # pairs: windows, rows where they lie (one vector each, three, several turns), in place
            conv(mode, t(U8, 1, 5, 7, 12), SAME, SAME, 8, unsigned=True, relu=True),
            conv(mode, t(S8, 1, 6, 9, 16), SAME, SAME, 10),
            conv(mode, t(S8, 1, 5, 8, 32), SAME, SAME, 8, relu=True),
            conv(mode, t(S8, 1, 6, 7, 64), window(2, 1, 1, 0, 1), window(2, 1, 1, 0, 1), 8),
            conv(mode, t(S8, 1, 6, 9, 16), window(5, 2, 1, 2, 2), window(7, 1, 1, 3, 3), 5, single_factor=True),
            conv(mode, t(S8, 1, 4, 6, 112), ONE, ONE, 8),
            conv(mode, t(S8, 1, 4, 6, 96), ONE, ONE, 6),
            conv(mode, t(S8, 1, 4, 6, 80), window(1, 2), window(1, 2), 6, unsigned=True),
            # vectors, with a part of one and in turns
            conv(mode, t(S8, 1, 1, 1, 64), ONE, ONE, 12, relu=True),
            conv(mode, t(U8, 1, 1, 1, 75), ONE, ONE, 7),
            conv(mode, t(S8, 1, 1, 1, 32), ONE, ONE, 5, single_factor=True),
            conv(mode, t(S8, 1, 1, 1, 128), ONE, ONE, 30),
            # depthwise
            conv(mode, t(S8, 1, 6, 11, 24), SAME, SAME, 24, depthwise=True),
            conv(mode, t(U8, 1, 7, 9, 9), window(3, 2, 1, 0, 1), window(3, 2, 1, 1, 1), 9, depthwise=True, relu=True),
            conv(mode, t(S8, 1, 7, 8, 6), window(5, 1, 1, 2, 2), window(5, 1, 1, 2, 2), 6, depthwise=True),
            conv(mode, t(S8, 1, 6, 7, 16), SAME, SAME, 16, depthwise=True, single_factor=True, unsigned=True),
        )
    ]
    few = [in_few(case, -8) for case in found]
    if not own:
        return few
    apart = [in_own(case, far=far) for case in few for far in (False, True)]
    return [*apart, *(of_large_factors(case) for case in apart if case.op.requant.mode == "single" and is_whole(case))]


def is_whole(case: Case) -> bool:
    """Whether each output reads all channels."""
    return not isinstance(case.op, Conv2D) or case.op.groups == 1


def of_large_factors(case: Case) -> Case:
    """The case in `single` with factors of 1/4 to 2, for which sums are lifted; most outputs are at an end."""
    assert isinstance(case.op, Conv2D | Dense)
    assert case.op.requant is not None
    shifts = np.resize([LEAST_SHIFT - 1, LEAST_SHIFT - 3, LEAST_SHIFT - 2], len(case.op.requant.shift)).tolist()
    op = replace(case.op, requant=replace(case.op.requant, shift=tuple(shifts)))
    return replace(case, name=f"{case.name}_large", op=op)


def forms_of(graph: Graph) -> list[Form]:
    found = [find_form(graph.view(node), LEVEL) for node in graph.nodes]
    return [form for form in found if form is not None]


def test_every_case_is_packed_and_every_form_is_among_them() -> None:
    graph = build_graph(cases())
    forms = forms_of(graph)
    assert len(forms) == len(graph.nodes)
    assert all(form.context.own for form in forms)
    dense = [form.context for form in forms if form.kernel != "mve_depthwise"]
    assert {k.form for k in dense} == {"columns", "pairs", "vector"}
    assert {k.inputs for k in dense if k.by_tiles} >= {8, 9, 12, 16, 27, 32, 45, 64}
    assert {k.raised for k in dense if k.by_tiles} == {False, True}
    assert {k.rows for k in dense if k.form == "pairs"} >= {1, 2, 3}
    assert {k.turn for k in dense if k.form == "pairs"} >= {1, 3, 4, 6}
    assert {form.context.vectors > 1 for form in forms if form.kernel == "mve_depthwise"} == {False, True}


def test_they_equal_golden_in_plain_c(tmp_path: Path) -> None:
    require_tool("gcc")
    graph = build_graph(cases())
    assert differences(graph, make_project(graph, tmp_path, LEVEL), "gcc", f"-O1 {GCC_REPORTS}") == []


def equal_on_the_chip(given: list[Case], tmp_path: Path) -> bool:
    """Whether the cases equal golden on the emulated chip, in one mode each, for size and for speed."""
    graph = packing(build_graph(in_one_mode(given)))
    ran = [selftest_on(CHIP, make_project(graph, tmp_path / level, LEVEL), opt_level=level) for level in ("-Os", "-O3")]
    return [done.exit_code for done in ran] == [0, 0]


def test_they_equal_golden_on_the_emulated_chip(tmp_path: Path) -> None:
    """Both levels of optimization, which unroll otherwise."""
    assert equal_on_the_chip(cases(), tmp_path)


def test_without_such_zero_points_they_are_packed_and_equal_golden(tmp_path: Path) -> None:
    """In plain C in each mode, and on the emulated chip: as they are, and as if with such, where that takes less."""
    require_tool("gcc")
    graph = packing(build_graph(cases(own=False)))
    forms = forms_of(graph)
    assert len(forms) == len(graph.nodes)
    assert all(form.context.few for form in forms)
    dense = {(form.context.form, form.context.own) for form in forms if form.kernel != "mve_depthwise"}
    assert dense == set(product(("columns", "pairs", "vector"), (False, True)))
    assert differences(graph, make_project(graph, tmp_path / "plain", LEVEL), "gcc", f"-O1 {GCC_REPORTS}") == []
    assert equal_on_the_chip(cases(own=False), tmp_path)
