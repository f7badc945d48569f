"""Depthwise blocks of assembly (runtime_c/isa/dsp/lam_armv7em_slide.h) on the emulated Cortex-M4.

Every number of outputs in a block, with and without padding at either end, every stride, mode and type.  Their portable
twins are compared with golden as all other kernels are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Mode, Quant
from codegen.ir.shape import Window
from codegen.kernels import find_form
from codegen.kernels.choose import fastest_first
from codegen.kernels.dsp.slides import SLIDES, SMALL_SLIDES
from codegen.kernels.table import TABLE
from codegen.ops import Conv2D
from codegen.target import FEATURES
from codegen.toolkit import HOUSE
from tests.contract.test_panels import equals_golden
from tests.support.graphs import Sketch, random_array, spread_requant


def depthwise(s: Sketch, x: str, window: Window, mode: Mode, y: DType, low: bool = False) -> str:
    kind = s.values[x].type
    channels = kind.shape[3]
    weights = random_array(s.rng, (channels, 3, 3, 1), DType.S8)
    zero_point = y.low if low else 3 + (128 if y is DType.U8 else 0)
    requant = spread_requant(mode, weights, y, zero_point)
    bias = s.rng.integers(-500, 500, channels).astype(np.int32)
    zero = 133 if kind.dtype is DType.U8 else -7
    op = Conv2D(Window(3, window.stride, 1, 1, 1), window, channels, zero, requant, y, Quant(1.0, zero_point))
    return s.apply(op, x, s.const(weights), s.const(bias))


def layers(s: Sketch) -> Iterator[str]:
    for width in range(1, 15):
        low = width % 2 == 0
        x = s.input((1, 3, width, 5), name=f"w{width}")
        yield depthwise(s, x, Window(3, 1, 1, 1, 1), "tflite", DType.S8, low)
        u = s.input((1, 2, width, 3), DType.U8, name=f"u{width}")
        yield depthwise(s, u, Window(3, 2, 1, 1, 1), "single", DType.U8)
        if width > 2:
            yield depthwise(s, x, Window(3, 1), "single", DType.S8)
            yield depthwise(s, x, Window(3, 2, 1, 0, 1), "tflite", DType.U8, low)
            yield depthwise(s, x, Window(3, 3, 1, 1, 0), "tflite", DType.S8)
    far = s.input((1, 2, 4, 900), name="far")
    yield depthwise(s, far, Window(3, 1, 1, 1, 1), "tflite", DType.S8, low=True)
    more = s.input((1, 2, 9, 2), name="more")
    yield depthwise(s, more, Window(3, 1, 1, 2, 1), "tflite", DType.S8)


def slides() -> Graph:
    s = Sketch("kernels")
    return s.graph(*layers(s))


def test_slides_serve_all_of_them() -> None:
    graph = slides()
    forms = [form for form in (find_form(graph.view(node), "armv7em") for node in graph.nodes) if form]
    assert {form.kernel for form in forms} == {"dsp_slides"}
    assert {form.context.rq.form for form in forms} == {"low", "tflite", "single"}
    assert {v.pixels for form in forms for v in form.context.variants} == set(range(1, 7))


def test_slides_of_assembly_equal_golden(tmp_path: Path) -> None:
    equals_golden(slides(), "armv7em", {}, tmp_path)


def test_small_slides_are_smaller_and_for_goal_size_alone() -> None:
    """They come first in the table, which is what goal `size` goes by; at other goals the faster form is chosen."""
    graph, found = slides(), 0
    for view in map(graph.view, graph.nodes):
        small, usual = (kernel.fit(view, FEATURES["armv7em"]) for kernel in (SMALL_SLIDES, SLIDES))
        assert usual is not None
        if small is None:
            continue
        found += 1
        forms = list(TABLE.fitting(view, FEATURES["armv7em"]))
        assert forms[0].kernel == "dsp_small_slides"
        assert {fastest_first(forms, None, goal)[0].kernel for goal in ("speed", "memory")} == {"dsp_slides"}
        assert outputs_of(small) < outputs_of(usual)
    assert found > 15


def outputs_of(form: Form) -> int:
    """Of the blocks that the code has, with one more for the end of each."""
    return sum(1 + variant.pixels for variant in form.context.variants)


def test_small_slides_equal_golden(tmp_path: Path) -> None:
    table = replace(TABLE, kernels=tuple(kernel for kernel in TABLE.kernels if kernel is not SLIDES))
    equals_golden(slides(), "armv7em", {}, tmp_path, replace(HOUSE, table=table))
