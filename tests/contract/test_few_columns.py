"""Columns of single pixels by weights of few bits (runtime_c/isa/dsp/lam_armv7em_few.h) on the emulated Cortex-M4.

Every rest of the groups that a word of weights holds, with zero points of their own and without, columns that are made
whole and a kernel row at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from codegen.ir.graph import Graph
from codegen.ir.quant import DType
from codegen.ir.shape import Window
from codegen.kernels import find_form
from codegen.ops import Conv2D
from tests.contract.cases.packed import few
from tests.contract.test_panels import equals_golden, without
from tests.support.graphs import Sketch, random_array, spread_requant

ONE, SAME = Window(1), Window(3, 1, 1, 1, 1)
COLUMNS = without("dsp_panels", "dsp_window_panels")
PER_WORD = {4: 2, 2: 4}
"""Groups of four weights of so many bits in a word."""


def layers(s: Sketch) -> Iterator[str]:
    """Rows of one pixel, and of three whose columns are made a kernel row at a time, by an even and an odd number."""
    shapes = [(ONE, 4 * groups - groups % 3, 1) for groups in range(1, 14)] + [(ONE, 140, 1), (SAME, 72, 3)]
    for bits, (w, inputs, width), (outputs, apart) in product(PER_WORD, shapes, ((4, False), (5, True))):
        kind = DType.U8 if inputs % 4 else DType.S8
        x = s.input((1, 4, width, inputs), kind, name=f"x{bits}_{inputs}_{width}_{outputs}")
        more = np.arange(outputs, dtype=np.int8).reshape(-1, 1, 1, 1) % 3 * apart
        weights = (few(bits, outputs, 3, w.size, inputs) + more).astype(np.int8)
        held, bias = s.const(weights), s.const(random_array(s.rng, (outputs,), DType.S8).astype(np.int32))
        s.values[held] = replace(s.values[held], type=replace(s.values[held].type, bits=bits, apart=apart))
        requant = spread_requant("single", weights, DType.S8, 3)
        yield s.apply(Conv2D(SAME, w, 1, 129 if kind is DType.U8 else -7, requant, DType.S8, None), x, held, bias)


def columns() -> Graph:
    s = Sketch("kernels")
    return s.graph(*layers(s))


def test_they_are_packed_and_every_rest_is_among_them() -> None:
    graph = columns()
    forms = [find_form(graph.view(node), "armv7em", COLUMNS.table) for node in graph.nodes]
    contexts = [form.context for form in forms if form and form.kernel == "dsp_conv2d"]
    assert len(contexts) == len(forms)
    every = product(PER_WORD, (1,), (False, True), (False, True))
    assert {(k.bits, k.last, k.by_row, k.each_shifted) for k in contexts} == set(every)
    rests = {(bits, rest) for bits, per_word in PER_WORD.items() for rest in range(per_word)}
    assert {(k.bits, k.dots % PER_WORD[k.bits]) for k in contexts} == rests


def test_they_equal_golden(tmp_path: Path) -> None:
    equals_golden(columns(), "armv7em", {}, tmp_path, COLUMNS)


def test_they_equal_golden_in_little_code(tmp_path: Path) -> None:
    equals_golden(columns(), "armv7em", {"LAM_SMALL": "1"}, tmp_path, COLUMNS)
