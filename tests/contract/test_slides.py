"""Depthwise blocks of assembly (runtime_c/isa/dsp/lam_armv7em_slide.h and _window_slide.h) on the emulated Cortex-M4.

Every number of outputs in a block, with and without padding at either end, every stride, mode and type; windows of
every number of rows and columns that blocks have, weights of 8, 4 and 2 bits.  Their portable twins are compared with
golden as all other kernels are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Mode, Quant
from codegen.ir.shape import Window
from codegen.kernels import find_form
from codegen.kernels.choose import fastest_first
from codegen.kernels.dsp.slides import SLIDES, SMALL_SLIDES
from codegen.kernels.dsp.window_slides import WINDOW_SLIDES
from codegen.kernels.table import TABLE
from codegen.ops import Conv2D
from codegen.target import FEATURES
from codegen.toolkit import HOUSE
from tests.contract.test_panels import equals_golden
from tests.support.graphs import Sketch, step_of

S8, U8 = DType.S8, DType.U8
SAME = Window(3, 1, 1, 1, 1)
ROWS, COLUMNS = range(1, 13), range(1, 9)
"""Windows that blocks of assembly have."""


def depthwise(
    s: Sketch,
    x: str,
    w: Window,
    mode: Mode,
    y: DType,
    low: bool = False,
    *,
    h: Window = SAME,
    bits: int = 0,
    reach: int = 127,
    gain: float = 1.0,
    more: int = 0,
    own: bool = False,
) -> str:
    """Weights up to `reach`, the least of which is 1 less, in `bits` where they are few; factors times `gain`.

    `more` is added to the first channel's bias; `own`: each channel's weights are more by a number of its own.
    """
    kind = s.values[x].type
    channels = kind.shape[3]
    most = (1 << (bits - 1)) - 1 if bits else reach
    weights = s.rng.integers(-most - 1, most, (channels, h.size, w.size, 1), np.int8, endpoint=True)
    weights.flat[0], weights.flat[-1] = -most - 1, most
    if own:
        apart = s.rng.integers(-most, most + 1, channels)
        apart[0] = most + 1
        weights = (weights + apart.reshape(-1, 1, 1, 1)).astype(np.int8)
    zero_point = y.low if low else 3 + (128 if y is U8 else 0)
    factors = (np.linspace(0.5, 1.5, channels) * gain / (most + 1)).tolist()
    scale = float(np.float32(1 / np.sqrt(h.size * w.size)))
    requant = step_of(mode, scale, factors, Quant(1.0, zero_point), y)
    bias = s.rng.integers(-4 * most, 4 * most, channels).astype(np.int32)
    bias[0] += more
    zero = 133 if kind.dtype is U8 else -7
    op = Conv2D(h, w, channels, zero, requant, y, Quant(1.0, zero_point))
    held = s.const(weights)
    s.values[held] = replace(s.values[held], type=replace(s.values[held].type, bits=bits, apart=own))
    return s.apply(op, x, held, s.const(bias))


def layers(s: Sketch) -> Iterator[str]:
    for width in range(1, 15):
        low = width % 2 == 0
        x = s.input((1, 3, width, 5), name=f"w{width}")
        yield depthwise(s, x, SAME, "tflite", S8, low)
        u = s.input((1, 2, width, 3), U8, name=f"u{width}")
        yield depthwise(s, u, Window(3, 2, 1, 1, 1), "single", U8)
        yield depthwise(s, u, SAME, "single", S8, reach=5, gain=3.0)
        if width > 2:
            yield depthwise(s, x, Window(3, 1), "single", S8)
            yield depthwise(s, x, Window(3, 2, 1, 0, 1), "tflite", U8, low)
            yield depthwise(s, x, Window(3, 3, 1, 1, 0), "tflite", S8, low)
    modes: tuple[Mode, ...] = ("tflite", "single")
    for mode in modes:  # no line has room for such a bias
        yield depthwise(s, s.input((1, 3, 7, 5), name=f"large_{mode}"), SAME, mode, S8, low=True, more=1 << 24)
    for width, channels in ((4, 900), (7, 1000), (5, 1024), (2, 4096)):
        far = s.input((1, 2, width, channels), name=f"far{width}")
        yield depthwise(s, far, SAME, "tflite", S8, low=True)
    more = s.input((1, 2, 9, 2), name="more")
    yield depthwise(s, more, Window(3, 1, 1, 2, 1), "tflite", S8)


def windows(s: Sketch) -> Iterator[str]:
    """Every window of 8 bits, a part of them of 4 and of 2, in rows that take blocks of several sizes."""
    turns: Sequence[tuple[Mode, DType, float]] = (
        ("single", S8, 1.0),
        ("tflite", U8, 0.5),
        ("tflite", S8, 0.5),
        ("single", U8, 9.0),
    )
    for n, (rows, columns) in enumerate(product(ROWS, COLUMNS)):
        for bits in (0, 4, 2) if n % 3 == 0 or rows == columns else (0, (4, 2)[n % 2]):
            if rows * columns == 1 or (not bits and rows == columns == 3):
                continue
            mode, kind, gain = turns[(n + bits) % 4]
            x = s.input((1, rows // 2 + 1, 5 + n % 7, 3), (S8, U8)[n % 2], name=f"x{rows}_{columns}_{bits}")
            h, w = (
                Window(rows, 1, 1, rows // 2, rows // 2),
                Window(columns, 1 + n % min(columns, 3), 1, columns // 2, 1),
            )
            reach = 20 if gain > 1 else 127
            low, more = n % 3 == 1, (n // 8 % 2) << 24 if bits else 0  # no line has room for such a bias
            other = (1 << 24) - more
            yield depthwise(s, x, w, mode, kind, low, h=h, bits=bits, reach=reach, gain=gain, more=more)
            if bits:
                yield depthwise(s, x, w, mode, kind, low, h=h, bits=bits, gain=gain / 2, more=other, own=True)


def widths(s: Sketch) -> Iterator[str]:
    """Of the windows that networks have every width of a row, without padding and with, by every bits of weights."""
    for width, size, bits in product(range(1, 13), (3, 5, 7), (0, 4, 2)):
        x = s.input((1, 3, width, 4), name=f"w{width}_{size}_{bits}")
        same, apart = Window(size, 1, 1, size // 2, size // 2), Window(size, 1, 2, size - 1, size - 1)
        if bits or size > 3:
            yield depthwise(s, x, same, "tflite", S8, width % 2 == 0, h=same, bits=bits, gain=0.5)
            yield depthwise(s, x, replace(same, stride=2), "single", S8, h=apart, bits=bits)
            if width >= size:
                yield depthwise(s, x, Window(size, 1), "single", U8, h=same, bits=bits, gain=4.0)


def slides() -> Graph:
    s = Sketch("kernels")
    return s.graph(*layers(s))


def window_slides() -> Graph:
    s = Sketch("kernels")
    return s.graph(*windows(s), *widths(s))


def forms_of(graph: Graph) -> list[Form]:
    return [form for form in (find_form(graph.view(node), "armv7em") for node in graph.nodes) if form]


def test_slides_serve_all_of_them() -> None:
    forms = forms_of(slides())
    assert {form.kernel for form in forms} == {"dsp_slides"}
    assert {form.context.rq.form for form in forms} == {"lined", "low", "tflite", "single", "raised"}
    assert {v.pixels for form in forms for v in form.context.variants} == set(range(1, 7))


def test_window_slides_have_every_window_and_every_number_of_bits() -> None:
    graph = window_slides()
    forms = [WINDOW_SLIDES.fit(graph.view(node), FEATURES["armv7em"]) for node in graph.nodes]
    contexts = [form.context for form in forms if form]
    assert len(contexts) == len(forms)
    assert {(k.blocks.rows, k.blocks.columns) for k in contexts} == set(product(ROWS, COLUMNS)) - {(1, 1)}
    every = {*product((0, 4, 2), ("low", "tflite", "single", "raised")), *product((4, 2), ("lined",))}
    assert {(k.blocks.bits, k.rq.form) for k in contexts} == every
    few = {(k.blocks.bits, k.blocks.own, k.blocks.lined) for k in contexts if k.blocks.bits}
    assert few == set(product((4, 2), (False, True), (False, True)))
    most = {(0, 6), (1, 5), (2, 4), (3, 3), (4, 2)}
    assert {(k.blocks.first, v.pixels) for k in contexts for v in k.variants} >= most


@pytest.mark.parametrize("h", [Window(13), SAME])
def test_what_window_slides_do_not_serve(h: Window) -> None:
    """More rows than pointers fit, more columns than registers, taps that lie apart: blocks of C have them."""
    s = Sketch("kernels")
    x = s.input((1, 14, 20, 3))
    w = SAME if h.size > 3 else Window(9)
    graph = s.graph(depthwise(s, x, w, "single", S8, h=h), depthwise(s, x, Window(3, 1, 2), "single", S8, h=h))
    assert [form.kernel for form in forms_of(graph)] == ["blocked_depthwise"] * 2


def test_slides_of_assembly_equal_golden(tmp_path: Path) -> None:
    equals_golden(slides(), "armv7em", {}, tmp_path)


@pytest.mark.parametrize("source", [windows, widths])
def test_window_slides_of_assembly_equal_golden(source: Callable[[Sketch], Iterator[str]], tmp_path: Path) -> None:
    s = Sketch("kernels")
    graph, tools = s.graph(*source(s)), replace(HOUSE, table=replace(TABLE, kernels=(WINDOW_SLIDES,)))
    equals_golden(graph, "armv7em", {}, tmp_path, tools)


def test_window_slides_are_not_for_goal_size() -> None:
    """Their code is larger than that of blocks of C, which come before them."""
    graph = window_slides()
    views = [graph.view(node) for node in graph.nodes]
    forms = [list(TABLE.fitting(view, FEATURES["armv7em"])) for view in views]
    assert {fastest_first(found, None, "size")[0].kernel for found in forms} == {"blocked_depthwise"}
    faster = [found for found in forms if fastest_first(found, None)[0].kernel == "dsp_window_slides"]
    assert len(faster) > len(forms) // 2


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
