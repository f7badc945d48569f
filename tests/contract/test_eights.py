"""Pointwise layers of eight inputs in assembly (runtime_c/isa/dsp/lam_armv7em_eight.h) on the emulated Cortex-M4.

Rows of every length up to two blocks of pixels, in maps of several rows, signed and unsigned; the portable twin is
compared with golden as all other kernels are.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Mode
from codegen.ir.shape import Window
from codegen.kernels import find_form
from codegen.kernels.choose import fastest_first
from codegen.kernels.table import TABLE
from codegen.target import FEATURES
from tests.contract.case import PACKED
from tests.contract.test_bounds import twins_equal_golden
from tests.contract.test_few_panels import layer
from tests.contract.test_panels import PANELS, conv, equals_golden
from tests.support.graphs import Sketch

POINT = (Window(1), Window(1))


def layers(s: Sketch) -> Iterator[str]:
    kinds: tuple[tuple[Mode, DType], ...] = (("single", DType.S8), ("tflite", DType.S8), ("single", DType.U8))
    for width in (*range(6, 14), 23, 24, 25, 48, 49, 50):
        mode, kind = kinds[width % 3]
        x = s.input((1, 3, width, 8), (DType.S8, DType.U8)[width % 2], name=f"w{width}")
        yield conv(s, x, (2, 6, 16)[width % 3], POINT, mode, kind, low=True)
    far = s.input((1, 1, 30, 8), name="far")
    yield conv(s, far, 254, POINT, "tflite", DType.S8, low=True)


def few_layers(s: Sketch) -> Iterator[str]:
    """The same by weights of 4 and 2 bits, with zero points of their own and without."""
    for n, (bits, apart, width) in enumerate(product((4, 2), (False, True), (6, 9, 24, 27))):
        kind = (DType.S8, DType.U8)[n % 2]
        x = s.input((1, 3, width, 8), kind, name=f"f{bits}_{apart}_{width}")
        yield layer(s, x, (2, 6, 16)[n % 3], POINT, "single", kind, apart=apart, bits=bits)


def eights() -> Graph:
    s = Sketch("kernels")
    return s.graph(*layers(s), *few_layers(s))


def test_eights_serve_all_of_them() -> None:
    graph = eights()
    for level in ("armv7em", "armv7em_wide"):
        forms = [find_form(graph.view(node), level, PACKED.table) for node in graph.nodes]
        assert {form.kernel for form in forms if form} == {"dsp_eights"}
        contexts = {(form.context.bits, form.context.own) for form in forms if form}
        assert contexts == {(0, False), *product((4, 2), (False, True))}
        assert all(form.why.count("weights of") == (form.context.bits > 0) for form in forms if form)


def test_what_they_do_not_serve_and_goals_that_take_panels() -> None:
    """Odd channels, outputs to both sides of TFLite's zero point, short rows, other inputs, and large offsets."""
    s = Sketch("kernels")
    x, short, deep = s.input((1, 2, 9, 8)), s.input((1, 2, 3, 8), name="short"), s.input((1, 2, 9, 12), name="deep")
    others = [
        conv(s, x, 5, POINT, "single", DType.S8),
        conv(s, x, 4, POINT, "tflite", DType.S8),
        conv(s, short, 4, POINT, "single", DType.S8),
        conv(s, deep, 4, POINT, "single", DType.S8),
        conv(s, x, 256, POINT, "single", DType.S8),
    ]
    graph = s.graph(*others)
    forms = [find_form(graph.view(node), "armv7em", PANELS.table) for node in graph.nodes]
    assert {form.kernel for form in forms if form} == {"dsp_panels"}
    graph = eights()
    fitting = [[*TABLE.fitting(graph.view(node), FEATURES["armv7em"])] for node in graph.nodes]
    for goal, served in (("size", {"dsp_panels"}), ("memory", {"dsp_panels", "blocked_conv"})):
        assert {fastest_first(forms, None, goal)[0].kernel for forms in fitting} <= served


def test_blocks_of_assembly_equal_golden(tmp_path: Path) -> None:
    equals_golden(eights(), "armv7em", {}, tmp_path, PACKED)


def test_portable_twins_equal_golden(tmp_path: Path) -> None:
    twins_equal_golden(eights(), tmp_path, PACKED)
