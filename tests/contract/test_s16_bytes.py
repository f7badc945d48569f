"""Layers of 16-bit data by weights of 8 bits, whose products functions make several at a time: equal to golden."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.kernels import find_form
from codegen.kernels.called import Rows
from codegen.laws import differences, graph_of, make_project
from codegen.ops import Conv2D, Dense, make_requant
from codegen.target import load_target
from tests.contract.case import S8, S16, S32, Case, ints, q, t, window
from tests.support.emulated import selftest_on
from tests.support.sanitizers import TRAPS
from tests.support.tools import require_tool

CHIPS = ("cortex-m4", "cortex-m55")
LEVELS = ("armv7em", "armv81m_mve")
FULL = 1 << 9
"""So many weights of 127 by inputs of 16 bits leave 32 bits."""


def dense(outputs: int, inputs: int, *, wide: bool = False, zero: int = 0, pixels: int = 1) -> Case:
    """A layer; `wide`: its sums leave 32 bits."""
    weights = ints(S8, outputs, inputs)
    if wide:
        weights = np.where(weights < 0, -127, 127).astype(np.int8)
    op = Dense(zero, make_requant("single", 1.0, [2.0**-14], q(1.0), S16, wide=wide), S16, None)
    name = f"dense_{outputs}_{inputs}{'_wide' if wide else ''}{'_zero' if zero else ''}_{pixels}"
    return Case(name, op, (t(S16, pixels, inputs), weights, ints(S32, outputs) >> 12))


def conv(name: str, c_out: int, c_in: int, size: int, *, wide: bool = False, zero: int = 0, stride: int = 1) -> Case:
    """A convolution with padding, of a window of so many rows and columns."""
    h = w = window(size, stride, 1, size // 2, size // 2)
    weights = ints(S8, c_out, size, size, c_in)
    if wide:
        weights = np.where(weights < 0, -127, 127).astype(np.int8)
    op = Conv2D(h, w, 1, zero, make_requant("single", 1.0, [2.0**-14], q(1.0), S16, wide=wide), S16, None)
    return Case(name, op, (t(S16, 1, 4, 5, c_in), weights, ints(S32, c_out) >> 12))


def every() -> Iterator[Case]:
    """Outputs and inputs that fill turns and that do not, pads of zero points, strides, sums of 64 bits."""
    for outputs, inputs in ((4, 16), (7, 20), (2, 9), (1, 23), (3, 4), (6, 5)):
        yield dense(outputs, inputs)
    yield dense(5, 18, zero=-300, pixels=3)
    yield dense(3, FULL + 4, wide=True)
    yield dense(2, FULL + 5, wide=True, pixels=2)
    yield dense(3, FULL + 4, wide=True, zero=5)
    yield conv("first", 7, 3, 3)
    yield conv("padded", 8, 8, 3, zero=1234)
    yield conv("strided", 2, 5, 5, stride=2)
    yield conv("wide", 5, FULL // 8, 3, wide=True)
    yield conv("wide_zero", 2, FULL // 8, 3, wide=True, zero=-9)


@cache
def cases() -> Graph:
    return graph_of(list(every()))


@pytest.mark.parametrize("level", LEVELS)
def test_all_but_wide_ones_with_zero_points_have_them(level: str) -> None:
    graph, found = cases(), {}
    for node in graph.nodes:
        form = find_form(graph.view(node), level)
        assert form is not None
        found[node.name] = getattr(form.context, "planes", None)
    plain = {name for name, planes in found.items() if not isinstance(planes, Rows)}
    assert plain == {name for name in found if "wide" in name and "zero" in name}
    rows = [planes for planes in found.values() if isinstance(planes, Rows)]
    assert {span.turn for one in rows if not one.wide for span in one.spans} == {1, 2, 4}
    assert {span.turn for one in rows if one.wide for span in one.spans} == {1, 2}


@pytest.mark.parametrize("level", LEVELS)
def test_c_equals_golden(level: str, tmp_path: Path) -> None:
    require_tool("gcc")
    assert differences(cases(), make_project(cases(), tmp_path, level), "gcc", f"-O1 {TRAPS}") == []


@pytest.mark.parametrize("opt", ["-O0", "-Os", "-O3"])
@pytest.mark.parametrize("chip", CHIPS)
def test_c_equals_golden_on_the_emulated_chip(chip: str, opt: str, tmp_path: Path) -> None:
    project = make_project(cases(), tmp_path, load_target(chip).isa)
    assert selftest_on(chip, project, opt_level=opt).exit_code == 0
