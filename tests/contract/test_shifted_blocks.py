"""Weights of uint8 less their zero point in blocks of assembly, on the emulated Cortex-M4, and in the portable twins.

They span 256 numbers wherever these lie.  Panels store bytes and a shift; depthwise blocks of 3x3 have 16 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle, product
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Mode, Quant
from codegen.ir.shape import Window
from codegen.kernels import find_form
from codegen.ops import Conv2D
from tests.contract.test_bounds import bounded, twins_equal_golden
from tests.contract.test_panels import PANELS, equals_golden, without
from tests.support.graphs import Sketch, spread_requant

S8, U8 = DType.S8, DType.U8
SAME, BARE, POINT = Window(3, 1, 1, 1, 1), Window(3), Window(1)
ZEROS = (0, 1, 77, 127, 128, 203, 255)
"""Zero points of weights; with the first and the last one all weights have one sign."""


def layer(
    s: Sketch,
    x: str,
    outputs: int,
    window: tuple[Window, Window],
    zero: int,
    mode: Mode,
    y: DType,
    *,
    own: bool = False,
    low: bool = True,
) -> str:
    """Weights from 0 to 255 less a zero point; `own`: of each channel; `low`: no output is below the zero point."""
    kind = s.values[x].type
    channels = 1 if own else kind.shape[3]
    weights = s.rng.integers(0, 255, (outputs, window[0].size, window[1].size, channels), np.int16, endpoint=True)
    weights.flat[0], weights.flat[-1] = 0, 255
    weights -= np.int16(zero)
    zero_point = y.low if low else 3 + (128 if y is U8 else 0)
    requant = spread_requant(mode, weights, y, zero_point, channels=outputs % 2 == 0)
    bias = s.rng.integers(-500, 500, outputs).astype(np.int32)
    x_zero = 131 if kind.dtype is U8 else -7
    op = Conv2D(*window, outputs if own else 1, x_zero, requant, y, Quant(1.0, zero_point))
    return s.apply(op, x, s.const(weights), s.const(bias))


def named(s: Sketch, shape: tuple[int, ...], kind: DType) -> str:
    return s.input(shape, kind, name=f"x{len(s.nodes)}")


KINDS: tuple[tuple[DType, DType, Mode], ...] = tuple(
    (x, y, mode) for x, y in ((U8, U8), (S8, S8), (U8, S8)) for mode in ("tflite", "single")
)  # type: ignore[assignment]


def panels(s: Sketch) -> Iterator[str]:
    """Every number of pixels and of values that fill a column up, whole columns that are put together, and padding."""
    turns = cycle(product(ZEROS, KINDS))
    for width, depth in product((1, 2, 3, 4, 5, 8), (3, 4, 6, 8, 9, 36)):
        zero, (x, y, mode) = next(turns)
        outputs = (1, 2, 5, 6)[(width + depth) % 4]
        yield layer(s, named(s, (1, 2, width, depth), x), outputs, (POINT, POINT), zero, mode, y, low=depth % 2 == 0)
    for width, depth, window in product((3, 5, 8), (1, 3, 5, 6, 16), (SAME, BARE, Window(3, 2, 1, 0, 1))):
        zero, (x, y, mode) = next(turns)
        yield layer(s, named(s, (1, 3, width, depth), x), 2 + depth % 2, (BARE, window), zero, mode, y)
    for zero in ZEROS:
        yield layer(
            s, named(s, (1, 3, 8, 3), U8), 4, (Window(3, 2, 1, 0, 1), Window(3, 2, 1, 0, 1)), zero, "tflite", U8
        )


def slides(s: Sketch) -> Iterator[str]:
    """Every number of outputs in a block, with and without padding; bounds of their own, and no line for a bias."""
    turns = cycle(product(ZEROS, KINDS))
    for width, stride in product(range(3, 15), (1, 2)):
        zero, (x, y, mode) = next(turns)
        w = Window(3, stride, 1, (width + stride) % 2, 1)
        yield layer(s, named(s, (1, 3, width, 5), x), 5, (SAME, w), zero, mode, y, own=True, low=width % 3 > 0)
    for bounds, kind in product(((4, 127), (-9, 127), (-14, 63)), (S8, U8)):
        zero, (_, _, mode) = next(turns)
        made = layer(s, named(s, (1, 3, 7, 4), kind), 4, (SAME, SAME), zero, mode, S8, own=True)
        yield bounded(s, made, *bounds, bounds[0])


Layers = Callable[[Sketch], Iterator[str]]
KERNELS: dict[Layers, set[str]] = {panels: {"dsp_panels", "dsp_window_panels"}, slides: {"dsp_slides"}}


def graph_of(layers: Layers) -> Graph:
    s = Sketch("kernels")
    return s.graph(*layers(s))


@pytest.mark.parametrize("layers", KERNELS)
def test_they_serve_all_of_them(layers: Layers) -> None:
    graph = graph_of(layers)
    forms = [find_form(graph.view(node), "armv7em", PANELS.table) for node in graph.nodes]
    assert {form and form.kernel for form in forms} == KERNELS[layers]
    assert {form.context.rq.form for form in forms if form} >= {"lined", "tflite"}
    if layers is panels:
        assert all(form and form.context.shifted for form in forms)
        assert {form.context.rq.saturate for form in forms if form} == {"s8", "u8"}
    else:
        assert all(form and form.context.wide for form in forms)
        assert {form.context.limited for form in forms if form} == {False, True}


def test_what_panels_do_not_serve_with_a_shift() -> None:
    """Bounds of their own besides, and columns made one kernel row at a time: products of columns have them."""
    s = Sketch("kernels")
    point = layer(s, named(s, (1, 2, 5, 8), U8), 4, (POINT, POINT), 77, "tflite", U8)
    limited = bounded(s, point, 0, 200, 0)
    deep = layer(s, named(s, (1, 3, 5, 64), U8), 4, (SAME, SAME), 77, "tflite", U8)
    graph = s.graph(limited, deep)
    table = without("blocked_conv").table
    forms = [find_form(graph.view(node), "armv7em", table) for node in graph.nodes]
    assert [form and form.kernel for form in forms] == ["dsp_pointwise", "dsp_conv2d"]


@pytest.mark.parametrize("layers", KERNELS)
def test_blocks_of_assembly_equal_golden(layers: Layers, tmp_path: Path) -> None:
    equals_golden(graph_of(layers), "armv7em", {}, tmp_path, PANELS)


@pytest.mark.parametrize("layers", KERNELS)
def test_portable_twins_equal_golden(layers: Layers, tmp_path: Path) -> None:
    twins_equal_golden(graph_of(layers), tmp_path, PANELS)
