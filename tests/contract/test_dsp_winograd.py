"""Pairs of outputs from four products in assembly (runtime_c/isa/dsp/lam_armv7em_winograd.h) on the emulated Cortex-M4.

Every number of groups that a turn can begin with, rows of every length up to two blocks and more, both types, every
mode, and a channel without a partner; the portable twin is compared with golden on the host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType, Mode
from codegen.ir.shape import Window
from codegen.kernels import TABLE, choose_kernels, find_form
from codegen.kernels.dsp.winograd import blocks_of
from codegen.kernels.tiles import channel_tile
from codegen.laws import differences, make_project
from codegen.ops import Conv2D
from codegen.passes import simplify
from codegen.pipeline import Options, read_model
from codegen.target import FEATURES, Weights, load_target
from codegen.target.chip import EXPANDED
from codegen.toolkit import HOUSE
from tests.contract.test_kernels import LIBRARIES
from tests.contract.test_panels import conv, equals_golden
from tests.support.graphs import Sketch
from tests.support.shared import shared_dir
from tests.support.tools import require_tool

LEVELS = ("armv7em_winograd", "armv7em_wide")
SAME, BARE = Window(3, 1, 1, 1, 1), Window(3)
NAMES = {"armv7em_winograd": "dsp_winograd", "armv7em_wide": "dsp_winograd_wide"}
OURS = replace(HOUSE, table=replace(TABLE, kernels=tuple(k for k in TABLE.kernels if k.name in NAMES.values())))
BOTH: tuple[Mode, ...] = ("tflite", "single")
KINDS = tuple(
    (x, y, mode) for x, y in ((DType.S8, DType.S8), (DType.U8, DType.U8), (DType.S8, DType.U8)) for mode in BOTH
)


def layers(s: Sketch) -> Iterator[str]:
    kinds = cycle(KINDS)
    for width, across in product(range(4, 16), (SAME, BARE, Window(3, 1, 1, 2, 0))):
        out = width + across.pad_before + across.pad_after - 2
        if out >= 4:
            x, y, mode = next(kinds)
            at = s.input((1, 3, width, 8), x, name=f"w{width}_{across.pad_before}{across.pad_after}")
            yield conv(s, at, (2, 5, 1)[width % 3], (SAME, across), mode, y, low=width % 2 == 0)
    for groups, rows in ((1, 1), (2, 3), (3, 5), (4, 4), (15, 1), (16, 1), (17, 1), (11, 3)):
        x, y, mode = next(kinds)
        at = s.input((1, 6, 10, 4 * groups), x, name=f"g{groups}_{rows}")
        yield conv(s, at, 4, (Window(rows, 1, 1, rows // 2, 0), SAME), mode, y, low=groups % 3 == 0)
    strided = s.input((1, 7, 11, 12), name="strided")
    yield conv(s, strided, 6, (Window(3, 2, 1, 1, 1), SAME), "tflite", DType.S8)
    dilated = s.input((1, 7, 12, 12), name="dilated")
    yield conv(s, dilated, 6, (Window(3, 1, 2, 2, 2), SAME), "tflite", DType.S8, low=True)


def pairs() -> Graph:
    s = Sketch("kernels")
    return s.graph(*layers(s))


def served(view: NodeOf[Conv2D], level: str = LEVELS[0]) -> bool:
    return any(form.kernel in NAMES.values() for form in TABLE.fitting(view, FEATURES[level]))


@pytest.mark.parametrize(("level", "sizes"), [(LEVELS[0], {(2,)}), (LEVELS[1], {(2,), (3,), (3, 2)})])
def test_all_of_them_are_served_in_every_form(level: str, sizes: set[tuple[int, ...]]) -> None:
    graph = pairs()
    forms = [form for node in graph.nodes if (form := find_form(graph.view(node), level, OURS.table))]
    assert len(forms) == len(graph.nodes)
    assert {form.kernel for form in forms} == {NAMES[level]}
    assert {form.context.rq.form for form in forms} == {"lined", "tflite", "single"}
    assert {form.context.rq.saturate for form in forms} == {"s8", "u8"}
    assert {form.context.sizes for form in forms} == sizes


@pytest.mark.parametrize("level", LEVELS)
def test_the_portable_twin_equals_golden(level: str, tmp_path: Path) -> None:
    require_tool("gcc")
    graph = pairs()
    project = make_project(graph, tmp_path, level, OURS)
    assert differences(graph, project, *LIBRARIES["gcc-O0-ubsan"]) == []


@pytest.mark.parametrize(("level", "defined"), [(LEVELS[1], {}), (LEVELS[0], {"LAM_SMALL": "1"})])
def test_the_assembly_equals_golden(level: str, defined: dict[str, str], tmp_path: Path) -> None:
    equals_golden(pairs(), level, defined, tmp_path, OURS)


@pytest.mark.parametrize("width", range(4, 40))
def test_blocks_cover_a_row_and_stay_in_it(width: int) -> None:
    for most in (2, 3):
        blocks = blocks_of(width, most)
        assert {pixel for first, pixels in blocks for pixel in range(first, first + pixels)} == set(range(width))
        assert sum(pixels for _, pixels in blocks) < width + 4
        assert blocks[0][1] == min(pixels for _, pixels in blocks) or blocks[-1][1] < blocks[0][1]


def one(width: int = 8, inputs: int = 16, across: Window = SAME, fill: int | None = None) -> NodeOf[Conv2D]:
    s = Sketch("kernels")
    graph = s.graph(conv(s, s.input((1, 3, width, inputs)), 8, (SAME, across), "single", DType.S8))
    view = graph.view(graph.nodes[0])
    if fill is None:
        return view
    return replace(view, consts=(None, np.full((8, 3, 3, inputs), fill, np.int8), np.zeros(8, np.int32)))


def test_what_is_not_served() -> None:
    """Short rows, other inputs than whole fours, other steps along the row, and chips that have no flash for it."""
    assert served(one())
    assert served(one(), LEVELS[1])
    assert not served(one(), "armv7em")
    assert not served(one(width=3))
    assert not served(one(inputs=18))
    for across in (Window(3, 2, 1, 1, 1), Window(3, 1, 2, 2, 2), Window(5, 1, 1, 2, 2)):
        assert not served(one(across=across))


def test_sums_that_could_leave_32_bits_are_refused() -> None:
    """The first plane begins with twice the bias, in which the input's zero point is: 3, of nine weights."""
    a_row = 127 * (2 * 3 * 3 + 255 + 255 + 3 * 256 + 255)  # of one input, all weights 127
    most = (1 << 31) // (3 * a_row) // 4 * 4
    assert served(one(inputs=most, fill=127))
    assert not served(one(inputs=most + 4, fill=127))
    assert served(one(inputs=most + 4, fill=126))


