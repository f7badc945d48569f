"""Panels of assembly (runtime_c/isa/dsp/lam_armv7em_panel.h) on the emulated Cortex-M4.

Every number of groups that a turn can begin with, of pixels and of channels, every mode and type.  Their portable twins
are compared with golden as all other kernels are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Mode, Quant
from codegen.ir.shape import Window
from codegen.kernels import TABLE, find_form
from codegen.ops import Conv2D
from codegen.toolkit import HOUSE, Toolkit
from tests.contract.test_kernels import make_project
from tests.support.emulated import selftest_on
from tests.support.graphs import Sketch, random_array, spread_requant


def without(*kernels: str) -> Toolkit:
    """The house without some kernels, on weights of 8 bits and of 16, that small layers may have instead.

    Weights of few bits are packed, however few they are.
    """
    left = tuple(k for k in TABLE.kernels if k.name.removesuffix("_wide") not in kernels)
    return replace(HOUSE, table=replace(TABLE, kernels=left, unpacking=()))


PANELS = without(
    "blocked_conv", "blocked_depthwise", "dsp_pointwise", "dsp_conv2d", "dsp_winograd", "dsp_winograd_wide"
)


def conv(
    s: Sketch, x: str, outputs: int, window: tuple[Window, Window], mode: Mode, y: DType, low: bool = False
) -> str:
    """A convolution whose channels differ in their factors, the first of which is 0; `low`: none is below zero."""
    kind = s.values[x].type
    weights = random_array(s.rng, (outputs, window[0].size, window[1].size, kind.shape[3]), DType.S8)
    zero_point = y.low if low else 3 + (128 if y is DType.U8 else 0)
    requant = spread_requant(mode, weights, y, zero_point)
    requant = replace(requant, multiplier=(0, *requant.multiplier[1:])) if outputs > 3 else requant
    bias = s.rng.integers(-500, 500, outputs).astype(np.int32)
    op = Conv2D(*window, 1, zero_point if kind.dtype is y else -7, requant, y, Quant(1.0, zero_point))
    return s.apply(op, x, s.const(weights), s.const(bias))


def layers(s: Sketch) -> Iterator[str]:
    one, same = (Window(1), Window(1)), (Window(3, 1, 1, 1, 1), Window(3, 1, 1, 1, 1))
    for groups in range(1, 20):
        x = s.input((1, 1, 5, 4 * groups - groups % 4), name=f"g{groups}")
        yield conv(s, x, 4, one, "tflite", DType.S8, low=groups % 2 == 0)
    for width, outputs in product(range(1, 9), (1, 2, 5)):
        x = s.input((1, 2, width, 6), name=f"w{width}_{outputs}")
        yield conv(s, x, outputs, one, "single", DType.S8)
        yield conv(s, x, outputs, same, "tflite", DType.U8, low=outputs == 2)
    for width in (1, 2, 4, 6):
        deep = s.input((1, 2, width, 30), name=f"deep{width}")
        yield conv(s, deep, 3, same, "tflite", DType.S8)
        wide = s.input((1, 3, width, 3), DType.U8, name=f"u{width}")
        yield conv(s, wide, 4, (Window(3, 2, 1, 1, 1), Window(3, 1, 2, 2, 2)), "single", DType.U8, low=True)
    yield from shared(s, (16, 48))


def shared(s: Sketch, depths: Sequence[int]) -> Iterator[str]:
    """Three pixels that read the same bytes, which are widened once: with and without padding, and at its borders."""
    spans = {"same": Window(3, 1, 1, 1, 1), "long": Window(5, 2, 1, 2, 1), "bare": Window(3)}
    for width, channels, (name, span) in product((5, 8, 11), depths, spans.items()):
        x = s.input((1, 3, width, channels), name=f"{name}{width}_{channels}")
        yield conv(s, x, 3, (Window(2), span), "tflite", DType.S8)
        u = s.input((1, 3, width, channels), DType.U8, name=f"u{name}{width}_{channels}")
        yield conv(s, u, 2, (Window(3, 1, 1, 1, 1), span), "single", DType.U8)


def panels() -> Graph:
    s = Sketch("kernels")
    return s.graph(*layers(s))


def test_panels_serve_all_of_them() -> None:
    graph = panels()
    for level in ("armv7em", "armv7em_wide"):
        forms = [find_form(graph.view(node), level, PANELS.table) for node in graph.nodes]
        assert {form.kernel.removesuffix("_wide") for form in forms if form} == {"dsp_panels", "dsp_window_panels"}
    assert {form.context.rq.form for form in forms if form} >= {"lined", "tflite"}


def equals_golden(
    graph: Graph,
    level: str,
    defined: dict[str, str],
    tmp_path: Path,
    tools: Toolkit = HOUSE,
    chip: str = "cortex-m4",
) -> None:
    """The kernels of a graph named `kernels`, built for an emulated chip, give what golden gives."""
    project = make_project(graph, tmp_path, level, tools)
    done = selftest_on(chip, project, defines=defined, opt_level="-O1", timeout_s=120)
    assert done.exit_code == 0, done.console


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("level", "defined"), [("armv7em", {}), ("armv7em_wide", {"LAM_SMALL": "1"})])
def test_panels_of_assembly_equal_golden(level: str, defined: dict[str, str], tmp_path: Path) -> None:
    equals_golden(panels(), level, defined, tmp_path, PANELS)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("level", "defined"), [("armv7em", {}), ("armv7em_wide", {"LAM_SMALL": "1"})])
def test_large_columns_are_whole_where_there_is_room(level: str, defined: dict[str, str], tmp_path: Path) -> None:
    """Those of `roomier` take more scratch and no kernel row at a time, and give the same."""
    s = Sketch("kernels")
    graph = s.graph(*shared(s, (64, 80)))
    for form in (find_form(graph.view(node), level, PANELS.table) for node in graph.nodes):
        assert form
        assert form.context.by_row
    views = [graph.view(node) for node in graph.nodes]
    pairs = [(form, TABLE.roomier(view, form)) for view in views if (form := find_form(view, level, PANELS.table))]
    assert all(more and not more.context.by_row for _, more in pairs)
    assert all(more and more.scratch_bytes > form.scratch_bytes for form, more in pairs)
    kernels = tuple(replace(kernel, make=kernel.roomier or kernel.make) for kernel in TABLE.kernels)
    equals_golden(graph, level, defined, tmp_path, replace(HOUSE, table=replace(TABLE, kernels=kernels)))


@pytest.mark.parametrize("level", ["armv7em", "armv7em_wide"])
def test_a_column_made_in_registers_takes_no_bytes_beside_it(level: str) -> None:
    """Where no pixel reads padding: functions have no parameter, and scratch no room, for what nothing is put into."""
    s = Sketch("kernels")
    bare, padded = Window(3), Window(3, 1, 1, 1, 1)
    for name, span in (("bare", bare), ("padded", padded)):
        conv(s, s.input((1, 3, 9, 3), name=name), 4, (bare, span), "single", DType.S8)
    graph = s.graph(*(node.outputs[0] for node in s.nodes))
    forms = [find_form(graph.view(node), level, PANELS.table) for node in graph.nodes]
    edges = [sum(part.bytes for part in form.scratch if part.name == "edge") for form in forms if form]
    assert edges == [0, 27]
