"""What kernels share: bounds of sums, loops of boxes, and one function for layers of equal shape."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.ir.op import Op
from codegen.ir.quant import DType, Quant, Requant
from codegen.ir.shape import Window
from codegen.kernels import kernel_needs, select_kernels
from codegen.kernels.common import end_values, is_wide, requant_takes
from codegen.kernels.move import Loop, box_loops, fill, nest, strides
from codegen.lower import lower
from codegen.ops import (
    Add,
    AveragePool2D,
    Clamp,
    Dequantize,
    GlobalAveragePool,
    Lut,
    Mul,
    Pad,
    Softmax,
    make_requant,
)
from codegen.schedule import schedule
from tests.support.graphs import Sketch

S8 = DType.S8
A, B = Quant(0.5, 3), Quant(0.25, -7)


def requant(multiplier: int, shift: int, mode: str = "single") -> Requant:
    return Requant(mode, 0, -128, 127, (multiplier,), (shift,))  # type: ignore[arg-type]


def test_end_values_bound_every_sum_padding_included() -> None:
    weights = np.array([[3, -2], [1, 1]], np.int8)
    bias = np.array([10, -20], np.int32)
    # channel 0: 3 * (-128 - 5) - 2 * (127 - 5) + 10 = -633;  channel 1: greatest 2 * 122 - 20, least 2 * -133 - 20
    low, high = end_values(weights, bias, 5, S8)
    assert (low, high) == (-633, 3 * 122 + 2 * 133 + 10)


def test_end_values_count_a_padded_tap_as_nothing() -> None:
    low, high = end_values(np.array([[1]], np.int8), np.zeros(1, np.int32), -128, S8)
    assert (low, high) == (0, 255)


@pytest.mark.parametrize(("bias", "wide"), [(2**31 - 1 - 128, False), (2**31 - 128, True)])
def test_an_accumulator_is_wide_from_the_first_sum_that_reaches_2_31(bias: int, wide: bool) -> None:
    assert is_wide(np.array([[1]], np.int8), np.array([bias], np.int64), 0, S8) is wide


@pytest.mark.parametrize(
    ("step", "limit"),
    [
        (requant(1 << 30, 40), 2**31 - 1),
        (requant(1 << 14, 40), 2**47 - 1),
        (requant(1 << 30, -3, "tflite"), 2**31 - 1),
        (requant(1 << 30, 4, "tflite"), (2**31 - 1) >> 4),
        (Requant("ort", 0, -128, 127, scale=(0.1,)), 2**31 - 1),
    ],
)
def test_a_requantization_takes_accumulators_up_to_its_limit(step: Requant, limit: int) -> None:
    assert requant_takes(step, -limit, limit)
    assert not requant_takes(step, 0, limit + 1)


def test_a_box_that_lies_together_is_one_run() -> None:
    shape = (1, 4, 5, 3)
    assert nest(box_loops(shape, strides(shape), strides(shape))) == ((), 60)


def test_neighbouring_axes_join_only_when_both_sides_lie_together() -> None:
    loops = box_loops((4, 5, 3), (15, 3, 1), (30, 3, 1))
    assert nest(loops) == ((Loop(4, 15, 30),), 15)
    assert nest((Loop(5, 3, 3, "position"), Loop(3, 1, 1))) == ((Loop(5, 3, 3, "position"),), 3)
    assert nest((Loop("n", 3, 4), Loop(3, 1, 1))) == ((Loop("n", 3, 4),), 3)


def test_a_fill_of_whole_pixels_is_one_run() -> None:
    made = fill((Loop(4, 6), Loop(6, 1)), dst=12)
    assert (made.dst, made.loops, made.run) == (12, (), 24)


def two_of(first: Op, second: Op, inputs: int = 1) -> Graph:
    sketch = Sketch()
    names = [sketch.input((1, 4, 5, 3), name=f"x{i}") for i in range(2 * inputs)]
    return sketch.graph(sketch.apply(first, *names[:inputs]), sketch.apply(second, *names[inputs:]))


def add(a: Quant, b: Quant, sign: int = 1) -> Add:
    return Add(a, b, A, S8, -128, 127, "single", sign)


def mul(zero_point: int, scale: float) -> Mul:
    return Mul(zero_point, 1, make_requant("single", scale, [1.0], A, S8), S8, A)


def mean(x: Quant, low: int) -> AveragePool2D:
    window = Window(3, 2, 1, 1, 1)
    return AveragePool2D(window, window, False, x, A, S8, low, 127, "single")


@pytest.mark.parametrize(
    ("first", "second", "inputs"),
    [
        (add(A, B), add(B, A, -1), 2),
        (mul(3, 0.01), mul(-8, 0.05), 2),
        (mean(A, -128), mean(B, 5), 1),
        (GlobalAveragePool(A, B, S8, -128, 127, "ort"), GlobalAveragePool(B, A, S8, 0, 9, "ort"), 1),
        (Lut(tuple(range(-128, 128)), S8, A, "a"), Lut(tuple(range(127, -129, -1)), S8, B, "b"), 1),
        (Clamp(-1, 5), Clamp(0, 9), 1),
        (Softmax(A, B, S8, "single"), Softmax(B, A, S8, "single"), 1),
        (Dequantize(A), Dequantize(B), 1),
        (Pad((0, 1, 1, 0), (0, 1, 1, 0), "constant", 3), Pad((0, 1, 1, 0), (0, 1, 1, 0), "constant", 4), 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_layers_of_equal_shape_share_one_function(first: Op, second: Op, inputs: int) -> None:
    graph = two_of(first, second, inputs)
    kernels = select_kernels(graph, "c99")
    program = lower(schedule(graph, kernel_needs(graph, kernels), arena_align=8), kernels)
    assert len(program.functions) == 1
    assert len(program.params) == 2
