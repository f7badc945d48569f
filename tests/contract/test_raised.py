"""Layers of small weights have large factors: Helium's kernels raise their weights, and equal golden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.quant import DType, Mode, Quant
from codegen.ir.shape import Window
from codegen.kernels.choose import find_form
from codegen.ops import Conv2D
from tests.contract.test_panels import equals_golden
from tests.support.graphs import Sketch, step_of

S8 = DType.S8
CASES = tuple(product((1, 3, 5), (False, True), ((0, 1), (0, 7), (2, 1), (4, 7)), (0.9, 3.9)))
"""Sizes of windows, whether they are of channels, bits and greatest sizes of weights, and the largest factor."""


def layer(s: Sketch, size: int, own: bool, bits: int, most: int, factor: float, mode: Mode = "single") -> str:
    """A convolution whose weights reach from one more than `most` below zero to `most`."""
    inputs, outputs = (13, 13) if own else (20, 10)
    x = s.input((1, 5, 7, inputs), name=f"x{len(s.nodes)}")
    weights = s.rng.integers(-most - 1, most, (outputs, size, size, 1 if own else inputs), np.int8, endpoint=True)
    weights.flat[0], weights.flat[-1] = -most - 1, most
    factors = np.linspace(factor / 3, factor, outputs).tolist()
    step = step_of(mode, 1.0, factors, Quant(1.0, 3), S8)
    window = Window(size, 1, 1, size // 2, size // 2)
    held = s.const(weights)
    s.values[held] = replace(s.values[held], type=replace(s.values[held].type, bits=bits))
    bias = s.const(s.rng.integers(-40, 40, outputs).astype(np.int32))
    return s.apply(Conv2D(window, window, inputs if own else 1, -7, step, S8, Quant(1.0, 3)), x, held, bias)


def layers(s: Sketch) -> Iterator[str]:
    for size, own, (bits, most), factor in CASES:
        if not (own and size == 1):
            yield layer(s, size, own, bits, most, factor)


def test_each_has_a_kernel_of_helium_and_stays_packed_while_4_bits_have_room() -> None:
    s = Sketch("kernels")
    forms = [find_form(view, "armv81m_mve") for view in map(s.graph(*layers(s)).view, s.nodes)]
    assert {form.kernel for form in forms if form} == {"mve_conv2d", "mve_dense", "mve_depthwise"}
    assert None not in forms
    asked = [case for case in CASES if case[:2] != (1, True)]
    packed = {case: form.context.few for case, form in zip(asked, forms, strict=True) if form}
    assert all(few for (_, _, (bits, _), factor), few in packed.items() if bits == 2 and factor < 1)
    assert all(few for (size, _, (bits, _), _), few in packed.items() if bits and size < 5), "sums are lifted"
    assert packed[5, False, (4, 7), 3.9]
    assert not packed[5, True, (4, 7), 3.9], "windows of several vectors are not lifted: such weights take a byte"
    assert not any(few for (_, _, (bits, _), _), few in packed.items() if not bits)


@pytest.mark.parametrize(("most", "factor"), [(127, 0.9), (7, 40.0)])
def test_weights_without_room_are_not_raised(most: int, factor: float) -> None:
    s = Sketch("kernels")
    graph = s.graph(layer(s, 1, False, 0, most, factor))
    form = find_form(graph.view(graph.nodes[0]), "armv81m_mve")
    assert form is not None
    assert not form.kernel.startswith("mve")


def test_tflites_rounding_has_no_such_form() -> None:
    s = Sketch("kernels")
    graph = s.graph(layer(s, 1, False, 0, 1, 0.9, "tflite"))
    form = find_form(graph.view(graph.nodes[0]), "armv81m_mve")
    assert form is not None
    assert not form.kernel.startswith("mve")


def test_raised_weights_equal_golden(tmp_path: Path) -> None:
    s = Sketch("kernels")
    equals_golden(s.graph(*layers(s)), "armv81m_mve", {}, tmp_path, chip="cortex-m55")
