"""Helium's kernel on many pixels and weights with a scale per group of inputs equals golden in C and on the chip.

Groups of one vector and of two, a smaller one at the end, inputs that fill no vector, pixels that are odd, lanes that
groups fill once and more often, outputs that fill no block.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from codegen.ir.graph import Graph
from codegen.ir.quant import MODES, Array, DType
from codegen.kernels import find_form
from codegen.kernels.mve.opened import MveOpenedContext
from codegen.laws import differences, graph_of, make_project
from codegen.ops import Dense
from tests.contract.case import S8, U8, Case
from tests.contract.cases.packed import few, in_groups
from tests.support.emulated import selftest_on
from tests.support.sanitizers import REPORTS
from tests.support.tools import require_tool

CHIP, LEVEL = "cortex-m55", "armv81m_mve"
SHAPES = (
    (6, 128, 8, 32),
    (7, 300, 10, 32),
    (9, 104, 7, 32),
    (13, 144, 4, 16),
    (50, 112, 5, 64),
    (8, 80, 8, 16),
    (7, 60, 9, 32),
)
"""Pixels, inputs, outputs, inputs of a group."""


def ends(n_out: int, n_in: int, block: int) -> Array:
    """The least numbers in half of the groups, the greatest in the others, but for one of each."""
    numbers = np.where(np.arange(n_in) // block % 2, 7, -8) * np.ones((n_out, 1), np.int64)
    numbers[:, ::block] = np.where(numbers[:, ::block] < 0, -7, 6)
    return numbers


@cache
def graph() -> Graph:
    found = [
        in_groups(mode, numbers, block, bits=4, pixels=pixels, dtype=U8 if i % 3 else S8, apart=apart, factors=factors)
        for mode in MODES
        for i, (pixels, n_in, n_out, block) in enumerate(SHAPES)
        for numbers in (few(4, n_out, n_in), ends(n_out, n_in, block))
        for apart, factors in ((False, 1), (True, 0))
    ]
    ranges = ((U8, 0, 255), (S8, -8, 7), (S8, 0, 127))
    limited = [with_outputs(case, *ranges[i % len(ranges)]) for i, case in enumerate(found[:: len(SHAPES)])]
    return graph_of([replace(case, name=f"n{i}_{case.name}") for i, case in enumerate(found + limited)])


def with_outputs(case: Case, y: DType, low: int, high: int) -> Case:
    """The case with outputs of this type and from `low` to `high`."""
    op = case.op
    assert isinstance(op, Dense)
    assert op.requant is not None
    limits = replace(op.requant, zero_point=(y.low + y.high) // 2, low=low, high=high)
    return replace(case, op=replace(op, requant=limits, y_dtype=y))


def contexts() -> list[MveOpenedContext]:
    forms = [find_form(graph().view(node), LEVEL) for node in graph().nodes]
    assert all(form and form.kernel == "mve_opened" for form in forms)
    return [form.context for form in forms if form]


def test_every_form_is_among_the_cases() -> None:
    found = contexts()
    assert {(k.lanes, k.sets > 1) for k in found} == {(8, False), (8, True), (4, False), (4, True)}
    assert {(k.apart, k.chunks, k.rest) for k in found} >= {
        (a, *c) for a in (False, True) for c in ((1, 0), (2, 0), (2, 1))
    }
    assert {(k.last_chunks, k.last_inputs) for k in found} >= {(0, 16), (1, 8), (1, 16), (1, 12), (2, 12)}
    assert {(k.mode, k.each) for k in found} >= {(mode, each) for mode in MODES for each in (False, True)}
    assert {(k.bounds, k.mode) for k in found} >= {(b, mode) for mode in MODES for b in ("S8", "U8", "WITHIN")}
    assert ("WITHIN", "up") in {(k.bounds, k.mode) for k in found}
    assert {k.left for k in found} >= {0, 1, 2, 3}


def test_they_equal_golden_in_plain_c(tmp_path: Path) -> None:
    require_tool("gcc")
    assert differences(graph(), make_project(graph(), tmp_path, LEVEL), "gcc", f"-O1 {REPORTS}") == []


def test_they_equal_golden_on_the_emulated_chip(tmp_path: Path) -> None:
    """Both levels of optimization."""
    ran = [
        selftest_on(CHIP, make_project(graph(), tmp_path / level, LEVEL), opt_level=level) for level in ("-Os", "-O3")
    ]
    assert [done.exit_code for done in ran] == [0, 0]
