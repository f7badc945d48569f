"""Panels of assembly on weights of 4 and 2 bits (runtime_c/isa/dsp/lam_armv7em_panel_few.h) on the emulated Cortex-M4.

Beside them dense layers of one pixel, whose inputs are widened where they lie (lam_armv7em_few_direct.h).

Every number of groups that a turn can begin with, of pixels and of channels, every mode and type, whole columns and a
kernel row at a time, with zero points of their own and without, with bounds of their own and without.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Mode, Quant
from codegen.ir.shape import Window
from codegen.kernels import find_form
from codegen.ops import Conv2D
from tests.contract.cases.packed import few
from tests.contract.test_bounds import twins_equal_golden
from tests.contract.test_panels import equals_golden, without
from tests.support.graphs import Sketch, random_array, spread_requant

PANELS = without("blocked_conv", "dsp_pointwise", "dsp_conv2d", "dsp_dense")
ALONE = without("blocked_conv", "dsp_panels", "dsp_dense")
ONE, SAME = Window(1), Window(3, 1, 1, 1, 1)


def layer(
    s: Sketch,
    x: str,
    outputs: int,
    window: tuple[Window, Window],
    mode: Mode,
    y: DType,
    *,
    apart: bool,
    bits: int = 4,
    bounded: bool = False,
) -> str:
    """A convolution by numbers of few bits; `apart`: and a number of each output more; `bounded`: on both sides."""
    kind = s.values[x].type
    more = np.arange(outputs).reshape(-1, 1, 1, 1) % 9 * apart
    weights = (few(bits, outputs, window[0].size, window[1].size, kind.shape[3]) + more).astype(np.int8)
    held, bias = s.const(weights), s.const(random_array(s.rng, (outputs,), DType.S8).astype(np.int32))
    s.values[held] = replace(s.values[held], type=replace(s.values[held].type, bits=bits, apart=apart))
    zero = 3 + (128 if y is DType.U8 else 0)
    requant = spread_requant(mode, weights, y, zero)
    requant = replace(requant, low=zero - 90, high=zero + 60) if bounded else requant
    op = Conv2D(*window, 1, 129 if kind.dtype is DType.U8 else -7, requant, y, Quant(1.0, zero))
    return s.apply(op, x, held, bias)


def layers(s: Sketch, bits: int, bounded: bool) -> Iterator[str]:
    """Groups of a turn; widths and channels; windows of whole columns, put together, dilated, and row by row."""
    made = partial(layer, bits=bits, bounded=bounded)
    for groups, apart in product(range(1, 20), (False, True)):
        x = s.input((1, 1, 5, 4 * groups - groups % 4), name=f"g{groups}_{apart}")
        yield made(s, x, 4, (ONE, ONE), "tflite", DType.S8, apart=apart)
    for width, outputs, apart in product(range(1, 7), (1, 2, 5), (False, True)):
        kind = DType.U8 if outputs == 2 else DType.S8
        x = s.input((1, 2, width, 6), kind, name=f"w{width}_{outputs}_{apart}")
        yield made(s, x, outputs, (ONE, ONE), "single", DType.S8, apart=apart)
        yield made(s, x, outputs, (SAME, SAME), "tflite", DType.U8, apart=apart)
    for width, apart in product((1, 2, 3, 6), (False, True)):
        deep = s.input((1, 3, width, 72), name=f"deep{width}_{apart}")
        yield made(s, deep, 5, (SAME, SAME), "single", DType.S8, apart=apart)
        yield made(s, deep, 2, (SAME, Window(3, 1, 2, 2, 2)), "tflite", DType.U8, apart=apart)


@cache
def panels(bits: int, *, bounded: bool) -> Graph:
    s = Sketch("kernels")
    return s.graph(*layers(s, bits, bounded))


KINDS = pytest.mark.parametrize(("bits", "bounded"), [(4, False), (4, True), (2, False), (2, True)])


@KINDS
def test_panels_serve_all_of_them_in_few_bytes(bits: int, bounded: bool) -> None:
    graph = panels(bits, bounded=bounded)
    forms = [find_form(graph.view(node), "armv7em", PANELS.table) for node in graph.nodes]
    assert {form.kernel for form in forms if form} == {"dsp_panels", "dsp_window_panels"}
    contexts = [form.context for form in forms if form]
    assert all(
        k.bits == bits and f"weights of {bits} bits" in form.why
        for k, form in zip(contexts, forms, strict=True)
        if form
    )
    assert {k.own for k in contexts} == {False, True}
    assert {getattr(k, "by_row", False) for k in contexts} == {False, True}
    assert {k.rq.form for k in contexts} >= {"lined", "tflite"}
    whole = [k for k in contexts if not getattr(k, "by_row", False)]
    assert {k.limited for k in whole} == {bounded}
    for node, k, form in zip(graph.nodes, contexts, forms, strict=True):
        assert form is not None
        (weights,) = (field for field in form.params if field.name == "weights")
        rows = k.kernel_h if getattr(k, "by_row", False) else 0
        words = -(-k.groups * bits // 4)
        assert weights.size <= -(-k.c_out // 2) * (rows * words or 5 + k.own + words), node.name


@pytest.mark.parametrize("level", ["armv7em", "armv7em_wide"])
@KINDS
def test_panels_of_assembly_equal_golden(level: str, bits: int, bounded: bool, tmp_path: Path) -> None:
    """Weights of few bits stay packed where those of bytes are widened."""
    equals_golden(panels(bits, bounded=bounded), level, {}, tmp_path, PANELS)


@pytest.mark.one_in(2)
@KINDS
def test_so_they_do_in_little_code(bits: int, bounded: bool, tmp_path: Path) -> None:
    equals_golden(panels(bits, bounded=bounded), "armv7em", {"LAM_SMALL": "1"}, tmp_path, PANELS)


@pytest.mark.one_in(2)
@KINDS
def test_their_portable_twins_equal_golden(bits: int, bounded: bool, tmp_path: Path) -> None:
    twins_equal_golden(panels(bits, bounded=bounded), tmp_path, PANELS)


@KINDS
def test_outputs_that_are_on_no_line_equal_golden(
    bits: int, bounded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every layer of mode `single` has a line here: without them each has its own form, of both types."""
    module = import_module("codegen.kernels.dsp.panels")  # the package has a function of that name
    monkeypatch.setattr(module, "with_line", lambda sums, rq, last: rq)
    s = Sketch("kernels")
    made = []
    for width, outputs, y, mode, apart in product(
        (1, 2, 3), (2, 3), (DType.S8, DType.U8), ("single", "tflite"), (False, True)
    ):
        x = s.input((1, 1, width, 12), name=f"{mode}{width}_{outputs}_{y.value}_{apart}")
        made.append(layer(s, x, outputs, (ONE, ONE), mode, y, apart=apart, bits=bits, bounded=bounded))
    graph = s.graph(*made)
    forms = [find_form(graph.view(node), "armv7em", PANELS.table) for node in graph.nodes]
    assert {form.context.rq.form for form in forms if form} == {"single", "tflite"}
    equals_golden(graph, "armv7em", {}, tmp_path, PANELS)


