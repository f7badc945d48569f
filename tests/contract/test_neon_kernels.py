"""The kernels for AArch64 equal golden as they run there, with dot products and without, whatever the C was made for.

The shapes are those of test_x86_kernels.py: the same kernels, in another build of their primitives.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.ir.quant import MODES, Mode
from codegen.kernels import find_form
from codegen.kernels.lanes import LANES
from codegen.laws import graph_of as build_graph
from codegen.laws import make_project
from codegen.ops import Conv2D
from tests.contract.case import S8, Case, sums, t, window
from tests.contract.test_kernels import in_one_mode
from tests.contract.test_x86_kernels import SAME, cases, conv, few_cases, fused, own_cases, packing
from tests.support.emulated import selftest_on

CHIPS = ("aarch64", "aarch64-dot")


def least(mode: Mode, weight: int, deep: int, *, depthwise: bool) -> Case:
    """A layer with windows of nothing but -128, times the weight: two products of -128 have no room in 16 bits."""
    groups, inner = (deep, 1) if depthwise else (1, deep)
    weights, bias = np.full((deep, 3, 3, inner), weight, np.int8), sums(deep, 2000)
    wide = window(3, 1, 1, 3, 3)
    op = Conv2D(wide, wide, groups, -128, fused(mode, 9 * inner * 128 * 128, deep, S8, relu=False), S8, None)
    return Case(f"{mode}_least{-weight}_{deep}{'g' if depthwise else ''}", op, (t(S8, 1, 4, 5, deep), weights, bias))


def few(mode: Mode, weights: int, *, depthwise: bool) -> Case:
    """A layer of arbitrary weights none of which is -128."""
    case = conv(mode, t(S8, 1, 6, 7, 24), SAME, SAME, 24, depthwise=depthwise)
    x, given, bias = case.ins
    assert isinstance(given, np.ndarray)
    return Case(f"{case.name}_few{weights}", case.op, (x, np.maximum(given, weights).astype(np.int8), bias))


def ends() -> list[Case]:
    """In one mode each, with -128 among the weights and without."""
    found = [
        case
        for mode in MODES
        for depthwise in (False, True)
        for case in (
            *(least(mode, weight, 20, depthwise=depthwise) for weight in (-128, -127)),
            few(mode, -127, depthwise=depthwise),
        )
    ]
    return in_one_mode(found)


def some_cases() -> list[Case]:
    """Few of the shapes, among them one of each kernel, and the ends."""
    shapes = in_one_mode(cases())
    graph = build_graph(shapes)
    forms = [find_form(graph.view(node), "aarch64") for node in graph.nodes]
    assert len(forms) == len(shapes)
    first = {form.kernel: i for i, form in reversed(list(enumerate(forms))) if form}
    kept = {*range(3, len(shapes), 14), *first.values()}
    return [*(shapes[i] for i in sorted(kept)), *ends()]


def test_cases_reach_every_kernel_with_and_without_the_least_weight() -> None:
    graph = build_graph(some_cases())
    forms = [form for node in graph.nodes if (form := find_form(graph.view(node), "aarch64"))]
    found = {form.kernel for form in forms}
    assert {kernel.name for kernel in LANES if "neon" in kernel.needs} <= found
    for kernel in ("neon_conv", "neon_depthwise"):
        assert {form.context.rq.narrow for form in forms if form.kernel == kernel} == {False, True}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("chip", "made_for"), [("aarch64", "aarch64"), ("aarch64-dot", "host")])
def test_some_run_there(chip: str, made_for: str, tmp_path: Path) -> None:
    assert ran(build_graph(some_cases()), chip, made_for, tmp_path) == 0


@pytest.mark.parametrize("share", [2, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("chip", "made_for"), [("aarch64", "host"), ("aarch64-dot", "aarch64")])
def test_weights_of_4_bits_run_there(chip: str, made_for: str, share: int, tmp_path: Path) -> None:
    graph = build_graph([*in_one_mode(few_cases())[::share], *in_one_mode(own_cases())[1 :: 2 * share]])
    assert ran(packing(graph), chip, made_for, tmp_path) == 0


@pytest.mark.slow
@pytest.mark.parametrize("made_for", ["aarch64", "host"])
@pytest.mark.parametrize("chip", CHIPS)
def test_all_run_there(chip: str, made_for: str, tmp_path: Path) -> None:
    assert ran(build_graph([*in_one_mode(cases()), *ends()]), chip, made_for, tmp_path) == 0


def ran(graph: Graph, chip: str, made_for: str, folder: Path) -> int:
    """The exit code of the self-test, made for one chip and run on another."""
    return selftest_on(chip, make_project(graph, folder, made_for), opt_level="-O1").exit_code
