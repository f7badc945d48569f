"""Pairs of outputs from four products in assembly (runtime_c/isa/dsp/lam_armv7em_winograd.h) on the emulated Cortex-M4.

Every number of groups that a turn can begin with, rows of every length up to two blocks and more, both types, every
mode, and a channel without a partner; the portable twin is compared with golden on the host.
"""

from __future__ import annotations

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
from codegen.kernels import TABLE, find_form
from codegen.laws import differences, make_project
from codegen.ops import Conv2D
from codegen.target import FEATURES
from codegen.toolkit import HOUSE
from tests.contract.test_kernels import LIBRARIES
from tests.contract.test_panels import conv, equals_golden
from tests.support.graphs import Sketch
from tests.support.tools import require_tool

LEVEL = "armv7em_winograd"
SAME, BARE = Window(3, 1, 1, 1, 1), Window(3)
OURS = replace(HOUSE, table=replace(TABLE, kernels=tuple(k for k in TABLE.kernels if k.name == "dsp_winograd")))
KINDS: tuple[tuple[DType, DType, Mode], ...] = tuple(
    (x, y, mode)
    for x, y in ((DType.S8, DType.S8), (DType.U8, DType.U8), (DType.S8, DType.U8))
    for mode in ("tflite", "single")
)  # type: ignore[assignment]


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


def view_of(graph: Graph, index: int = 0) -> NodeOf[Conv2D]:
    return graph.view(graph.nodes[index])


def served(view: NodeOf[Conv2D], level: str = LEVEL) -> bool:
    return any(form.kernel == "dsp_winograd" for form in TABLE.fitting(view, FEATURES[level]))


def test_all_of_them_are_served_in_every_form() -> None:
    graph = pairs()
    forms = [find_form(graph.view(node), LEVEL, OURS.table) for node in graph.nodes]
    assert {form.context.rq.form for form in forms if form} == {"lined", "tflite", "single"}
    assert {form.context.rq.saturate for form in forms if form} == {"s8", "u8"}
    assert {form.context.sizes for form in forms if form} == {(2,), (3,), (3, 2)}
    assert all(form is not None for form in forms)


@pytest.mark.parametrize("build", ["gcc-O0-ubsan"])
def test_the_portable_twin_equals_golden(build: str, tmp_path: Path) -> None:
    require_tool("gcc")
    graph = pairs()
    project = make_project(graph, tmp_path, LEVEL, OURS)
    assert differences(graph, project, *LIBRARIES[build]) == []


@pytest.mark.parametrize("defined", [{}, {"LAM_SMALL": "1"}])
def test_the_assembly_equals_golden(defined: dict[str, str], tmp_path: Path) -> None:
    equals_golden(pairs(), LEVEL, defined, tmp_path, OURS)


def one(width: int = 8, inputs: int = 16, across: Window = SAME, fill: int | None = None) -> NodeOf[Conv2D]:
    s = Sketch("kernels")
    s.graph(conv(s, s.input((1, 3, width, inputs)), 8, (SAME, across), "single", DType.S8))
    graph = s.graph(s.nodes[0].outputs[0])
    view = view_of(graph)
    if fill is None:
        return view
    return replace(view, consts=(None, np.full((8, 3, 3, inputs), fill, np.int8), np.zeros(8, np.int32)))


def test_what_is_not_served() -> None:
    """Short rows, other inputs than whole fours, other steps along the row, and chips that have no flash for it."""
    assert served(one())
    assert served(one(), "armv7em_wide")
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
