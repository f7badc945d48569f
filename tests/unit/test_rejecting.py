"""What a detector's C does not look at could not have been found: bars against all numbers that outputs may hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codegen.fixedpoint import dequantize_linear
from codegen.float32 import Float32Array, sigmoid
from codegen.float32.detections import SCORES, clip, softmax
from codegen.golden.interface import PortSpec
from codegen.ir.postprocess import Boxes
from codegen.ir.quant import DType, Quant
from codegen.postprocess import parse_postprocess, post_program

QUANTS = ((0.047, -9), (0.2, 40), (0.003, 0))
ANCHORS = [[10, 12]]
ACTIVATIONS: dict[str, Any] = {"clip": clip, "sigmoid": sigmoid, "none": lambda x: x}


def boxes_of(table: dict[str, Any], shapes: list[tuple[int, ...]], quant: Quant | None, **more: Any) -> Boxes:
    dtype = DType.F32 if quant is None else DType.S8
    ports = tuple(PortSpec(f"y{i}", f"y{i}", s, dtype, quant, s, "float32", None) for i, s in enumerate(shapes))
    task = post_program(parse_postprocess(table, "m.toml"), (), ports, **more).task
    assert isinstance(task, Boxes)
    return task


def every(quant: Quant) -> Float32Array:
    return np.asarray(dequantize_linear(np.arange(-128, 128), quant.scale, quant.zero_point), np.float32)


@pytest.mark.parametrize("least", [0, 0.1, 0.25, 0.6, 0.97])
@pytest.mark.parametrize("quant", QUANTS)
@pytest.mark.parametrize(
    ("decode", "shapes", "more"),
    [
        ("fastestdet", [(1, 8, 8, 8)], {}),
        ("yunet", [(1, 64, 2), (1, 64, 1), (1, 64, 4)], {}),
        ("yolov3", [(1, 8, 8, 7)], {"anchors": ANCHORS}),
        ("yolov5", [(1, 20, 7)], {"boxes": "first"}),
        ("yolov8", [(1, 20, 7)], {"boxes": "first"}),
    ],
)
def test_a_bar_is_next_to_the_greatest_number_with_which_nothing_is_found(
    decode: str, shapes: list[tuple[int, ...]], more: dict[str, Any], quant: tuple[float, int], least: float
) -> None:
    held = Quant(float(np.float32(quant[0])), quant[1])
    task = boxes_of({"decode": decode, "size": [64, 64], "least": least, "boxes": "last", **more}, shapes, held)
    real = ACTIVATIONS[task.activation](every(held))
    objects, labels = (real, real) if task.levels[0].objects is None else (real[:, None], real[None, :])
    with np.errstate(all="ignore"):
        scores = np.asarray(SCORES[task.score](objects, labels)).reshape(256, -1)
    passes = (scores > np.float32(least)).any(axis=1)
    first = int(np.argmax([*passes, True])) - 128
    bar = task.levels[0].bar
    if first == -128:
        assert bar is None
    else:
        assert bar in (first - 1, first - 2), "nothing is lost, and hardly a number is looked at for nothing"


@pytest.mark.parametrize("least", [0.1, 0.25, 0.6])
def test_a_bar_of_floats_is_just_below_what_is_found(least: float) -> None:
    made = {
        "fastestdet": (least ** (1 / 0.6), [(1, 8, 8, 8)]),
        "yunet": (least**2, [(1, 64, 2), (1, 64, 1), (1, 64, 4)]),
    }
    for decode, (limit, shapes) in made.items():
        table = {"decode": decode, "size": [64, 64], "least": least, "boxes": "last"}
        bar = boxes_of(table, shapes, None).levels[0].bar
        assert bar is not None
        assert limit * (1 - 1e-3) < bar < limit


def test_without_a_bound_there_is_no_bar() -> None:
    """Of floats that are multiplied as they are, and of scores below zero that count."""
    table = {"decode": "yolov5", "size": [64, 64], "least": 0.3, "boxes": "first"}
    assert boxes_of(table, [(1, 20, 7)], None).levels[0].bar is None
    table = {"decode": "yolov8", "size": [64, 64], "least": -0.3, "boxes": "first"}
    assert boxes_of(table, [(1, 20, 7)], Quant(0.5, 0)).levels[0].bar is None


@pytest.mark.parametrize("background", [True, False])
@pytest.mark.parametrize("least", [0.05, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("quant", [*QUANTS, None])
def test_a_label_that_is_a_gap_below_the_greatest_has_no_share_that_counts(
    quant: tuple[float, int] | None, least: float, background: bool
) -> None:
    held = None if quant is None else Quant(float(np.float32(quant[0])), quant[1])
    table = {"decode": "ssd", "size": [64, 64], "priors": "p.npz", "least": least, "background": background}
    gap = boxes_of(table, [(1, 9, 4), (1, 9, 3)], held, priors=np.ones((9, 4), np.float32)).gap
    assert gap is not None
    rng = np.random.default_rng(3)
    y = rng.integers(-128, 128, (4000, 3)) if held else rng.normal(0, 3, (4000, 3)).astype(np.float32)
    y[:, 2] = y.min()  # the least that a third one may add
    below = y.max(axis=1, keepdims=True) - y >= gap
    real = np.asarray(y if held is None else dequantize_linear(y, held.scale, held.zero_point), np.float32)
    shares = softmax(real)
    assert (shares[below] <= np.float32(least)).all()
    losers = y < y.max(axis=1, keepdims=True)
    near = np.abs(shares - least) < 0.05 * least + (0.0 if held is None else held.scale)
    vain = losers & (shares <= np.float32(least)) & ~near & ~below
    assert vain[:, :2].mean() < 0.01, "what is not found is hardly looked at"