def test_by_default_layers_have_it_that_save_more_than_they_add() -> None:
    """Two layers of resnet8, of few weights and many pixels; all where weights are expanded, none for other goals."""
    path = shared_dir() / "models" / "mlperf_tiny" / "resnet8_int8.tflite"
    chip = load_target("cortex-m4")
    graph = simplify(read_model(path, Options(target=chip.name), chip))
    for goal, names in (("balanced", ["CONV_2D_1", "CONV_2D_2"]), ("size", []), ("memory", [])):
        forms = choose_kernels(graph, chip, goal=goal)
        found = {graph.nodes[i].name: form for i, form in forms.items() if form.kernel == "dsp_winograd"}
        assert sorted(found) == names
        assert all(
            re.search(r"saves [\d.]+% of the network's cycles for [\d.]+% more flash", f.why) for f in found.values()
        )
    expanded = replace(chip, isa=EXPANDED[chip.isa], weights=Weights(expand=True))
    kernels = [form.kernel for form in choose_kernels(graph, expanded).values()]
    assert kernels.count("dsp_winograd_wide") == 4


def test_parts_of_a_layer_have_its_kernel() -> None:
    """Output channels by themselves, an odd number of them too, as weights that come through a buffer are cut."""
    view = one()
    form = next(f for f in TABLE.fitting(view, FEATURES[LEVELS[0]]) if f.kernel == "dsp_winograd")
    words = [form.refit(channel_tile(view, 0, n)).params[0].size for n in (1, 2, 3)]
    assert words == [3 + 4 * 24, 5 + 4 * 48, 8 + 4 * 72]
