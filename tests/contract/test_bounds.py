"""Outputs with bounds of their own in blocks of assembly, of panels and depthwise layers, and their portable twins.

The lower bound alone, the upper one alone and both, next to the ends of the type, far from them and at each other; zero
points at the lower bound, where ReLUs have it, inside and outside; outputs of 8 bits with a sign and without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.op import NodeOf
from codegen.ir.quant import DType, Mode
from codegen.ir.shape import Window
from codegen.kernels import find_form
from codegen.kernels.dsp.bounds import in_bytes
from codegen.kernels.dsp.window_slides import WINDOW_SLIDES
from codegen.kernels.fast import fast_requant
from codegen.kernels.table import TABLE
from codegen.kernels.weighted import weighted
from codegen.laws import differences, feeds, make_project, sources_of
from codegen.ops import Conv2D
from codegen.process import check_program
from codegen.toolkit import HOUSE, Toolkit
from tests.contract.test_panels import PANELS, conv, equals_golden
from tests.contract.test_slides import depthwise
from tests.support.graphs import Sketch
from tests.support.sanitizers import GCC_REPORTS

S8, U8 = DType.S8, DType.U8
SAME, POINT = Window(3, 1, 1, 1, 1), Window(1)
BOUNDS: dict[DType, tuple[tuple[int, int], ...]] = {
    S8: (
        *((-127, 127), (-1, 127), (0, 127), (1, 127), (44, 127), (126, 127)),
        *((-128, 126), (-128, -1), (-128, 0), (-128, -127)),
        *((-14, 63), (-127, 126), (-100, 27), (-100, 28), (0, 126), (-3, -3)),
    ),
    U8: (
        (1, 255),
        (127, 255),
        (128, 255),
        (254, 255),
        (0, 254),
        (0, 127),
        (0, 1),
        (3, 200),
        (1, 254),
        (130, 190),
        (9, 9),
    ),
}
TURNS = tuple((kind, bounds) for kind in (S8, U8) for bounds in BOUNDS[kind])
MODES: tuple[Mode, ...] = ("tflite", "single")


def bounded(s: Sketch, name: str, low: int, high: int, zero: int) -> str:
    """The layer that made a value, with other bounds and another zero point."""
    node = s.nodes[-1]
    assert node.outputs == (name,)
    op = node.op
    assert isinstance(op, Conv2D)
    assert op.requant is not None
    s.nodes[-1] = replace(node, op=replace(op, requant=replace(op.requant, zero_point=zero, low=low, high=high)))
    return name


def zeros(kind: DType, low: int, high: int) -> Iterator[int]:
    """Zero points at the lower bound, where a ReLU has it, and at the ends of the type."""
    yield from dict.fromkeys((low, kind.low, (low + high) // 2, kind.high))


def panels(s: Sketch) -> Iterator[str]:
    """Of one, two and three pixels, with a channel that has no partner and without."""
    shapes = cycle(product((1, 2, 4, 5), (1, 2, 5, 6), (POINT, SAME), MODES))
    for n, (kind, (low, high)) in enumerate(TURNS):
        for zero in zeros(kind, low, high):
            width, outputs, window, mode = next(shapes)
            x = s.input((1, 2, width, 7), (S8, kind)[n % 2], name=f"x{len(s.nodes)}")
            yield bounded(s, conv(s, x, outputs, (window, window), mode, kind), low, high, zero)
    for kind, bounds in ((S8, (-14, 63)), (U8, (3, 200))):  # a kernel row at a time
        deep = s.input((1, 3, 5, 64), name=f"deep_{kind.value}")
        yield bounded(s, conv(s, deep, 3, (SAME, SAME), "tflite", kind), *bounds, bounds[0])


def slides(s: Sketch) -> Iterator[str]:
    """Depthwise layers of 3x3; a bias that no line has room for, and large factors."""
    shapes = cycle(product((1, 3, 6, 8), (1, 2), MODES, (0, 1 << 24)))
    for n, (kind, (low, high)) in enumerate(TURNS):
        for zero in zeros(kind, low, high):
            width, stride, mode, more = next(shapes)
            x = s.input((1, 3, width, 5), (S8, U8)[n % 2], name=f"x{len(s.nodes)}")
            w = Window(3, stride, 1, 1, 1)
            yield bounded(s, depthwise(s, x, w, mode, kind, more=more if zero == low else 0), low, high, zero)
    large = s.input((1, 2, 5, 3), name="large")
    yield bounded(s, depthwise(s, large, SAME, "single", S8, reach=5, gain=3.0), -14, 63, 3)


def window_slides(s: Sketch) -> Iterator[str]:
    """Other windows, and weights of few bits."""
    shapes = cycle(product((3, 6), ((5, 5), (2, 4), (3, 7)), MODES, ((0, False), (4, False), (2, True))))
    for n, (kind, (low, high)) in enumerate(TURNS):
        width, (rows, columns), mode, (bits, own) = next(shapes)
        x, h = s.input((1, 3, width, 5), name=f"x{len(s.nodes)}"), Window(rows, 1, 1, 1, 1)
        w = Window(columns, 1, 1, columns // 2, columns // 2)
        made = depthwise(s, x, w, mode, kind, h=h, bits=bits, gain=(0.5, 2.0)[n % 2], own=own)
        yield bounded(s, made, low, high, low + n % 3)


Layers = Callable[[Sketch], Iterator[str]]
EACH: tuple[Layers, ...] = (panels, slides, window_slides)
KERNELS: dict[Layers, set[str]] = {
    panels: {"dsp_panels", "dsp_window_panels"},
    slides: {"dsp_slides"},
    window_slides: {"dsp_window_slides"},
}
ONLY_WINDOWS = replace(HOUSE, table=replace(TABLE, kernels=(WINDOW_SLIDES,)))


def graph_of(layers: Layers) -> Graph:
    s = Sketch("kernels")
    return s.graph(*layers(s))


@pytest.mark.parametrize("layers", EACH)
def test_they_serve_all_bounds(layers: Layers) -> None:
    graph = graph_of(layers)
    tools = ONLY_WINDOWS if layers is window_slides else PANELS
    forms = [find_form(graph.view(node), "armv7em", tools.table) for node in graph.nodes]
    assert {form and form.kernel for form in forms} == KERNELS[layers]
    limits = {"limited"} if layers is panels else {"limited", "floor_s8", "floor_u7", "floor_u8"}
    in_assembly = [form for form in forms if form and not getattr(form.context, "by_row", False)]
    assert {form.context.rq.saturate for form in in_assembly} == limits
    assert len({form.context.rq.form for form in in_assembly}) > 2


@pytest.mark.parametrize("layers", EACH)
def test_outputs_reach_most_bounds(layers: Layers) -> None:
    """A bound that nothing reaches would not be tried."""
    graph = graph_of(layers)
    values: dict[str, set[int]] = {o.value: set() for o in graph.outputs}
    for given in feeds(graph):
        for name, array in run_graph(graph, given).items():
            if name in values:
                values[name] |= {int(array.min()), int(array.max())}
    reached = 0
    for node in graph.nodes:
        assert isinstance(node.op, Conv2D)
        requant = node.op.requant
        assert requant is not None
        reached += {requant.low, requant.high} <= values[node.outputs[0]]
    assert reached >= 0.4 * len(graph.nodes)


@pytest.mark.parametrize(("layers", "level"), [(panels, "armv7em_wide"), *((layers, "armv7em") for layers in EACH)])
def test_blocks_of_assembly_equal_golden(layers: Layers, level: str, tmp_path: Path) -> None:
    equals_golden(graph_of(layers), level, {}, tmp_path, ONLY_WINDOWS if layers is window_slides else PANELS)


def twins_equal_golden(graph: Graph, tmp_path: Path, tools: Toolkit = HOUSE) -> None:
    """What stands for the assembly elsewhere gives what golden gives, under the sanitizers."""
    project = make_project(graph, tmp_path, "armv7em", tools)
    assert differences(graph, project, "gcc", f"-O1 {GCC_REPORTS}") == []
    sources, folders = sources_of(project)
    program = tmp_path / "selftest"
    flags = ("-O0", "-fsanitize=address", *(f"-I{folder}" for folder in folders))
    check_program(["gcc", *flags, *sources, project / "test" / "main.c", "-o", program], timeout_s=120)
    check_program([program], timeout_s=60)


@pytest.mark.parametrize("layers", EACH)
def test_portable_twins_equal_golden(layers: Layers, tmp_path: Path) -> None:
    twins_equal_golden(graph_of(layers), tmp_path, ONLY_WINDOWS if layers is window_slides else PANELS)


@pytest.mark.parametrize(("kind", "low", "high"), [(kind, *bounds) for kind, bounds in TURNS])
@pytest.mark.parametrize("floors", [True, False])
def test_moved_bytes_are_the_bounds(kind: DType, low: int, high: int, floors: bool) -> None:
    """Every byte that the type saturates to, moved back as the C says it, is the output clamped to the bounds."""
    s = Sketch("kernels")
    graph = s.graph(bounded(s, conv(s, s.input((1, 1, 2, 4)), 2, (POINT, POINT), "single", kind), low, high, low))
    node = cast(NodeOf[Conv2D], graph.view(graph.nodes[0]))
    sums = weighted(node)
    assert sums is not None
    found = in_bytes(sums, fast_requant(node.op.requant, sums.reach), floors=floors)
    moved = found.sums.op.requant
    assert moved is not None
    added, again, taken, taken_again = found.limits[0].values.astype("<u4").tobytes()
    assert (added, taken) == (again, taken_again)
    outputs = np.arange(-400, 700)
    least, most = {"floor_s8": (-128, 127), "floor_u7": (0, 127)}.get(found.rq.saturate, (0, 255))
    byte = np.clip(outputs + moved.zero_point - low, least, most) + added
    stop = 127 if found.rq.saturate in ("floor_s8", "floor_u7") else 255
    stored = (np.minimum(byte, stop) - taken).astype(np.uint8)
    expected = np.clip(outputs, low, high).astype(np.uint8)
    assert (stored == expected).all()