@KINDS
def test_outputs_on_a_line_of_both_types_equal_golden(bits: int, bounded: bool, tmp_path: Path) -> None:
    s = Sketch("kernels")
    made = []
    for width, outputs, y, apart in product((1, 2, 3), (2, 3), (DType.S8, DType.U8), (False, True)):
        x = s.input((1, 1, width, 12), name=f"l{width}_{outputs}_{y.value}_{apart}")
        made.append(layer(s, x, outputs, (ONE, ONE), "single", y, apart=apart, bits=bits, bounded=bounded))
    equals_golden(s.graph(*made), "armv7em", {}, tmp_path, PANELS)


BITS = pytest.mark.parametrize("bits", [4, 2])


@cache
def dense(bits: int) -> Graph:
    """Every rest of four channels, of four inputs, and of eights that one turn of the loop takes, signed and not."""
    s = Sketch("kernels")
    made = []
    inputs_of = (3, 4, 8, 11, 12, 14, 24, 25, 30, 32, 47, 52)
    for inputs, outputs, apart in product(inputs_of, (1, 2, 3, 4, 9), (False, True)):
        kind = DType.U8 if inputs // 4 % 2 else DType.S8
        x = s.input((1, 1, 1, inputs), kind, name=f"d{inputs}_{outputs}_{apart}")
        mode: Mode = "single" if apart else "tflite"
        made.append(layer(s, x, outputs, (ONE, ONE), mode, DType.S8, apart=apart, bits=bits, bounded=inputs == 12))
    return s.graph(*made)


@BITS
def test_dense_layers_store_no_channels_that_they_have_not(bits: int) -> None:
    graph = dense(bits)
    for node in graph.nodes:
        view = graph.view(node)
        form = find_form(view, "armv7em", ALONE.table)
        assert form is not None
        assert form.kernel == "dsp_few_dense"
        (weights,) = (field for field in form.params if field.name == "weights")
        outputs, inputs = view.outs[0].shape[-1], view.ins[0].shape[-1]
        assert weights.nbytes == outputs * 4 * -(-inputs * bits // 32)


@pytest.mark.parametrize("defined", [{}, {"LAM_SMALL": "1"}])
@BITS
def test_dense_layers_equal_golden(bits: int, defined: dict[str, str], tmp_path: Path) -> None:
    equals_golden(dense(bits), "armv7em", defined, tmp_path, ALONE)


@pytest.mark.one_in(2)
@BITS
def test_portable_twins_of_dense_layers_equal_golden(bits: int, tmp_path: Path) -> None:
    twins_equal_golden(dense(bits), tmp_path, ALONE)
