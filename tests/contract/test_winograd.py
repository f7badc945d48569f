"""Outputs in pairs from four products: every convolution that the kernel serves, whatever its estimate says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array
from codegen.kernels import TABLE, choose_kernels, find_form, leaner
from codegen.kernels.kernel import Fit
from codegen.laws import differences, make_project
from codegen.ops import Conv2D
from codegen.passes import simplify
from codegen.pipeline import Options, compile_file, read_model
from codegen.target import FEATURES, Target, Weights, load_target
from codegen.target.chip import EXPANDED
from codegen.toolkit import HOUSE
from tests.contract.case import S8, U8, Case, requant, t, window
from tests.contract.cases import cases
from tests.contract.test_kernels import LIBRARIES, build_graph, in_one_mode
from tests.support.shared import shared_dir
from tests.support.tools import require_tool

WIDE = ("armv7m_wide", "rv32_wide")
OURS = [kernel for kernel in TABLE.kernels if kernel.name == "blocked_winograd"]
ALWAYS = replace(
    TABLE, kernels=(*(replace(k, make=lambda n, k=k: _unweighed(k.make(n))) for k in OURS), *TABLE.kernels)
)


def _unweighed(fit: Fit | None) -> Fit | None:
    return fit and replace(fit, mix=None)


def served(level: str) -> list[Case]:
    graph = build_graph(cases())
    found = {node.name: find_form(graph.view(node), level, ALWAYS) for node in graph.nodes}
    return [case for case in cases() if (form := found[case.name]) and form.kernel == "blocked_winograd"]


def one(weights: Array, width: int = 8, x=S8) -> NodeOf[Conv2D]:
    """A convolution of three rows and columns."""
    outputs, _, _, inputs = weights.shape
    op = Conv2D(window(3, 1, 1, 1, 1), window(3, 1, 1, 1, 1), 1, 0, requant("single", 1 << 24, 1), S8, None)
    case = Case("", op, (t(x, 1, 3, width, inputs), weights, np.zeros(outputs, np.int32)))
    graph = build_graph([case])
    return graph.view(graph.nodes[0])


def kernels_of(view: NodeOf[Conv2D], level: str = "armv7m_wide") -> set[str]:
    return {form.kernel for form in TABLE.fitting(view, FEATURES[level])}


@pytest.mark.parametrize("level", WIDE)
def test_the_c_of_all_that_is_served_equals_golden(level: str, tmp_path: Path) -> None:
    require_tool("gcc")
    chosen = in_one_mode(served(level))
    assert len({case.name.partition("pairs_")[2] for case in chosen}) > 6
    graph = build_graph(chosen)
    project = make_project(graph, tmp_path, level, replace(HOUSE, table=ALWAYS))
    assert differences(graph, project, *LIBRARIES["gcc-O0-ubsan"]) == []


def test_sums_that_could_leave_32_bits_are_refused() -> None:
    a_row = 127 * (255 + 255 + 3 * 256 + 255)  # of one input, all weights 127: the planes one after another
    most = (1 << 31) // (3 * a_row)
    assert kernels_of(one(np.full((1, 3, 3, most), 127, np.int8))) == {"blocked_winograd", "blocked_conv", "conv2d"}
    assert kernels_of(one(np.full((1, 3, 3, most + 1), 127, np.int8))) == {"blocked_conv", "conv2d"}
    assert kernels_of(one(np.full((1, 3, 3, most + 1), 126, np.int8))) == {"blocked_winograd", "blocked_conv", "conv2d"}


def test_only_neighbours_with_three_columns_in_common_are_served() -> None:
    weights = np.ones((8, 3, 3, 8), np.int8)
    view = one(weights, x=U8)
    assert "blocked_winograd" in kernels_of(view)
    for w in (window(3, 2, 1, 1, 1), window(3, 1, 2, 2, 2), window(4, 1, 1, 1, 1)):
        op = replace(view.op, w=w)
        shape = (8, 3, w.size, 8)
        case = Case("", op, (view.ins[0], np.ones(shape, np.int8), np.zeros(8, np.int32)))
        graph = build_graph([case])
        assert "blocked_winograd" not in kernels_of(graph.view(graph.nodes[0]))
    assert "blocked_winograd" not in kernels_of(one(weights, width=1))
    assert "blocked_winograd" not in kernels_of(view, "armv7em_wide")


def test_memory_that_is_short_takes_the_kernel_of_less_scratch() -> None:
    view = one(np.ones((16, 3, 3, 16), np.int8), 32)
    wide = find_form(view, "armv7m_wide")
    assert wide is not None
    assert wide.kernel == "blocked_winograd"
    graph = build_graph([Case("", view.op, (t(S8, 1, 3, 32, 16), *view.consts[1:]))])
    found = leaner(graph, {0: wide}, load_target("cortex-m3"))
    assert found[0].kernel == "blocked_conv"
    assert found[0].scratch_bytes < wide.scratch_bytes
    assert not leaner(graph, found, load_target("cortex-m3"))


@pytest.mark.parametrize("chip", ["cortex-m3", "rv32imc"])
def test_what_asks_for_speed_gets_it_where_memories_allow(chip: str) -> None:
    """Goal `speed` within a quarter of the parameters; with `expand` each layer that is faster."""
    target = load_target(chip)
    graph = _graph("resnet8", chip)
    assert [_pairs(choose_kernels(graph, target, goal=goal)) for goal in ("size", "memory", "balanced")] == [0, 0, 2]
    fast = choose_kernels(graph, target, goal="speed")
    assert _pairs(fast) == 4
    assert {form.kernel for form in fast.values()} & {"conv2d", "dense"} == set()
    expanded = replace(target, isa=EXPANDED[target.isa], weights=Weights(expand=True))
    assert [_pairs(choose_kernels(graph, expanded, goal=goal)) for goal in ("size", "memory", "balanced")] == [0, 0, 5]
    for size, found in ((128, 4), (96, 0)):
        assert _pairs(choose_kernels(graph, _with_flash(target, size << 10), goal="speed")) == found


@pytest.mark.parametrize("chip", ["cortex-m3", "rv32imc"])
def test_by_default_layers_get_it_that_save_more_than_they_add(chip: str) -> None:
    """The two layers of resnet8 that have few weights and many pixels, which say why."""
    target = load_target(chip)
    graph = _graph("resnet8", chip)
    found = choose_kernels(graph, target)
    pairs = [form for form in found.values() if form.kernel == "blocked_winograd"]
    assert [graph.nodes[i].name for i, form in found.items() if form in pairs] == ["CONV_2D_1", "CONV_2D_2"]
    for form in pairs:
        saved, added = map(float, re.findall(r"([\d.]+)%", form.why))
        assert saved >= 0.75 * added > 0
    weights = sum(form.params_bytes for form in found.values())
    assert weights < 96 << 10, "weights alone have room in the flash that code does not"
    assert _pairs(choose_kernels(graph, _with_flash(target, 112 << 10))) == 2
    assert _pairs(choose_kernels(graph, _with_flash(target, 96 << 10))) == 0
    assert _pairs(choose_kernels(graph, replace(target, weights=Weights(buffer_bytes=4096)))) == 0
    for network in ("kws", "vww", "ad"):
        other = _graph(network, chip)
        assert _pairs(choose_kernels(other, target)) == 0


def _graph(network: str, chip: str) -> Graph:
    model = shared_dir() / "models" / "mlperf_tiny" / f"{network}_int8.tflite"
    return simplify(read_model(model, Options(target=chip), load_target(chip)))


def _with_flash(target: Target, flash: int) -> Target:
    return replace(target, memories=tuple(replace(m, bytes=flash) if m.kind == "flash" else m for m in target.memories))


def _pairs(forms: Mapping[int, Form]) -> int:
    return sum(form.kernel == "blocked_winograd" for form in forms.values())


def test_a_limit_of_memory_is_met_without_the_planes() -> None:
    model = shared_dir() / "models" / "mlperf_tiny" / "resnet8_int8.tflite"
    options = Options(target="cortex-m3", goal="speed", vectors=0)
    least = compile_file(model, replace(options, goal="memory")).plan.arena_bytes
    limited = compile_file(model, replace(options, arena_limit=least))
    assert limited.plan.arena_bytes == least
    assert _pairs(limited.kernels) == 0
    assert _pairs(compile_file(model, replace(options, arena_limit=2 * least)).kernels) == 4
